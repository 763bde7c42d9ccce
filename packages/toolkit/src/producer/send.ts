/**
 * Sends messages unchanged through the caller's own AWS SDK client, to Amazon or to OnceMQ. One message is a SendMessage;
 * several are SendMessageBatch requests of at most ten messages and a mebibyte each, one after another, because their
 * order becomes the order of the queue.
 *
 * The SDK is a peer dependency, loaded on the first send: code that only checks messages does not need it.
 */

import type { SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs';
import type { Envelope } from '../contract/envelope.ts';
import { deduplicationIdOf, messageBytes, messageBytesMax } from '../contract/message.ts';
import type { NotedSpan, Telemetry } from '../telemetry/telemetry.ts';

/** A message ready to be sent or kept. Replays resend exactly this. */
export interface ProducerMessage {
  /** The envelope as canonical JSON. */
  readonly body: string;
  readonly groupId: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

export interface Destination {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  /** `content`: the queue hashes the body. `key`: the id is the SHA-256 of the key, for queues that do not hash bodies. */
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
    if (failures.length > 0) throw new SendError(failures.join('; '), sent);
  }
  return sent as Sent[];
}

function sendOne(message: ProducerMessage, destination: Destination): Promise<Sent> {
  return followed([message], destination, async ([traced = message], span) => {
    const { SendMessageCommand } = await import('@aws-sdk/client-sqs');
    const { queueUrl: QueueUrl, client } = destination;
    const answer = await client.send(
      new SendMessageCommand({ QueueUrl, ...wireWords(traced, destination) }),
    );
    const sent = sentOf(answer);
    span?.setAttribute('messaging.message.id', sent.messageId);
    return sent;
  });
}

/** Sends one request. Returns a result or undefined for each message, in order, and the reasons for those not accepted. */
export function sendBatch(
  messages: readonly ProducerMessage[],
  destination: Destination,
): Promise<{ answers: (Sent | undefined)[]; failures: string[] }> {
  return followed(messages, destination, async (traced, span) => {
    const { SendMessageBatchCommand } = await import('@aws-sdk/client-sqs');
    const { queueUrl: QueueUrl, client } = destination;
    const Entries = traced.map((message, index) => ({
      Id: String(index),
      ...wireWords(message, destination),
    }));
    const { Successful = [], Failed = [] } = await client.send(
      new SendMessageBatchCommand({ QueueUrl, Entries }),
    );
    if (Failed.length > 0) span?.setAttribute('error.type', Failed[0]?.Code ?? 'unknown');
    const answers: (Sent | undefined)[] = messages.map(() => undefined);
    for (const entry of Successful) answers[Number(entry.Id)] = sentOf(entry);
    return { answers, failures: Failed.map(({ Code, Message }) => `${Code}: ${Message}`) };
  });
}

function followed<Result>(
  messages: readonly ProducerMessage[],
  { queueUrl, telemetry }: Destination,
  send: (messages: readonly ProducerMessage[], span?: NotedSpan) => Promise<Result>,
): Promise<Result> {
  return telemetry === undefined ? send(messages) : telemetry.sending({ queueUrl, messages }, send);
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

function wireWords(
  { body, groupId, attributes = {} }: ProducerMessage,
  { deduplicateBy }: Destination,
): Omit<SendMessageBatchRequestEntry, 'Id'> {
  return {
    MessageBody: body,
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

function sentOf(answer: {
  readonly MessageId?: string | undefined;
  readonly SequenceNumber?: string | undefined;
}): Sent {
  return { messageId: answer.MessageId ?? '', sequenceNumber: answer.SequenceNumber };
}
