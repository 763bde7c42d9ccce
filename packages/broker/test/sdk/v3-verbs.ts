/**
 * The verbs of the tests with the AWS SDK for JavaScript v3 alone: a server with one queue, send and receive, with the
 * SDK's own types. client-verbs.ts has those for all clients.
 */

import type { TestContext } from 'node:test';
import type {
  Message,
  ReceiveMessageCommandInput,
  SendMessageCommandOutput,
  SQS,
} from '@aws-sdk/client-sqs';
import type { TestServer } from '../../src/testing.ts';
import { atEnd, openServer } from './fixture.ts';
import { v3Client } from './v3-client.ts';

export function openClient(t: TestContext, endpoint: string): SQS {
  const sqs = v3Client(endpoint);
  atEnd(t, () => sqs.destroy());
  return sqs;
}

/** A server with one queue in it. */
export async function openQueue(
  t: TestContext,
  QueueName: string,
  attributes: Record<string, string> = {},
): Promise<{ server: TestServer; sqs: SQS; QueueUrl: string }> {
  const server = await openServer(t);
  const sqs = openClient(t, server.url);
  const fifo = QueueName.endsWith('.fifo') ? { FifoQueue: 'true' } : {};
  const Attributes = { ...fifo, ...attributes };
  const { QueueUrl = '' } = await sqs.createQueue({ QueueName, Attributes });
  return { server, sqs, QueueUrl };
}

/** Sends to a FIFO queue: the body is also the deduplication id, and its part before the dash is the group. */
export function send(
  sqs: SQS,
  QueueUrl: string,
  MessageBody: string,
): Promise<SendMessageCommandOutput> {
  const MessageGroupId = MessageBody.split('-')[0];
  return sqs.sendMessage({
    QueueUrl,
    MessageBody,
    MessageGroupId,
    MessageDeduplicationId: MessageBody,
  });
}

export async function receive(
  sqs: SQS,
  QueueUrl: string,
  input: Omit<ReceiveMessageCommandInput, 'QueueUrl'> = {},
): Promise<Message[]> {
  const { Messages = [] } = await sqs.receiveMessage({
    QueueUrl,
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ['All'],
    ...input,
  });
  return Messages;
}

export function bodies(messages: readonly { Body?: string | undefined }[]): (string | undefined)[] {
  return messages.map(({ Body }) => Body);
}
