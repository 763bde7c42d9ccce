/**
 * A received message, as the AWS SDK, sqs-consumer and Lambda spell it, and the envelope in it. A queue that is
 * subscribed to a topic without raw delivery gets the topic's own wrapping around the body, which is taken off.
 */

import { type Envelope, readEnvelope } from '../contract/envelope.ts';
import { ContractError } from '../contract/refusals.ts';

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

/** What Lambda takes with ReportBatchItemFailures: these come again, the others are deleted. */
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

/** Messages without a group, those of standard queues, are each a group of their own. */
export function groupOf({ Attributes, MessageId }: SqsMessage): string {
  return Attributes?.['MessageGroupId'] ?? `message ${MessageId}`;
}

/** Throws a ContractError when there is none. */
export function envelopeOf<Payload>(
  { Body = '', MessageId }: SqsMessage,
  namespace: string | undefined,
): Envelope<Payload> {
  const read = readEnvelope(notificationIn(Body)?.message ?? Body, namespace);
  if (!read.ok) throw new ContractError(read, `Message ${MessageId}: `);
  return read.envelope as Envelope<Payload>;
}

/** What a topic has wrapped: the message, and its attributes that are texts. */
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
