/**
 * Testing your own code with vitest: a server in the test's process, the real AWS client, and a single call that ends a
 * visibility timeout. Run it with `npx vitest run`.
 */

import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { startTestServer, type TestServer } from 'oncemq/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

let server: TestServer;
let sqs: SQSClient;

beforeAll(async () => {
  server = await startTestServer();
  sqs = new SQSClient(server.clientConfig);
});

afterAll(async () => {
  sqs.destroy();
  await server.close();
});

test('a job that a worker does not finish goes to the next one', async () => {
  const { QueueUrl } = await sqs.send(
    new CreateQueueCommand({ QueueName: 'jobs', Attributes: { VisibilityTimeout: '30' } }),
  );
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'resize' }));
  const receive = new ReceiveMessageCommand({ QueueUrl });

  expect((await sqs.send(receive)).Messages).toHaveLength(1);
  expect((await sqs.send(receive)).Messages).toBeUndefined();
  await server.clock.advance(30);
  expect((await sqs.send(receive)).Messages).toHaveLength(1);
});
