/**
 * Every action of topics once in both forms of an answer: SNS takes AWS Query alone, and answers it as XML or, with
 * `ContentType=JSON`, as JSON (1.3, 1.4). The same request gets the same output in either form, and by POST and GET (1.1).
 * Each case creates its own topic. The other tests of this folder cover what an action does; these cover its inputs and
 * outputs.
 */

import assert from 'node:assert/strict';
import { test as testOnce } from 'node:test';
import { snsActionFunctions } from '../../../src/api/actions/sns/table.ts';
import { snsActions } from '../../../src/api/shapes/sns.ts';
import { type Json, requestId, TestApi, urlOf } from '../../api/fixture.ts';
import { arnOf, type TestBackend, test, topicArnOf } from '../fixture.ts';

type Parameters = Readonly<Record<string, string>>;

interface Case {
  /** Creates what the action needs; the request gets the result. */
  readonly given?: (api: TestApi, home: TestBackend) => Promise<Json>;
  readonly query: (given: Json) => Parameters;
  /** Without it, the action has no output. */
  readonly output?: (output: Json, given: Json) => void;
  /** Checks what the action did. */
  readonly effect?: (api: TestApi, given: Json) => Promise<void>;
}

const prices = topicArnOf('prices');
const pricesFifo = topicArnOf('prices.fifo');
const jobs = arnOf('jobs');
const endpoint = 'http://receiver.example/prices';
const noData = '{"Name":"none","Version":"2021-06-01","Statement":[]}';
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const sequence = /^\d{20}$/;

const topicOnly = (): Parameters => ({ TopicArn: prices });
const resourceOnly = (): Parameters => ({ ResourceArn: prices });

async function aTopic(api: TestApi): Promise<void> {
  await api.told('CreateTopic', { Name: 'prices' });
}

async function aTaggedTopic(api: TestApi): Promise<void> {
  const tags = { 'Tags.member.1.Key': 'team', 'Tags.member.1.Value': 'parts' };
  await api.told('CreateTopic', {
    Name: 'prices',
    ...tags,
    'Tags.member.2.Key': 'stage',
    'Tags.member.2.Value': '',
  });
}

/** Its ARN. */
async function aSubscription(api: TestApi): Promise<string> {
  await aTopic(api);
  const target = { TopicArn: prices, Protocol: 'sqs', Endpoint: jobs };
  return (await api.told('Subscribe', target)).SubscriptionArn;
}

/** A FIFO topic with a queue that gets what is published as it is. */
async function aFifoTopic(api: TestApi): Promise<void> {
  await api.createQueue('jobs.fifo');
  await api.told('CreateTopic', { Name: 'prices.fifo', ...attribute('FifoTopic', 'true') });
  await api.told('Subscribe', {
    TopicArn: pricesFifo,
    Protocol: 'sqs',
    Endpoint: `${jobs}.fifo`,
    ...attribute('RawMessageDelivery', 'true'),
  });
}

/** The token that was posted to an endpoint. */
async function aToken(api: TestApi, home: TestBackend): Promise<string> {
  await aTopic(api);
  await api.told('Subscribe', { TopicArn: prices, Protocol: 'http', Endpoint: endpoint });
  await home.advance(0);
  return JSON.parse(home.posted[0]?.body ?? '').Token;
}

async function aPermission(api: TestApi): Promise<void> {
  await aTopic(api);
  await api.told('AddPermission', permission);
}

const permission = {
  TopicArn: prices,
  Label: 'writers',
  'AWSAccountId.member.1': '111111111111',
  'AWSAccountId.member.2': '222222222222',
  'ActionName.member.1': 'Publish',
};

function attribute(key: string, value: string): Parameters {
  return { 'Attributes.entry.1.key': key, 'Attributes.entry.1.value': value };
}

async function attributesOf(api: TestApi): Promise<Json> {
  return plain(await api.told('GetTopicAttributes', { TopicArn: prices })).Attributes;
}

async function tagsOf(api: TestApi): Promise<Json> {
  return plain(await api.told('ListTagsForResource', { ResourceArn: prices })).Tags;
}

async function statements(api: TestApi): Promise<readonly Json[]> {
  return JSON.parse((await attributesOf(api)).Policy).Statement;
}

async function received(api: TestApi, count: number): Promise<readonly Json[]> {
  const input = { QueueUrl: urlOf('jobs.fifo'), MaxNumberOfMessages: 10, AttributeNames: ['All'] };
  const { Messages } = await api.called('ReceiveMessage', input);
  assert.equal(Messages?.length, count);
  return Messages;
}

const subscribed = (SubscriptionArn: string): Json => ({
  Subscriptions: [
    { SubscriptionArn, Owner: '000000000000', Protocol: 'sqs', Endpoint: jobs, TopicArn: prices },
  ],
});

const cases: Readonly<Record<string, Case>> = {
  AddPermission: {
    given: aTopic,
    query: () => permission,
    effect: async (api) => {
      const added = (await statements(api)).find(({ Sid }) => Sid === 'writers');
      assert.deepEqual(added.Action, 'SNS:Publish');
      assert.equal(added.Principal.AWS.length, 2);
    },
  },
  ConfirmSubscription: {
    given: aToken,
    query: (Token) => ({ TopicArn: prices, Token }),
    output: ({ SubscriptionArn }) => assert.ok(SubscriptionArn.startsWith(`${prices}:`)),
    effect: async (api) => {
      const attributes = await attributesOf(api);
      assert.equal(attributes.SubscriptionsConfirmed, '1');
    },
  },
  CreateTopic: {
    query: () => ({
      Name: 'prices',
      ...attribute('DisplayName', 'Prices'),
      'Tags.member.1.Key': 'team',
      'Tags.member.1.Value': 'parts',
      DataProtectionPolicy: noData,
    }),
    output: (output) => assert.deepEqual(output, { TopicArn: prices }),
    effect: async (api) => {
      assert.equal((await attributesOf(api)).DisplayName, 'Prices');
      assert.deepEqual(await tagsOf(api), [{ Key: 'team', Value: 'parts' }]);
    },
  },
  DeleteTopic: {
    given: aTopic,
    query: topicOnly,
    effect: async (api) => {
      assert.deepEqual(plain(await api.told('ListTopics')), { Topics: [] });
    },
  },
  GetDataProtectionPolicy: {
    given: (api) => api.told('CreateTopic', { Name: 'prices', DataProtectionPolicy: noData }),
    query: resourceOnly,
    output: (output) => assert.deepEqual(output, { DataProtectionPolicy: noData }),
  },
  GetSubscriptionAttributes: {
    given: aSubscription,
    query: (SubscriptionArn) => ({ SubscriptionArn }),
    output: ({ Attributes }, SubscriptionArn) => {
      assert.equal(Attributes.SubscriptionArn, SubscriptionArn);
      assert.equal(Attributes.TopicArn, prices);
      assert.equal(Attributes.Endpoint, jobs);
      assert.equal(Attributes.PendingConfirmation, 'false');
    },
  },
  GetTopicAttributes: {
    given: aSubscription,
    query: topicOnly,
    output: ({ Attributes }) => {
      assert.equal(Attributes.TopicArn, prices);
      assert.equal(Attributes.SubscriptionsConfirmed, '1');
      assert.equal(Attributes.DisplayName, '');
    },
  },
  ListSubscriptions: {
    given: aSubscription,
    query: () => ({}),
    output: (output, arn) => assert.deepEqual(output, subscribed(arn)),
  },
  ListSubscriptionsByTopic: {
    given: aSubscription,
    query: topicOnly,
    output: (output, arn) => assert.deepEqual(output, subscribed(arn)),
  },
  ListTagsForResource: {
    given: aTaggedTopic,
    query: resourceOnly,
    output: ({ Tags }) =>
      assert.deepEqual(sortedByKey(Tags), [
        { Key: 'stage', Value: '' },
        { Key: 'team', Value: 'parts' },
      ]),
  },
  ListTopics: {
    given: aTopic,
    query: () => ({}),
    output: (output) => assert.deepEqual(output, { Topics: [{ TopicArn: prices }] }),
  },
  Publish: {
    given: aFifoTopic,
    query: () => ({
      TopicArn: pricesFifo,
      Message: 'hello',
      MessageGroupId: 'g',
      MessageDeduplicationId: 'p-1',
      'MessageAttributes.entry.1.Name': 'Foo',
      'MessageAttributes.entry.1.Value.DataType': 'String',
      'MessageAttributes.entry.1.Value.StringValue': 'Bar',
    }),
    output: ({ MessageId, SequenceNumber }) => {
      assert.match(MessageId, uuid);
      assert.match(SequenceNumber, sequence);
    },
    effect: async (api) => {
      const [message] = await received(api, 1);
      assert.equal(message.Body, 'hello');
      assert.equal(message.Attributes.MessageGroupId, 'g');
      assert.equal(message.Attributes.MessageDeduplicationId, 'p-1');
    },
  },
  PublishBatch: {
    given: aFifoTopic,
    query: () => ({
      TopicArn: pricesFifo,
      ...entry(1, 'first', 'hello'),
      ...entry(2, 'second', 'goodbye'),
    }),
    output: ({ Successful, Failed }) => {
      assert.deepEqual(
        Successful.map(({ Id }: Json) => Id),
        ['first', 'second'],
      );
      for (const { MessageId, SequenceNumber } of Successful) {
        assert.match(MessageId, uuid);
        assert.match(SequenceNumber, sequence);
      }
      assert.deepEqual(Failed, []);
    },
    effect: async (api) => {
      const bodies = (await received(api, 2)).map(({ Body }) => Body);
      assert.deepEqual(bodies, ['hello', 'goodbye']);
    },
  },
  PutDataProtectionPolicy: {
    given: aTopic,
    query: () => ({ ResourceArn: prices, DataProtectionPolicy: noData }),
    effect: async (api) => {
      const kept = await api.told('GetDataProtectionPolicy', { ResourceArn: prices });
      assert.deepEqual(plain(kept), { DataProtectionPolicy: noData });
    },
  },
  RemovePermission: {
    given: aPermission,
    query: () => ({ TopicArn: prices, Label: 'writers' }),
    effect: async (api) => {
      assert.ok((await statements(api)).every(({ Sid }) => Sid !== 'writers'));
    },
  },
  SetSubscriptionAttributes: {
    given: aSubscription,
    query: (SubscriptionArn) => ({
      SubscriptionArn,
      AttributeName: 'RawMessageDelivery',
      AttributeValue: 'true',
    }),
    effect: async (api, SubscriptionArn) => {
      const told = plain(await api.told('GetSubscriptionAttributes', { SubscriptionArn }));
      assert.equal(told.Attributes.RawMessageDelivery, 'true');
    },
  },
  SetTopicAttributes: {
    given: aTopic,
    query: () => ({ TopicArn: prices, AttributeName: 'DisplayName', AttributeValue: 'Prices' }),
    effect: async (api) => {
      assert.equal((await attributesOf(api)).DisplayName, 'Prices');
    },
  },
  Subscribe: {
    given: aTopic,
    query: () => ({
      TopicArn: prices,
      Protocol: 'sqs',
      Endpoint: jobs,
      ReturnSubscriptionArn: 'true',
      ...attribute('RawMessageDelivery', 'true'),
    }),
    output: ({ SubscriptionArn }) => assert.ok(SubscriptionArn.startsWith(`${prices}:`)),
    effect: async (api) => {
      assert.equal((await attributesOf(api)).SubscriptionsConfirmed, '1');
    },
  },
  TagResource: {
    given: aTaggedTopic,
    query: () => ({
      ResourceArn: prices,
      'Tags.member.1.Key': 'stage',
      'Tags.member.1.Value': 'test',
    }),
    output: assertEmpty,
    effect: async (api) => {
      const tags = sortedByKey(await tagsOf(api));
      assert.deepEqual(tags[0], { Key: 'stage', Value: 'test' });
      assert.equal(tags.length, 2);
    },
  },
  Unsubscribe: {
    given: aSubscription,
    query: (SubscriptionArn) => ({ SubscriptionArn }),
    effect: async (api) => {
      assert.deepEqual(plain(await api.told('ListSubscriptions')), { Subscriptions: [] });
    },
  },
  UntagResource: {
    given: aTaggedTopic,
    query: () => ({ ResourceArn: prices, 'TagKeys.member.1': 'stage' }),
    output: assertEmpty,
    effect: async (api) => {
      assert.deepEqual(await tagsOf(api), [{ Key: 'team', Value: 'parts' }]);
    },
  },
};

function entry(at: number, id: string, message: string): Parameters {
  const prefix = `PublishBatchRequestEntries.member.${at}`;
  return {
    [`${prefix}.Id`]: id,
    [`${prefix}.Message`]: message,
    [`${prefix}.MessageGroupId`]: 'g',
    [`${prefix}.MessageDeduplicationId`]: id,
  };
}

function sortedByKey(tags: readonly Json[]): readonly Json[] {
  return tags.toSorted((a, b) => (a.Key < b.Key ? -1 : 1));
}

function assertEmpty(output: Json): void {
  assert.deepEqual(output, {});
}

const lists = new Set(['Failed', 'Subscriptions', 'Successful', 'Tags', 'Topics']);

/** An output as read from XML or JSON, with plain lists and maps, and without members that are null. */
function plain(value: Json): Json {
  if (value === '') return {};
  return Object.fromEntries(
    Object.entries<Json>(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => {
        if (name === 'Attributes') return [name, plainMap(member)];
        return [name, lists.has(name) ? plainList(member) : member];
      }),
  );
}

function plainList(list: Json): Json {
  if (Array.isArray(list)) return list;
  return list === '' ? [] : [list.member].flat();
}

function plainMap({ entry: entries, ...map }: Json): Json {
  if (entries === undefined) return map;
  return Object.fromEntries([entries].flat().map(({ key, value }: Json) => [key, value]));
}

testOnce('every action has a shape, a function and a case here', () => {
  const names = Object.keys(snsActions).toSorted();
  assert.equal(names.length, 21);
  assert.deepEqual(Object.keys(snsActionFunctions).toSorted(), names);
  assert.deepEqual(Object.keys(cases).toSorted(), names);
});

for (const [action, { given, query, output, effect }] of Object.entries(cases)) {
  for (const method of ['POST', 'GET']) {
    test(`${action} by ${method}, answered as XML (1.1, 1.3, 1.4)`, async (open) => {
      const home = await open.home();
      const api = new TestApi({ backend: home.port });
      const before = await given?.(api, home);
      const parameters = { Version: '2010-03-31', ...query(before) };
      const reply = await api.query(action, parameters, { method });
      assert.equal(reply.status, 200, reply.body);
      assert.equal(reply.headers['Content-Type'], 'text/xml');
      assert.equal(reply.root, `${action}Response`);
      assert.deepEqual(reply.value.ResponseMetadata, { RequestId: requestId });
      const result = reply.value[`${action}Result`];
      if (output === undefined) assert.equal(result, undefined);
      else output(plain(result), before);
      await effect?.(api, before);
    });
  }

  test(`${action}, answered as JSON`, async (open) => {
    const home = await open.home();
    const api = new TestApi({ backend: home.port });
    const before = await given?.(api, home);
    const version = { Version: '2010-03-31', ContentType: 'JSON' };
    const form = new URLSearchParams({ Action: action, ...version, ...query(before) });
    const reply = await api.send({ method: 'GET', query: form.toString() });
    assert.equal(reply.status, 200, reply.body);
    assert.equal(reply.headers['Content-Type'], 'application/json');
    const { [`${action}Response`]: response, ...others } = JSON.parse(reply.body);
    assert.deepEqual(others, {});
    assert.deepEqual(response.ResponseMetadata, { RequestId: requestId });
    const result = response[`${action}Result`];
    if (output === undefined) assert.equal(result, undefined);
    else output(plain(result), before);
    await effect?.(api, before);
  });
}
