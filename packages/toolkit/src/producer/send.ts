/**
 * Sends messages unchanged through the caller's own AWS SDK client, to a FIFO queue or a FIFO topic of Amazon or OnceMQ.
 * One message is a SendMessage or Publish; several are batch requests of at most ten messages and a mebibyte each, one
 * after another, because their order becomes the order of the queue.
 *
 * The SDK's clients are peer dependencies, loaded on the first send: code that only checks messages does not need them.
 */

import type { SNSClient } from '@aws-sdk/client-sns';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { messageBytes, messageBytesMax } from '../contract/body-bounds.ts';
import type { Envelope } from '../contract/envelope.ts';
import { deduplicationIdOf } from '../contract/message.ts';
import type { NotedSpan, Telemetry } from '../telemetry/telemetry.ts';

/** A message ready to be sent or kept. Replays resend exactly this. */
export interface ProducerMessage {
  /** The envelope as canonical JSON. */
  readonly body: string;
  readonly groupId: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** A queue (`queueUrl`, with a client for SQS) or a topic (`topicArn`, with a client for SNS). */
export type Destination = QueueDestination | TopicDestination;

export interface QueueDestination extends Sending {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly topicArn?: undefined;
}

export interface TopicDestination extends Sending {
  readonly client: Pick<SNSClient, 'send'>;
  readonly topicArn: string;
  readonly queueUrl?: undefined;
}

interface Sending {
  /** `content`: the body is hashed. `key`: the id is the SHA-256 of the key, where no body is hashed. */
  readonly deduplicateBy?: 'content' | 'key';
  /** Creates a span for each request, and its messages carry the trace; default: no spans. */
  readonly telemetry?: Telemetry;
}

export interface Sent {
  readonly messageId: string;
  /** The original's, if this was a duplicate; absent on standard queues. */
  readonly sequenceNumber: string | undefined;
}

/** Some messages of a batch were not accepted; `sent` has the results of those that were. */
export class SendError extends Error {
  override readonly name: string = 'SendError';
  readonly sent: readonly (Sent | undefined)[];

  constructor(text: string, sent: readonly (Sent | undefined)[]) {
    super(text);
    this.sent = sent;
  }
}

const batchEntriesMax = 10;

export async function sendMessages(
  messages: readonly ProducerMessage[],
  destination: Destination,
): Promise<Sent[]> {
  if (messages.length === 1) return [await sendOne(messages[0] as ProducerMessage, destination)];
  const sent: (Sent | undefined)[] = [];
  for (const batch of batchesOf(messages)) {
    const { answers, failures } = await sendBatch(batch, destination);
    sent.push(...answers);
    // Later messages may belong to the group of a failed one and must not overtake it.
    if (failures.length > 0)
      throw new SendError(failures.map(({ reason }) => reason).join('; '), sent);
  }
  return sent as Sent[];
}

/** The queue's URL or the topic's ARN. */
export function targetOf({ queueUrl, topicArn }: Destination): string {
  return (queueUrl ?? topicArn) as string;
}

function sendOne(message: ProducerMessage, destination: Destination): Promise<Sent> {
  return followed([message], destination, async ([traced = message], span) => {
    const sent = sentOf(await sendSingle(traced, destination));
    span?.setAttribute('messaging.message.id', sent.messageId);
    return sent;
  });
}

async function sendSingle(message: ProducerMessage, destination: Destination): Promise<Accepted> {
  const { body, ...words } = wireWords(message, destination);
  if (destination.topicArn === undefined) {
    const { SendMessageCommand } = await import('@aws-sdk/client-sqs');
    const { queueUrl: QueueUrl, client } = destination;
    return client.send(new SendMessageCommand({ QueueUrl, MessageBody: body, ...words }));
  }
  const { PublishCommand } = await import('@aws-sdk/client-sns');
  const { topicArn: TopicArn, client } = destination;
  return client.send(new PublishCommand({ TopicArn, Message: body, ...words }));
}

/** Why a message of a batch was not accepted. */
export interface EntryFailure {
  /** Of the message in the batch. */
  readonly index: number;
  readonly reason: string;
  /** The message itself is at fault: sending it again cannot succeed. */
  readonly isRefusal: boolean;
}

/** Sends one request. Returns a result or undefined for each message, in order, and the reasons for those not accepted. */
export function sendBatch(
  messages: readonly ProducerMessage[],
  destination: Destination,
): Promise<{ answers: (Sent | undefined)[]; failures: EntryFailure[] }> {
  return followed(messages, destination, async (traced, span) => {
    const { Successful = [], Failed = [] } = await sendMany(traced, destination);
    if (Failed.length > 0) span?.setAttribute('error.type', Failed[0]?.Code ?? 'unknown');
    const answers: (Sent | undefined)[] = messages.map(() => undefined);
    for (const entry of Successful) answers[Number(entry.Id)] = sentOf(entry);
    return { answers, failures: Failed.map(failureOf) };
  });
}

interface Accepted {
  readonly Id?: string | undefined;
  readonly MessageId?: string | undefined;
  readonly SequenceNumber?: string | undefined;
}

interface Refused {
  readonly Id?: string | undefined;
  readonly Code?: string | undefined;
  readonly Message?: string | undefined;
  readonly SenderFault?: boolean | undefined;
}

interface BatchAnswer {
  readonly Successful?: readonly Accepted[] | undefined;
  readonly Failed?: readonly Refused[] | undefined;
}

/** Throttling and missing rights also count as the sender's fault, but pass without the message being changed. */
function failureOf({ Id, Code = 'unknown', Message, SenderFault }: Refused): EntryFailure {
  const canPass = /Throttl|AccessDenied|Authoriz|Kms|KMS/.test(Code);
  const isRefusal = SenderFault === true && !canPass;
  return { index: Number(Id), reason: `${Code}: ${Message}`, isRefusal };
}

async function sendMany(
  messages: readonly ProducerMessage[],
  destination: Destination,
): Promise<BatchAnswer> {
  const entries = messages.map((message, index) => ({
    Id: String(index),
    ...wireWords(message, destination),
  }));
  if (destination.topicArn === undefined) {
    const { SendMessageBatchCommand } = await import('@aws-sdk/client-sqs');
    const { queueUrl: QueueUrl, client } = destination;
    const Entries = entries.map(({ body, ...words }) => ({ MessageBody: body, ...words }));
    return client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
  }
  const { PublishBatchCommand } = await import('@aws-sdk/client-sns');
  const { topicArn: TopicArn, client } = destination;
  const PublishBatchRequestEntries = entries.map(({ body, ...words }) => ({
    Message: body,
    ...words,
  }));
  return client.send(new PublishBatchCommand({ TopicArn, PublishBatchRequestEntries }));
}

function followed<Result>(
  messages: readonly ProducerMessage[],
  destination: Destination,
  send: (messages: readonly ProducerMessage[], span?: NotedSpan) => Promise<Result>,
): Promise<Result> {
  const { telemetry } = destination;
  const target = targetOf(destination);
  return telemetry === undefined ? send(messages) : telemetry.sending({ target, messages }, send);
}

/** Starts a new batch where the next message would exceed a limit of a request. */
export function batchesOf(messages: readonly ProducerMessage[]): ProducerMessage[][] {
  const batches: ProducerMessage[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const message of messages) {
    const size = messageBytes(message.body, message.attributes ?? {});
    const last = batches.at(-1);
    if (last === undefined || last.length === batchEntriesMax || bytes + size > messageBytesMax) {
      batches.push([message]);
      bytes = size;
    } else {
      last.push(message);
      bytes += size;
    }
  }
  return batches;
}

interface WireWords {
  /** SQS says MessageBody where SNS says Message; all else has the same words. */
  readonly body: string;
  readonly MessageGroupId: string;
  readonly MessageDeduplicationId?: string;
  readonly MessageAttributes?: Record<string, { DataType: string; StringValue: string }>;
}

function wireWords(
  { body, groupId, attributes = {} }: ProducerMessage,
  { deduplicateBy }: Destination,
): WireWords {
  return {
    body,
    MessageGroupId: groupId,
    ...(deduplicateBy === 'key'
      ? { MessageDeduplicationId: deduplicationIdOf((JSON.parse(body) as Envelope).dedupe_key) }
      : {}),
    ...(Object.keys(attributes).length === 0
      ? {}
      : { MessageAttributes: textAttributes(attributes) }),
  };
}

function textAttributes(
  attributes: Readonly<Record<string, string>>,
): Record<string, { DataType: string; StringValue: string }> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, StringValue]) => [
      name,
      { DataType: 'String', StringValue },
    ]),
  );
}

function sentOf(answer: Accepted): Sent {
  return { messageId: answer.MessageId ?? '', sequenceNumber: answer.SequenceNumber };
}
