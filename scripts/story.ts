// The story that the console's pictures tell (screenshots.ts), as calls of the AWS clients: five minutes of a shop, with
// duplicates, blocked groups and filtered publications. It ends with the most interesting picture, a collision, and
// returns its address in the console.

import {
  CreateTopicCommand,
  PublishCommand,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { TestServer } from '#broker/testing.js';

const arn = 'arn:aws:sqs:us-east-1:000000000000:';
const customers = ['c-1041', 'c-1187', 'c-2003', 'c-2210', 'c-3350', 'c-4127', 'c-4408'];

export async function tellStory(server: TestServer, watch: () => Promise<void>): Promise<string> {
  const sqs = new SQSClient(server.clientConfig);
  const sns = new SNSClient(server.clientConfig);
  await createQueues(sqs);
  await createTopic(sns);
  // A fixed, round time, so that the pictures are the same each time.
  const day = Date.UTC(2027, 0, 15, 9, 0, 0);
  await server.clock.advance((day - server.clock.now()) / 1000);
  await watch();
  await trade(server, sqs, sns);
  const row = await collide(server, sqs);
  for (const seconds of [25, 95, 240]) await receive(sqs, 'orders.fifo', 2, seconds);
  sqs.destroy();
  sns.destroy();
  return row;
}

async function createQueues(sqs: SQSClient): Promise<void> {
  const fifo = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
  const RedrivePolicy = `{"deadLetterTargetArn":"${arn}orders-dead.fifo","maxReceiveCount":3}`;
  for (const [QueueName, Attributes] of [
    ['orders-dead.fifo', fifo],
    ['orders.fifo', { ...fifo, RedrivePolicy }],
    ['payments.fifo', fifo],
    ['invoices.fifo', fifo],
    ['prices-eu', {}],
    ['prices-us', {}],
    ['audit', {}],
    ['mail', { DelaySeconds: '60' }],
  ] as const) {
    await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  }
}

async function createTopic(sns: SNSClient): Promise<void> {
  const { TopicArn } = await sns.send(new CreateTopicCommand({ Name: 'prices' }));
  for (const [queue, FilterPolicy] of [
    ['prices-eu', '{"region":["eu"],"kind":[{"anything-but":"test"}]}'],
    ['prices-us', '{"region":["us"],"amount":[{"numeric":[">=",100]}]}'],
    ['audit', undefined],
  ] as const) {
    await sns.send(
      new SubscribeCommand({
        TopicArn,
        Protocol: 'sqs',
        Endpoint: `${arn}${queue}`,
        Attributes: {
          RawMessageDelivery: 'true',
          ...(FilterPolicy === undefined ? {} : { FilterPolicy }),
        },
      }),
    );
  }
}

/** Four and a half minutes of business that looks random but follows sine waves. */
async function trade(server: TestServer, sqs: SQSClient, sns: SNSClient): Promise<void> {
  const TopicArn = 'arn:aws:sns:us-east-1:000000000000:prices';
  for (let tick = 0; tick < 90; tick += 1) {
    const wave = Math.round(1.5 + 1.5 * Math.sin(tick / 7) + 0.8 * Math.sin(tick / 2.3));
    for (let index = 0; index < wave; index += 1) {
      const customer = customers[(tick * 3 + index) % customers.length] as string;
      const order = JSON.stringify({ order: 4000 + tick * 4 + index, customer, total: 20 + tick });
      await send(sqs, 'orders.fifo', order, customer);
      if (tick % 11 === 3) await send(sqs, 'orders.fifo', order, customer);
      const payment = JSON.stringify({ payment: tick * 4 + index, customer });
      await send(sqs, 'payments.fifo', payment, customer);
      if (tick % 17 === 5) await send(sqs, 'payments.fifo', payment, customer);
    }
    if (tick % 3 !== 0) await consume(sqs, 'payments.fifo', wave);
    if (tick % 4 === 0) await consume(sqs, 'orders.fifo', 2);
    if (tick % 9 === 0) {
      await sqs.send(new SendMessageCommand({ QueueUrl: 'mail', MessageBody: `mail ${tick}` }));
      const region = tick % 2 === 0 ? 'eu' : 'us';
      await sns.send(
        new PublishCommand({
          TopicArn,
          Message: JSON.stringify({ sku: `K-${tick}`, amount: 90 + tick }),
          MessageAttributes: {
            region: { DataType: 'String', StringValue: region },
            kind: { DataType: 'String', StringValue: 'price' },
            amount: { DataType: 'Number', StringValue: String(90 + tick) },
          },
        }),
      );
    }
    await server.clock.advance(3);
  }
}

/** Two tenants, one body: the second event is lost. */
async function collide(server: TestServer, sqs: SQSClient): Promise<string> {
  const event = {
    event: 'subscription.renewed',
    plan: 'team',
    period: { from: '2027-01-15', to: '2027-02-15' },
    amount: { value: '49.00', currency: 'EUR' },
  };
  const body = JSON.stringify(event);
  await send(sqs, 'payments.fifo', body, 'renewals', { tenant: 'north-press', trace: '7f3a' });
  await server.clock.advance(9);
  await send(sqs, 'payments.fifo', body, 'renewals', { tenant: 'tidewater', trace: '81c0' });
  for (const order of [5001, 5002, 5003, 5004]) {
    const customer = customers[order % customers.length] as string;
    await send(sqs, 'orders.fifo', JSON.stringify({ order, customer, total: 75 }), customer);
    await consume(sqs, 'orders.fifo', 2);
    await consume(sqs, 'payments.fifo', 1);
    await server.clock.advance(1);
  }
  const answer = await fetch(`${server.url}/_oncemq/queues/payments.fifo/window`);
  const { rows } = (await answer.json()) as {
    rows: { sequence: number; number?: number; collision?: boolean }[];
  };
  const row = rows.find(({ collision }) => collision === true);
  return `#/queues/payments.fifo/window/${row?.sequence}/${row?.number}`;
}

async function send(
  sqs: SQSClient,
  QueueUrl: string,
  MessageBody: string,
  MessageGroupId: string,
  attributes: Readonly<Record<string, string>> = {},
): Promise<void> {
  const MessageAttributes = Object.fromEntries(
    Object.entries(attributes).map(([name, StringValue]) => [
      name,
      { DataType: 'String', StringValue },
    ]),
  );
  await sqs.send(
    new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId, MessageAttributes }),
  );
}

async function receive(
  sqs: SQSClient,
  QueueUrl: string,
  MaxNumberOfMessages: number,
  VisibilityTimeout: number,
): Promise<readonly string[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages, VisibilityTimeout }),
  );
  return Messages.map(({ ReceiptHandle }) => ReceiptHandle ?? '');
}

async function consume(sqs: SQSClient, QueueUrl: string, count: number): Promise<void> {
  if (count < 1) return;
  for (const ReceiptHandle of await receive(sqs, QueueUrl, Math.min(count, 10), 30)) {
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  }
}
