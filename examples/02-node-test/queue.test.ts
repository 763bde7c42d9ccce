/**
 * Testing your own code with node:test: a server in the test's process, the real AWS client, and a single call that lets
 * five minutes pass. Run it with `node --test`.
 */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { GetQueueUrlCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { startTestServer, type TestServer } from 'oncemq/testing';

let server: TestServer;
let sqs: SQSClient;

before(async () => {
  server = await startTestServer({ queues: ['payments.fifo'] });
  sqs = new SQSClient(server.clientConfig);
});

after(async () => {
  sqs.destroy();
  await server.close();
});

test('a payment that is sent again after the window is delivered again', async () => {
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: 'payments.fifo' }));
  const payment = new SendMessageCommand({
    QueueUrl,
    MessageBody: '{"amount":42}',
    MessageGroupId: 'account-1',
    MessageDeduplicationId: 'payment-1',
  });
  const first = await sqs.send(payment);
  await server.clock.advance(299);
  assert.equal((await sqs.send(payment)).MessageId, first.MessageId);
  await server.clock.advance(1);
  assert.notEqual((await sqs.send(payment)).MessageId, first.MessageId);

  const types = server.events.map(({ type }) => type);
  assert.deepEqual(types, ['sent', 'duplicate', 'sent']);
});
