/**
 * Price updates of an auto-parts company, published to a FIFO topic and fanned out to the wholesale and the retail queue
 * by a message attribute. The body of an update is the same for both businesses; only the attribute differs.
 *
 * With content-based deduplication the second update vanishes, since the hash covers only the body. The topic's window
 * explains why. Either of two changes fixes it: an explicit id for each update, or the business in the body.
 */

import assert from 'node:assert/strict';
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
  SQSClient,
} from '@aws-sdk/client-sqs';
import { startServer } from 'oncemq';

const server = await startServer({ port: 0, memory: true });
const connection = {
  endpoint: server.url,
  region: 'us-east-1',
  credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
};
const sns = new SNSClient(connection);
const sqs = new SQSClient(connection);
const businesses = ['wholesale', 'retail'];

const { TopicArn } = await sns.send(
  new CreateTopicCommand({
    Name: 'price-updates.fifo',
    Attributes: { FifoTopic: 'true', ContentBasedDeduplication: 'true' },
  }),
);
for (const business of businesses) {
  const Attributes = { FifoQueue: 'true' };
  await sqs.send(new CreateQueueCommand({ QueueName: `${business}.fifo`, Attributes }));
  await sns.send(
    new SubscribeCommand({
      TopicArn,
      Protocol: 'sqs',
      Endpoint: `arn:aws:sqs:us-east-1:000000000000:${business}.fifo`,
      Attributes: {
        RawMessageDelivery: 'true',
        FilterPolicy: JSON.stringify({ business: [business] }),
      },
    }),
  );
}

const update = { part: 'brake-pad-7', price: 42 };

// 1. The body is the same for both businesses: the second publication counts as a duplicate of the first.
for (const business of businesses) await publish(business, update);
await expectReceived('content hash', { wholesale: 1, retail: 0 });
console.log(`  ${await explained()}`);

// 2. An explicit id for each update.
for (const business of businesses) {
  await publish(business, { ...update, price: 43 }, `brake-pad-7-43-${business}`);
}
await expectReceived('explicit ids', { wholesale: 1, retail: 1 });

// 3. The business in the body, where the hash covers it.
for (const business of businesses) await publish(business, { ...update, price: 44, business });
await expectReceived('business in the body', { wholesale: 1, retail: 1 });

sns.destroy();
sqs.destroy();
await server.close();

async function publish(business: string, body: object, id?: string): Promise<void> {
  await sns.send(
    new PublishCommand({
      TopicArn,
      Message: JSON.stringify(body),
      MessageGroupId: 'brake-pad-7',
      MessageAttributes: { business: { DataType: 'String', StringValue: business } },
      ...(id === undefined ? {} : { MessageDeduplicationId: id }),
    }),
  );
}

/** Receives and deletes what each queue has got, and checks how many messages that were. */
async function expectReceived(title: string, expected: Record<string, number>): Promise<void> {
  const counts: Record<string, number> = {};
  for (const business of businesses) {
    const QueueUrl = `${server.url}/000000000000/${business}.fifo`;
    const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 });
    const { Messages = [] } = await sqs.send(receive);
    counts[business] = Messages.length;
    for (const { ReceiptHandle } of Messages) {
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
  console.log(`${title}:`, counts);
  assert.deepEqual(counts, expected);
}

/** What the topic's window says about its newest entry. */
async function explained(): Promise<string> {
  const answer = await fetch(`${server.url}/_oncemq/topics/price-updates.fifo/dedup`);
  const { entries } = (await answer.json()) as {
    entries: { source: string; suppressed: { differed: string[] }[] }[];
  };
  const [entry] = entries;
  assert.equal(entry?.suppressed.length, 1);
  const differed = entry?.suppressed[0]?.differed.join(' and ');
  return `1 publication suppressed by its ${entry?.source} hash, although it differed in ${differed}`;
}
