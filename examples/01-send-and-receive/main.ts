/**
 * Send and receive with the stock AWS client: a FIFO queue, a message, the same message again, and one delivery. Starts
 * its own server; to use one that is already running, set ONCEMQ_URL to its URL.
 */

import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { startServer } from 'oncemq';

const server =
  process.env['ONCEMQ_URL'] === undefined
    ? await startServer({ port: 0, memory: true })
    : undefined;
const sqs = new SQSClient({
  endpoint: process.env['ONCEMQ_URL'] ?? server?.url ?? '',
  region: 'us-east-1',
  credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
});

const { QueueUrl } = await sqs.send(
  new CreateQueueCommand({
    QueueName: 'orders.fifo',
    Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  }),
);
const order = { QueueUrl, MessageBody: '{"order":1}', MessageGroupId: 'customer-7' };
const first = await sqs.send(new SendMessageCommand(order));
const again = await sqs.send(new SendMessageCommand(order));
console.log('sent', first.MessageId);
console.log('again', again.MessageId, '(the same: it is a duplicate)');

const { Messages = [] } = await sqs.send(
  new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
);
for (const { Body, ReceiptHandle } of Messages) {
  console.log('received', Body);
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
}

sqs.destroy();
await server?.close();
