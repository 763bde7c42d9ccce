/**
 * Scenes for the console's tests: queues and sends, in the few words that a test needs to set them up.
 */

import type { TestServer } from '../../src/testing.ts';
import { type Answer, fifo, sqs } from './calls.ts';

export async function createFifo(
  server: TestServer,
  name: string,
  attributes: Readonly<Record<string, string>> = {},
): Promise<void> {
  await sqs(server, 'CreateQueue', { QueueName: name, Attributes: { ...fifo, ...attributes } });
}

export interface Sent {
  readonly group?: string;
  readonly id?: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

export function send(
  server: TestServer,
  queue: string,
  body: string,
  { group = 'g', id, attributes = {} }: Sent = {},
): Promise<Answer> {
  const isFifo = queue.endsWith('.fifo');
  return sqs(server, 'SendMessage', {
    QueueUrl: queue,
    MessageBody: body,
    ...(isFifo ? { MessageGroupId: group, MessageDeduplicationId: id } : {}),
    MessageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, StringValue]) => [
        name,
        { DataType: 'String', StringValue },
      ]),
    ),
  });
}

/** Ids of the messages; they stay in flight for as long as asked. */
export async function receive(
  server: TestServer,
  queue: string,
  visibilitySeconds: number,
): Promise<string[]> {
  const { body } = await sqs(server, 'ReceiveMessage', {
    QueueUrl: queue,
    MaxNumberOfMessages: 10,
    VisibilityTimeout: visibilitySeconds,
  });
  return (body.Messages ?? []).map(({ MessageId }: { MessageId: string }) => MessageId);
}

/** Receives one message and deletes it. */
export async function consume(server: TestServer, queue: string): Promise<void> {
  const { body } = await sqs(server, 'ReceiveMessage', { QueueUrl: queue });
  const { ReceiptHandle } = body.Messages[0];
  await sqs(server, 'DeleteMessage', { QueueUrl: queue, ReceiptHandle });
}

/** Many sends in batches, as many requests at once as make it quick. */
export async function sendMany(server: TestServer, queue: string, count: number): Promise<void> {
  const batchSize = 10;
  const atOnce = 20;
  const batch = (first: number): Promise<Answer> =>
    sqs(server, 'SendMessageBatch', {
      QueueUrl: queue,
      Entries: Array.from({ length: Math.min(batchSize, count - first) }, (_, index) => ({
        Id: String(index),
        MessageBody: `{"number":${first + index}}`,
        MessageGroupId: `group-${(first + index) % 5000}`,
      })),
    });
  for (let first = 0; first < count; first += batchSize * atOnce) {
    const firsts = Array.from({ length: atOnce }, (_, index) => first + index * batchSize);
    await Promise.all(firsts.filter((each) => each < count).map(batch));
  }
}
