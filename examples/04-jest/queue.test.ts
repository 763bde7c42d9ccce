/**
 * Testing your own code with jest: a server in the test's process and the real AWS client. The package is an ES module,
 * which jest only loads with a Node flag, and jest alone does not read TypeScript, so it gets the compiled file. After
 * `npm run build`, at the root of the repository:
 *
 *     node --experimental-vm-modules node_modules/jest/bin/jest.js --rootDir .build/examples/04-jest
 */

import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestServer, type TestServer } from 'oncemq/testing';

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

test('messages of a group come out in the order in which they were sent', async () => {
  const { QueueUrl } = await sqs.send(
    new CreateQueueCommand({
      QueueName: 'steps.fifo',
      Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
    }),
  );
  const bodies = ['one', 'two', 'three'];
  const Entries = bodies.map((MessageBody, index) => ({
    Id: String(index),
    MessageBody,
    MessageGroupId: 'g',
  }));
  await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
  const { Messages } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
  );
  expect(Messages?.map(({ Body }) => Body)).toEqual(bodies);
});
