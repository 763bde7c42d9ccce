/**
 * What every SNS client must be able to do with topics, as tests that run with each of them: topics and subscriptions, a
 * publication on its way to queues, duplicates, batches, filters, and errors by AWS's codes. Queues are created and read
 * with the AWS SDK v3.
 */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type * as sdk from '@aws-sdk/client-sns';
import type { SQS } from '@aws-sdk/client-sqs';
import type { TestServer } from '../../src/testing.ts';
import { atEnd, keptIn, openServer, testMsMax } from './fixture.ts';
import { v3Client } from './v3-client.ts';
import type { CallError } from './wire-client.ts';

type Command<A extends TopicActionName> = InstanceType<(typeof sdk)[`${A}Command`]>;

export type TopicActionName =
  | 'AddPermission'
  | 'ConfirmSubscription'
  | 'CreateTopic'
  | 'DeleteTopic'
  | 'GetDataProtectionPolicy'
  | 'GetSubscriptionAttributes'
  | 'GetTopicAttributes'
  | 'ListSubscriptions'
  | 'ListSubscriptionsByTopic'
  | 'ListTagsForResource'
  | 'ListTopics'
  | 'Publish'
  | 'PublishBatch'
  | 'PutDataProtectionPolicy'
  | 'RemovePermission'
  | 'SetSubscriptionAttributes'
  | 'SetTopicAttributes'
  | 'Subscribe'
  | 'TagResource'
  | 'Unsubscribe'
  | 'UntagResource';

/** An SNS client; `WireClient` is the same for SQS. */
export interface TopicClient {
  call<A extends TopicActionName>(
    action: A,
    input: Command<A>['input'],
  ): Promise<Awaited<ReturnType<ReturnType<Command<A>['resolveMiddleware']>>>['output']>;
  close(): void;
}

interface Opened {
  readonly server: TestServer;
  readonly sns: TopicClient;
  readonly sqs: SQS;
}

const timed = { timeout: testMsMax };
const fifo = { FifoTopic: 'true', ContentBasedDeduplication: 'true' };

export function topicLife(
  openClient: (endpoint: string) => TopicClient,
  { isKept = false }: { readonly isKept?: boolean } = {},
): void {
  const open = async (t: TestContext): Promise<Opened> => {
    const server = await openServer(t, isKept ? keptIn(t) : {});
    const sns = openClient(server.url);
    const sqs = v3Client(server.url);
    atEnd(t, () => sns.close());
    atEnd(t, () => sqs.destroy());
    return { server, sns, sqs };
  };

  test('topics: it creates, finds, lists, tags and deletes them', timed, async (t) => {
    const { sns } = await open(t);
    const Tags = [{ Key: 'team', Value: 'parts' }];
    const { TopicArn } = await sns.call('CreateTopic', {
      Name: 'prices.fifo',
      Attributes: fifo,
      Tags,
    });
    assert.equal(TopicArn, 'arn:aws:sns:us-east-1:000000000000:prices.fifo');
    assert.equal(
      (await sns.call('CreateTopic', { Name: 'prices.fifo', Attributes: fifo })).TopicArn,
      TopicArn,
    );
    assert.deepEqual((await sns.call('ListTopics', {})).Topics, [{ TopicArn }]);
    await sns.call('TagResource', {
      ResourceArn: TopicArn,
      Tags: [{ Key: 'stage', Value: 'test' }],
    });
    await sns.call('UntagResource', { ResourceArn: TopicArn, TagKeys: ['team'] });
    const tagged = await sns.call('ListTagsForResource', { ResourceArn: TopicArn });
    assert.deepEqual(tagged.Tags, [{ Key: 'stage', Value: 'test' }]);
    await sns.call('DeleteTopic', { TopicArn });
    assert.deepEqual((await sns.call('ListTopics', {})).Topics ?? [], []);
  });

  test('topics: it sets attributes, permissions and a data protection policy', timed, async (t) => {
    const { sns } = await open(t);
    const { TopicArn } = await sns.call('CreateTopic', { Name: 'prices' });
    await sns.call('SetTopicAttributes', {
      TopicArn,
      AttributeName: 'DisplayName',
      AttributeValue: 'Prices & <more>',
    });
    await sns.call('AddPermission', {
      TopicArn,
      Label: 'partner',
      AWSAccountId: ['111111111111'],
      ActionName: ['Publish', 'Subscribe'],
    });
    const { Attributes = {} } = await sns.call('GetTopicAttributes', { TopicArn });
    assert.equal(Attributes['DisplayName'], 'Prices & <more>');
    assert.equal(JSON.parse(Attributes['Policy'] ?? '').Statement[1].Sid, 'partner');
    await sns.call('RemovePermission', { TopicArn, Label: 'partner' });
    const policy = { ResourceArn: TopicArn, DataProtectionPolicy: '{"Name":"p"}' };
    await sns.call('PutDataProtectionPolicy', policy);
    const kept = await sns.call('GetDataProtectionPolicy', { ResourceArn: TopicArn });
    assert.equal(kept.DataProtectionPolicy, '{"Name":"p"}');
  });

  test('subscriptions: it creates, changes, lists and ends them', timed, async (t) => {
    const { sns } = await open(t);
    const { TopicArn } = await sns.call('CreateTopic', { Name: 'prices' });
    const { SubscriptionArn = '' } = await sns.call('Subscribe', {
      TopicArn,
      Protocol: 'sqs',
      Endpoint: arnOf('jobs'),
      Attributes: { RawMessageDelivery: 'true' },
    });
    assert.ok(SubscriptionArn.startsWith(`${TopicArn}:`));
    await sns.call('SetSubscriptionAttributes', {
      SubscriptionArn,
      AttributeName: 'FilterPolicy',
      AttributeValue: '{"kind":["price"]}',
    });
    const { Attributes = {} } = await sns.call('GetSubscriptionAttributes', { SubscriptionArn });
    assert.deepEqual(
      [Attributes['RawMessageDelivery'], Attributes['FilterPolicy']],
      ['true', '{"kind":["price"]}'],
    );
    const listed = {
      SubscriptionArn,
      Owner: '000000000000',
      Protocol: 'sqs',
      Endpoint: arnOf('jobs'),
      TopicArn,
    };
    assert.deepEqual((await sns.call('ListSubscriptions', {})).Subscriptions, [listed]);
    const ofTopic = await sns.call('ListSubscriptionsByTopic', { TopicArn });
    assert.deepEqual(ofTopic.Subscriptions, [listed]);
    await sns.call('Unsubscribe', { SubscriptionArn });
    assert.deepEqual((await sns.call('ListSubscriptions', {})).Subscriptions ?? [], []);
  });

  test('a publication arrives in an envelope, signed, with its attributes', timed, async (t) => {
    const { sns, sqs } = await open(t);
    const { TopicArn, QueueUrl } = await subscribed({ sns, sqs }, 'prices', 'jobs', {});
    const { MessageId } = await sns.call('Publish', {
      TopicArn,
      Message: 'a <b> & "c"\r\n😀',
      Subject: 'Über alles',
      MessageAttributes: {
        kind: { DataType: 'String', StringValue: 'price' },
        raw: { DataType: 'Binary', BinaryValue: Uint8Array.of(0, 255) },
      },
    });
    const { Messages = [] } = await sqs.receiveMessage({ QueueUrl });
    const envelope = JSON.parse(Messages[0]?.Body ?? '');
    assert.deepEqual(Object.keys(envelope), [
      'Type',
      'MessageId',
      'TopicArn',
      'Subject',
      'Message',
      'Timestamp',
      'SignatureVersion',
      'Signature',
      'SigningCertURL',
      'UnsubscribeURL',
      'MessageAttributes',
    ]);
    assert.equal(envelope.MessageId, MessageId);
    assert.equal(envelope.Message, 'a <b> & "c"\r\n😀');
    assert.deepEqual(envelope.MessageAttributes.raw, { Type: 'Binary', Value: 'AP8=' });
  });

  test('a FIFO publication arrives once, raw, with its group and ids', timed, async (t) => {
    const { sns, sqs } = await open(t);
    const { TopicArn, QueueUrl } = await subscribed({ sns, sqs }, 'prices.fifo', 'jobs.fifo', {
      RawMessageDelivery: 'true',
    });
    const publication = { TopicArn, Message: 'hello', MessageGroupId: 'g' };
    const first = await sns.call('Publish', publication);
    const again = await sns.call('Publish', publication);
    assert.match(first.SequenceNumber ?? '', /^\d{20}$/);
    assert.deepEqual(
      [again.MessageId, again.SequenceNumber],
      [first.MessageId, first.SequenceNumber],
    );
    const { Messages = [] } = await sqs.receiveMessage({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['All'],
    });
    assert.equal(Messages.length, 1);
    assert.equal(Messages[0]?.Body, 'hello');
    assert.equal(Messages[0]?.Attributes?.['MessageGroupId'], 'g');
  });

  test('a batch is published in order, and lists what succeeded', timed, async (t) => {
    const { sns, sqs } = await open(t);
    const { TopicArn, QueueUrl } = await subscribed({ sns, sqs }, 'prices.fifo', 'jobs.fifo', {
      RawMessageDelivery: 'true',
    });
    const { Successful, Failed } = await sns.call('PublishBatch', {
      TopicArn,
      PublishBatchRequestEntries: ['a', 'b'].map((Message) => ({
        Id: Message,
        Message,
        MessageGroupId: 'g',
        MessageAttributes: { kind: { DataType: 'String', StringValue: Message } },
      })),
    });
    assert.deepEqual(
      Successful?.map(({ Id }) => Id),
      ['a', 'b'],
    );
    // Some clients leave an empty list out.
    assert.deepEqual(Failed ?? [], []);
    const { Messages = [] } = await sqs.receiveMessage({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageAttributeNames: ['All'],
    });
    assert.deepEqual(
      Messages.map(({ Body, MessageAttributes }) => [
        Body,
        MessageAttributes?.['kind']?.StringValue,
      ]),
      [
        ['a', 'a'],
        ['b', 'b'],
      ],
    );
  });

  test('errors have the codes and texts of AWS', timed, async (t) => {
    const { sns } = await open(t);
    const missing = 'arn:aws:sns:us-east-1:000000000000:missing';
    const cases: readonly [() => Promise<unknown>, Partial<CallError>][] = [
      [
        () => sns.call('Publish', { TopicArn: missing, Message: 'x' }),
        { code: 'NotFound', status: 404, message: 'Topic does not exist' },
      ],
      [
        () => sns.call('CreateTopic', { Name: 'a b' }),
        { code: 'InvalidParameter', status: 400, message: 'Invalid parameter: Topic Name' },
      ],
      [
        () => sns.call('ListTagsForResource', { ResourceArn: missing }),
        { code: 'ResourceNotFound', status: 404, message: 'Resource does not exist' },
      ],
    ];
    for (const [call, { code, status, message }] of cases) {
      await assert.rejects(call, (error: CallError) => {
        assert.deepEqual([error.code, error.status], [code, status]);
        assert.ok(error.message.includes(message ?? ''), error.message);
        return true;
      });
    }
  });
}

async function subscribed(
  { sns, sqs }: { sns: TopicClient; sqs: SQS },
  topic: string,
  queue: string,
  Attributes: Record<string, string>,
): Promise<{ TopicArn: string; QueueUrl: string }> {
  const isFifo = topic.endsWith('.fifo');
  const { TopicArn = '' } = await sns.call('CreateTopic', {
    Name: topic,
    ...(isFifo ? { Attributes: fifo } : {}),
  });
  const { QueueUrl = '' } = await sqs.createQueue({
    QueueName: queue,
    ...(isFifo ? { Attributes: { FifoQueue: 'true' } } : {}),
  });
  await sns.call('Subscribe', { TopicArn, Protocol: 'sqs', Endpoint: arnOf(queue), Attributes });
  return { TopicArn, QueueUrl };
}

function arnOf(queue: string): string {
  return `arn:aws:sqs:us-east-1:000000000000:${queue}`;
}
