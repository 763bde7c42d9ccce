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
}

/** As Lambda's event source mapping gives it. */
export interface LambdaRecord {
  readonly messageId: string;
  readonly body: string;
  readonly receiptHandle?: string;
  readonly attributes?: Readonly<Partial<Record<string, string>>>;
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
  const read = readEnvelope(unwrapped(Body), namespace);
  if (!read.ok) throw new ContractError(read, `Message ${MessageId}: `);
  return read.envelope as Envelope<Payload>;
}

function unwrapped(body: string): string {
  if (!body.includes('"Notification"')) return body;
  try {
    const { Type, Message } = JSON.parse(body) as Record<string, unknown>;
    return Type === 'Notification' && typeof Message === 'string' ? Message : body;
  } catch {
    return body;
  }
}
