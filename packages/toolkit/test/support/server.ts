/**
 * The setup of tests with the real AWS client: a server in this process whose clock the test moves, and a FIFO queue with
 * content-based deduplication. Client and server end with the test.
 */

import type { TestContext } from 'node:test';
import { SQS } from '@aws-sdk/client-sqs';
import { startTestServer, type TestServer } from 'oncemq/testing';

// Otherwise the SDK warns in each run that v3 will drop support for Node.js 20.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';

export interface OpenQueue {
  readonly server: TestServer;
  readonly client: SQS;
  readonly queueUrl: string;
}

export async function openQueue(
  t: TestContext,
  attributes: Readonly<Record<string, string>> = {},
): Promise<OpenQueue> {
  const server = await startTestServer({ clock: 'manual' });
  const client = new SQS({ ...server.clientConfig, maxAttempts: 1 });
  t.after(async () => {
    client.destroy();
    await server.close();
  });
  return { server, client, queueUrl: await createQueue(client, 'events.fifo', attributes) };
}

export async function createQueue(
  client: SQS,
  name: string,
  attributes: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { QueueUrl } = await client.createQueue({
    QueueName: name,
    Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true', ...attributes },
  });
  return QueueUrl as string;
}

/** Receives and deletes all messages; returns their bodies in order. */
export async function drain({ client, queueUrl }: OpenQueue): Promise<string[]> {
  const bodies: string[] = [];
  for (;;) {
    const { Messages = [] } = await client.receiveMessage({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: 10,
    });
    if (Messages.length === 0) return bodies;
    for (const { Body = '', ReceiptHandle } of Messages) {
      bodies.push(Body);
      await client.deleteMessage({ QueueUrl: queueUrl, ReceiptHandle });
    }
  }
}
