/**
 * A received message, as the AWS SDK, sqs-consumer and Lambda represent it, and the envelope in it. A queue subscribed to
 * a topic without raw message delivery gets the body inside an SNS notification, which is unwrapped here.
 */

import { sha256 } from '../contract/canonical.ts';
import type { ContractOptions } from '../contract/contract.ts';
import { type Envelope, readEnvelope } from '../contract/envelope.ts';
import { ContractError } from '../contract/refusals.ts';
import type { InboxEvent } from '../inbox/inbox.ts';

/** As the AWS SDK v3 gives it. */
export interface SqsMessage {
  readonly MessageId?: string | undefined;
  readonly Body?: string | undefined;
  readonly ReceiptHandle?: string | undefined;
  readonly Attributes?: Readonly<Partial<Record<string, string>>> | undefined;
  readonly MessageAttributes?:
    | Readonly<Record<string, { readonly StringValue?: string | undefined }>>
    | undefined;
}

/** As Lambda's event source mapping gives it. */
export interface LambdaRecord {
  readonly messageId: string;
  readonly body: string;
  readonly receiptHandle?: string;
  readonly attributes?: Readonly<Partial<Record<string, string>>>;
  readonly messageAttributes?: Readonly<Record<string, { readonly stringValue?: string }>>;
  readonly eventSourceARN?: string;
}

export interface LambdaEvent {
  readonly Records: readonly LambdaRecord[];
}

/** Lambda's partial batch response (ReportBatchItemFailures): these are delivered again, the others are deleted. */
export interface LambdaAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

export function asSqsMessage(record: LambdaRecord): SqsMessage {
  return {
    MessageId: record.messageId,
    Body: record.body,
    ReceiptHandle: record.receiptHandle,
    Attributes: record.attributes,
    MessageAttributes: Object.fromEntries(
      Object.entries(record.messageAttributes ?? {}).map(([name, { stringValue }]) => [
        name,
        { StringValue: stringValue },
      ]),
    ),
  };
}

/** A message without a group, as on a standard queue, is its own group. */
export function groupOf({ Attributes, MessageId }: SqsMessage): string {
  return Attributes?.['MessageGroupId'] ?? `message ${MessageId}`;
}

/** The envelope in a message, and what an inbox knows it by. Throws a ContractError if the body is not an envelope. */
export function eventOf<Payload>(
  { Body = '', MessageId }: SqsMessage,
  options: ContractOptions,
): { readonly envelope: Envelope<Payload>; readonly event: InboxEvent } {
  // The notification around a body differs with every delivery; the body does not.
  const body = notificationIn(Body)?.message ?? Body;
  const read = readEnvelope(body, options);
  if (!read.ok) throw new ContractError(read, `Message ${MessageId}: `);
  const { event_source: source, dedupe_key: key } = read.envelope;
  const event = { source, key, digest: sha256(body) };
  return { envelope: read.envelope as Envelope<Payload>, event };
}

/** Unwraps an SNS notification: the message, and those of its attributes whose value is a string. */
export function notificationIn(
  body: string,
): { readonly message: string; readonly attributes: Readonly<Record<string, string>> } | undefined {
  if (!body.includes('"Notification"')) return undefined;
  try {
    const { Type, Message, MessageAttributes } = JSON.parse(body) as Record<string, unknown>;
    if (Type !== 'Notification' || typeof Message !== 'string') return undefined;
    return { message: Message, attributes: textsOf(MessageAttributes) };
  } catch {
    return undefined;
  }
}

function textsOf(attributes: unknown): Record<string, string> {
  const pairs = Object.entries((attributes ?? {}) as Record<string, { Value?: unknown } | null>);
  return Object.fromEntries(
    pairs.flatMap(([name, attribute]) =>
      typeof attribute?.Value === 'string' ? [[name, attribute.Value]] : [],
    ),
  );
}
