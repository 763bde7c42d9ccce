/**
 * How errors of SNS look on the wire (1.5, 1.6, §14): for each of its shapes a request that causes it, with code, status
 * and text. Core's tests cover when a request is refused.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { wireErrors } from '../../src/api/protocol/error-codes.ts';
import { topicErrors } from '../../src/core/topic/errors.ts';
import { account, requestId, TestApi } from './fixture.ts';

const prices = `arn:aws:sns:us-east-1:${account}:prices`;
const pricesFifo = `${prices}.fifo`;

interface Case {
  readonly title: string;
  readonly action: string;
  readonly query: Readonly<Record<string, string>>;
  readonly code: string;
  readonly status?: number;
  readonly text?: string;
  readonly given?: (api: TestApi) => Promise<unknown>;
}

const aTopic = (api: TestApi): Promise<unknown> => api.told('CreateTopic', { Name: 'prices' });

/** A FIFO topic that archives messages. */
const anArchive = (api: TestApi): Promise<unknown> =>
  api.told('CreateTopic', {
    Name: 'prices.fifo',
    'Attributes.entry.1.key': 'FifoTopic',
    'Attributes.entry.1.value': 'true',
    'Attributes.entry.2.key': 'ArchivePolicy',
    'Attributes.entry.2.value': '{"MessageRetentionPeriod":"1"}',
  });

function entries(...ids: readonly string[]): Record<string, string> {
  const pairs = ids.flatMap((id, at) => [
    [`PublishBatchRequestEntries.member.${at + 1}.Id`, id],
    [`PublishBatchRequestEntries.member.${at + 1}.Message`, 'x'.repeat(30_000)],
  ]);
  return { TopicArn: prices, ...Object.fromEntries(pairs) };
}

function tags(count: number): Record<string, string> {
  const pairs = Array.from({ length: count }, (_, at) => [
    [`Tags.member.${at + 1}.Key`, `k${at}`],
    [`Tags.member.${at + 1}.Value`, 'v'],
  ]);
  return { ResourceArn: prices, ...Object.fromEntries(pairs.flat()) };
}

const cases: readonly Case[] = [
  {
    title: 'a bad parameter',
    action: 'CreateTopic',
    query: { Name: 'a b' },
    code: 'InvalidParameter',
    text: 'Invalid parameter: Topic Name',
  },
  {
    title: 'a missing parameter',
    action: 'Unsubscribe',
    query: {},
    code: 'InvalidParameter',
    text: 'Invalid parameter: SubscriptionArn Reason: no value for required parameter',
  },
  {
    title: 'a bad message attribute',
    given: aTopic,
    action: 'Publish',
    query: {
      TopicArn: prices,
      Message: 'x',
      'MessageAttributes.entry.1.Name': 'a^b',
      'MessageAttributes.entry.1.Value.DataType': 'String',
      'MessageAttributes.entry.1.Value.StringValue': 'x',
    },
    code: 'ParameterValueInvalid',
    text: "Invalid non-alphanumeric character '#x5E' was found in the message attribute name. Can only include alphanumeric characters, hyphens, underscores, or dots.",
  },
  {
    title: 'a message attribute without a type',
    given: aTopic,
    action: 'Publish',
    query: {
      TargetArn: prices,
      Message: 'x',
      'MessageAttributes.entry.1.Name': 'n',
      'MessageAttributes.entry.1.Value.StringValue': 'x',
    },
    code: 'ValidationError',
    text: "1 validation error detected: Value null at 'messageAttributes.n.member.dataType' failed to satisfy constraint: Member must not be null",
  },
  {
    title: 'a missing topic',
    action: 'Publish',
    query: { TopicArn: prices, Message: 'x' },
    code: 'NotFound',
    status: 404,
    text: 'Topic does not exist',
  },
  {
    title: 'tags of a missing topic',
    action: 'ListTagsForResource',
    query: { ResourceArn: prices },
    code: 'ResourceNotFound',
    status: 404,
    text: 'Resource does not exist',
  },
  {
    title: 'deleting a topic with an archive',
    given: anArchive,
    action: 'DeleteTopic',
    query: { TopicArn: pricesFifo },
    code: 'InvalidState',
  },
  {
    title: 'too many tags',
    given: aTopic,
    action: 'TagResource',
    query: tags(51),
    code: 'TagLimitExceeded',
  },
  {
    title: 'too many subscriptions of a FIFO topic',
    given: async (api) => {
      await anArchive(api);
      for (let at = 0; at < 100; at += 1) await api.told('Subscribe', toQueue(`q${at}`));
    },
    action: 'Subscribe',
    query: toQueue('more'),
    code: 'SubscriptionLimitExceeded',
    status: 403,
  },
  {
    title: 'a batch without entries',
    given: aTopic,
    action: 'PublishBatch',
    query: { TopicArn: prices },
    code: 'EmptyBatchRequest',
  },
  {
    title: 'a batch of eleven entries',
    given: aTopic,
    action: 'PublishBatch',
    query: entries(...Array.from({ length: 11 }, (_, at) => `e${at}`)),
    code: 'TooManyEntriesInBatchRequest',
    text: 'The batch request contains more entries than permissible.',
  },
  {
    title: 'a batch with a repeated id',
    given: aTopic,
    action: 'PublishBatch',
    query: entries('a', 'a'),
    code: 'BatchEntryIdsNotDistinct',
    text: 'Two or more batch entries in the request have the same Id.',
  },
  {
    title: 'a batch with a bad id',
    given: aTopic,
    action: 'PublishBatch',
    query: entries('a.b'),
    code: 'InvalidBatchEntryId',
    text: 'The Id of a batch entry in the batch request contains an impermissible character: a.b',
  },
  {
    title: 'a batch that is too long',
    given: aTopic,
    action: 'PublishBatch',
    query: entries(...Array.from({ length: 9 }, (_, at) => `e${at}`)),
    code: 'BatchRequestTooLong',
    text: 'The length of all the messages put together is more than the limit.',
  },
];

function toQueue(queue: string): Record<string, string> {
  const Endpoint = `arn:aws:sqs:us-east-1:${account}:${queue}`;
  return { TopicArn: pricesFifo, Protocol: 'sqs', Endpoint };
}

/** Too many requests would be needed to reach these limits: 1,000 topics, 10,000 filter policies, 100 running replays. */
const outOfReach = [
  'TopicLimitExceededException',
  'FilterPolicyLimitExceededException',
  'ReplayLimitExceededException',
];

describe('every error of SNS on the wire', () => {
  for (const { title, action, query, code, status = 400, text, given } of cases) {
    test(`${title} (1.5)`, async () => {
      const api = new TestApi();
      await given?.(api);
      const reply = await api.sns(action, query);
      assert.equal(reply.status, status, reply.body);
      assert.equal(reply.root, 'ErrorResponse');
      assert.deepEqual(Object.keys(reply.value), ['Error', 'RequestId']);
      const { Type, Code, Message, ...others } = reply.value.Error;
      assert.deepEqual([Type, Code, others], ['Sender', code, {}]);
      if (text !== undefined) assert.equal(Message, text);
      assert.equal(reply.value.RequestId, requestId);
      assert.ok(reply.body.includes('xmlns="http://sns.amazonaws.com/doc/2010-03-31/"'));
      assert.equal(api.errors.length, 0);
    });
  }

  test('every shape of SNS is among the cases', () => {
    const covered = new Set(cases.map(({ code }) => code));
    for (const [shape] of Object.values(topicErrors)) {
      const isCovered = covered.has(wireErrors[shape].code) || outOfReach.includes(shape);
      assert.ok(isCovered, `no request earns ${shape}`);
    }
  });
});
