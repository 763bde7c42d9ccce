/**
 * What `oncemq/testing` offers to tests that expect a message, or none: by events, without receiving and without sleeping.
 */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SQS } from '@aws-sdk/client-sqs';
import { startTestServer } from '../../src/testing.ts';

async function setUp(t: TestContext) {
  const server = await startTestServer({ clock: 'manual' });
  const client = new SQS({ ...server.clientConfig, maxAttempts: 1 });
  t.after(async () => {
    client.destroy();
    await server.close();
  });
  const { QueueUrl } = await client.createQueue({ QueueName: 'orders' });
  const send = (MessageBody: string) => client.sendMessage({ QueueUrl, MessageBody });
  return { server, client, QueueUrl, send };
}

test('a message is found, sent before or after, and stays in the queue', async (t) => {
  const { server, client, QueueUrl, send } = await setUp(t);
  const later = server.waitForMessage('orders', { fits: ({ content }) => content.body === 'b' });
  await send('a');
  assert.equal((await server.waitForMessage('orders')).content.body, 'a');
  const { MessageId } = await send('b');
  assert.equal((await later).messageId, MessageId);
  const { Messages = [] } = await client.receiveMessage({ QueueUrl, MaxNumberOfMessages: 10 });
  assert.equal(Messages.length, 2);
});

test('a message that does not come fails the wait, and says so', async (t) => {
  const { server, send } = await setUp(t);
  await send('a');
  const waiting = server.waitForMessage('orders', { fits: () => false, timeoutMs: 1 });
  await assert.rejects(waiting, /No such message was sent to orders within 1 ms/);
});

test('that no message comes is checked by moving the clock', async (t) => {
  const { server, send } = await setUp(t);
  const before = server.clock.now();
  await server.expectNoMessage('orders', { seconds: 60 });
  assert.equal(server.clock.now(), before + 60_000);
  await send('a');
  await server.expectNoMessage('others');
  await server.expectNoMessage('orders', { fits: ({ content }) => content.body === 'b' });
  await assert.rejects(
    server.expectNoMessage('orders'),
    /orders has a message that was not expected/,
  );
});
