/**
 * A server that checks signatures, and the real clients that sign: the AWS SDKs v3 (AWS JSON for SQS, AWS Query for SNS)
 * and v2 (AWS Query, presigned URLs), with good keys and with bad ones. The exact error for each wrong signature is tested
 * in api/signatures.test.ts.
 */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SNS } from '@aws-sdk/client-sns';
import { SQS } from '@aws-sdk/client-sqs';
import SQSv2 from 'aws-sdk/clients/sqs.js';
import type { TestServer, TestServerOptions } from '../../src/testing.ts';
import { atEnd, openServer, testMsMax } from './fixture.ts';

process.env['AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE'] = '1';
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';

const timed = { timeout: testMsMax };
const credentials = [
  { accessKeyId: 'AKIDPARTS', secretAccessKey: 'secret/of+parts', name: 'parts' },
  { accessKeyId: 'AKIDOTHER', secretAccessKey: 'secret of others' },
];
const [parts, other] = credentials as [Keys, Keys];
const wrongSecret = { ...parts, secretAccessKey: 'wrong' };

interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

async function open(t: TestContext, options: TestServerOptions = {}): Promise<TestServer> {
  return openServer(t, { auth: 'sigv4', credentials, ...options });
}

function sqsOf(t: TestContext, { url }: TestServer, keys: Keys = parts): SQS {
  const client = new SQS({ endpoint: url, region, credentials: { ...keys }, maxAttempts: 1 });
  atEnd(t, () => client.destroy());
  return client;
}

function snsOf(t: TestContext, { url }: TestServer, keys: Keys = parts): SNS {
  const client = new SNS({ endpoint: url, region, credentials: { ...keys }, maxAttempts: 1 });
  atEnd(t, () => client.destroy());
  return client;
}

function v2Of({ url }: TestServer, keys: Keys = parts): SQSv2 {
  return new SQSv2({ endpoint: url, region, credentials: keys, maxRetries: 0 });
}

const region = 'us-east-1';

test(
  'the SDK v3 sends and receives with its keys, and SenderId is the name of the key',
  timed,
  async (t) => {
    const server = await open(t);
    const sqs = sqsOf(t, server);
    const { QueueUrl } = await sqs.createQueue({ QueueName: 'jobs' });
    await sqs.sendMessage({ QueueUrl, MessageBody: 'ä ö + &' });
    await sqsOf(t, server, other).sendMessage({ QueueUrl, MessageBody: 'two' });
    const { Messages = [] } = await sqs.receiveMessage({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['SenderId'],
    });
    const found = Messages.map(({ Body, Attributes }) => [Body, Attributes?.SenderId]);
    assert.deepEqual(found.toSorted(), [
      ['two', '000000000000'],
      ['ä ö + &', 'parts'],
    ]);
  },
);

test('the client configuration of a test server contains its first key', timed, async (t) => {
  const server = await open(t);
  const client = new SQS(server.clientConfig);
  atEnd(t, () => client.destroy());
  assert.deepEqual((await client.listQueues({})).QueueUrls, undefined);
});

test(
  "signatures are checked by wall time, even when the queues' clock is far ahead",
  timed,
  async (t) => {
    const server = await open(t);
    await server.clock.advance(30 * 86_400);
    await sqsOf(t, server).createQueue({ QueueName: 'jobs' });
    await snsOf(t, server).createTopic({ Name: 'prices' });
    await v2Of(server).listQueues().promise();
  },
);

test('the SDKs report a wrong secret and an unknown key by the names of AWS', timed, async (t) => {
  const server = await open(t);
  const unknown = { ...parts, accessKeyId: 'AKIDNOBODY' };
  const refused = async (call: Promise<unknown>, name: string, status = 403): Promise<void> => {
    await assert.rejects(call, (error: { name: string; $metadata: { httpStatusCode: number } }) => {
      assert.equal(error.name, name);
      assert.equal(error.$metadata.httpStatusCode, status);
      return true;
    });
  };
  await refused(sqsOf(t, server, wrongSecret).listQueues({}), 'SignatureDoesNotMatch');
  await refused(sqsOf(t, server, unknown).listQueues({}), 'InvalidClientTokenId');
  await refused(snsOf(t, server, wrongSecret).listTopics({}), 'SignatureDoesNotMatch');
  await refused(snsOf(t, server, unknown).listTopics({}), 'InvalidClientTokenId');
  const v2 = v2Of(server, wrongSecret).listQueues().promise();
  await assert.rejects(v2, { code: 'SignatureDoesNotMatch', statusCode: 403 });
});

test('the SDK v2 signs Query requests to queue paths', timed, async (t) => {
  const server = await open(t);
  const sqs = v2Of(server);
  const { QueueUrl = '' } = await sqs.createQueue({ QueueName: 'jobs' }).promise();
  await sqs.sendMessage({ QueueUrl, MessageBody: 'a b+c%20&d=ü' }).promise();
  const { Messages = [] } = await sqs.receiveMessage({ QueueUrl }).promise();
  assert.equal(Messages[0]?.Body, 'a b+c%20&d=ü');
});

test(
  'a presigned URL of the SDK v2 needs no further signature, and allows only what it was signed for',
  timed,
  async (t) => {
    const server = await open(t);
    const sqs = v2Of(server);
    const { QueueUrl = '' } = await sqs.createQueue({ QueueName: 'jobs' }).promise();
    const request = sqs.sendMessage({ QueueUrl, MessageBody: 'by a link, + and ü' });
    const url = await presigned(request);
    assert.match(await (await fetch(url)).text(), /<MessageId>/);
    const changed = await fetch(url.replace('link', 'lie'));
    assert.equal(changed.status, 403);
    assert.match(await changed.text(), /<Code>SignatureDoesNotMatch<\/Code>/);
    const { Messages = [] } = await sqs
      .receiveMessage({ QueueUrl, MaxNumberOfMessages: 10 })
      .promise();
    assert.deepEqual(
      Messages.map(({ Body }) => Body),
      ['by a link, + and ü'],
    );
  },
);

test('a topic delivers only to queues whose policy allows it', timed, async (t) => {
  const server = await open(t);
  const [sqs, sns] = [sqsOf(t, server), snsOf(t, server)];
  const { TopicArn } = await sns.createTopic({ Name: 'prices' });
  const queues = await Promise.all(
    ['closed', 'open'].map((QueueName) => sqs.createQueue({ QueueName })),
  );
  const [closed, allowed] = queues.map(({ QueueUrl }) => QueueUrl);
  const arn = (name: string): string => `arn:aws:sqs:us-east-1:000000000000:${name}`;
  const Policy = JSON.stringify({
    Statement: [
      {
        Effect: 'Allow',
        Principal: { Service: 'sns.amazonaws.com' },
        Action: 'sqs:SendMessage',
        Resource: arn('open'),
        Condition: { ArnEquals: { 'aws:SourceArn': TopicArn } },
      },
    ],
  });
  await sqs.setQueueAttributes({ QueueUrl: allowed, Attributes: { Policy } });
  for (const name of ['closed', 'open']) {
    await sns.subscribe({ TopicArn, Protocol: 'sqs', Endpoint: arn(name) });
  }
  await sns.publish({ TopicArn, Message: 'hello' });
  assert.equal((await sqs.receiveMessage({ QueueUrl: allowed })).Messages?.length, 1);
  assert.equal((await sqs.receiveMessage({ QueueUrl: closed })).Messages, undefined);
});

test(
  'an unsubscribe link without a signature does not end the subscription of a queue',
  timed,
  async (t) => {
    const server = await open(t);
    const sns = snsOf(t, server);
    const { TopicArn } = await sns.createTopic({ Name: 'prices' });
    const Endpoint = 'arn:aws:sqs:us-east-1:000000000000:jobs';
    const { SubscriptionArn = '' } = await sns.subscribe({ TopicArn, Protocol: 'sqs', Endpoint });
    const link = new URL(server.url);
    link.search = new URLSearchParams({ Action: 'Unsubscribe', SubscriptionArn }).toString();
    const answer = await fetch(link);
    assert.equal(answer.status, 403);
    assert.match(await answer.text(), /<Code>MissingAuthenticationToken<\/Code>/);
    assert.equal((await sns.listSubscriptions({})).Subscriptions?.length, 1);
    await sns.unsubscribe({ SubscriptionArn });
    assert.deepEqual((await sns.listSubscriptions({})).Subscriptions, []);
  },
);

/** The types of v2 leave `presign` out. */
function presigned(request: object): Promise<string> {
  type Done = (error: Error | null, url: string) => void;
  const { presign } = request as { presign(seconds: number, done: Done): void };
  return new Promise((resolve, reject) => {
    presign.call(request, 60, (error, url) => (error === null ? resolve(url) : reject(error)));
  });
}
