/**
 * The verbs of the tests that all AWS clients share, in terms of `WireClient`: create, send, receive, delete, and the
 * refusal that a call must meet. Each hides what its callers do not care about.
 */

import assert from 'node:assert/strict';
import type { Message } from '@aws-sdk/client-sqs';
import { CallError, type Input, type WireClient } from './wire-client.ts';

/** The visibility timeout of a queue that sets none, in seconds. */
export const visibility = 30;

export async function createQueue(client: WireClient, QueueName: string): Promise<string> {
  const Attributes = { FifoQueue: 'true' };
  const isFifo = QueueName.endsWith('.fifo');
  const { QueueUrl } = await client.call('CreateQueue', {
    QueueName,
    ...(isFifo ? { Attributes } : {}),
  });
  return QueueUrl ?? '';
}

/** The FIFO queues `jobs.fifo` and `dead.fifo`. */
export async function createWithDeadLetters(
  client: WireClient,
  maxReceiveCount: number,
): Promise<{ QueueUrl: string; arn: string; deadUrl: string; deadArn: string }> {
  const deadUrl = await createQueue(client, 'dead.fifo');
  const { QueueArn: deadArn = '' } = await attributesOf(client, deadUrl);
  const QueueUrl = await createQueue(client, 'jobs.fifo');
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: deadArn, maxReceiveCount });
  await client.call('SetQueueAttributes', { QueueUrl, Attributes: { RedrivePolicy } });
  const { QueueArn: arn = '' } = await attributesOf(client, QueueUrl);
  return { QueueUrl, arn, deadUrl, deadArn };
}

export async function attributesOf(
  client: WireClient,
  QueueUrl: string | undefined,
): Promise<Partial<Record<string, string>>> {
  const { Attributes } = await client.call('GetQueueAttributes', {
    QueueUrl,
    AttributeNames: ['All'],
  });
  return Attributes ?? {};
}

/** Sends one message for each body, in order; on a FIFO queue, the part before the dash is the group. Returns the ids. */
export async function sendAll(
  client: WireClient,
  QueueUrl: string,
  texts: readonly string[],
): Promise<(string | undefined)[]> {
  const ids: (string | undefined)[] = [];
  for (const MessageBody of texts) {
    const fifo = { MessageGroupId: MessageBody.split('-')[0], MessageDeduplicationId: MessageBody };
    const isFifo = QueueUrl.endsWith('.fifo');
    const sent = await client.call('SendMessage', {
      QueueUrl,
      MessageBody,
      ...(isFifo ? fifo : {}),
    });
    ids.push(sent.MessageId);
  }
  return ids;
}

export async function receive(
  client: WireClient,
  input: Input<'ReceiveMessage'>,
): Promise<Message[]> {
  const { Messages } = await client.call('ReceiveMessage', input);
  return Messages ?? [];
}

export async function bodies(
  client: WireClient,
  input: Input<'ReceiveMessage'>,
  MaxNumberOfMessages = 10,
): Promise<(string | undefined)[]> {
  const messages = await receive(client, { MaxNumberOfMessages, ...input });
  return messages.map(({ Body }) => Body);
}

export function remove(
  client: WireClient,
  QueueUrl: string,
  message: Message | undefined,
): Promise<unknown> {
  return client.call('DeleteMessage', { QueueUrl, ReceiptHandle: message?.ReceiptHandle });
}

export async function refused(
  call: Promise<unknown>,
  code: string,
  status: number,
  text: RegExp = /./,
): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof CallError, String(error));
    assert.deepEqual([error.code, error.status], [code, status]);
    assert.match(error.message, text);
    return true;
  });
}

export function nameOf(queueUrl: string): string {
  return queueUrl.slice(queueUrl.lastIndexOf('/') + 1);
}
