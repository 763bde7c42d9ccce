/**
 * Topics themselves (§2–§4): names and ARNs, creating and finding again, attributes, tags, permissions, pages and the end
 * of a topic. What is published is not looked at here.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../../src/core/commands.ts';
import { accepted, assertRefused } from '../fixture.ts';
import { openTopic, openTopics, topicArnOf } from './fixture.ts';

const invalid = 'InvalidParameterException';

test('the ARN of a topic consists of region, account and name (2.1)', () => {
  assert.equal(openTopic().arn, topicArnOf('prices'));
});

test('an ARN has at least six parts, and the error text counts them (2.2)', () => {
  const home = openTopics();
  const text = (count: number, name = 'TopicArn') =>
    `Invalid parameter: ${name} Reason: An ARN must have at least 6 elements, not ${count}`;
  for (const [topicArn, count] of [
    ['', 1],
    ['topic', 1],
    ['arn:aws:sns:us-east-1:1', 5],
  ] as const) {
    const outcome = home.apply({ type: 'get-topic-attributes', topicArn });
    assertRefused(outcome, invalid, text(count));
  }
  const outcome = home.apply({ type: 'unsubscribe', subscriptionArn: 'x' });
  assertRefused(outcome, invalid, text(1, 'SubscriptionArn'));
});

test('an ARN of another region names no topic (2.3)', () => {
  const home = openTopics();
  const topicArn = 'arn:aws:sns:eu-west-1:000000000000:prices';
  const outcome = home.apply({ type: 'get-topic-attributes', topicArn });
  assertRefused(outcome, invalid, 'Invalid parameter: TopicArn');
});

test('an unknown topic is not found (2.4)', () => {
  const outcome = openTopics().apply({
    type: 'get-topic-attributes',
    topicArn: topicArnOf('none'),
  });
  assertRefused(outcome, 'NotFoundException', 'Topic does not exist');
});

test('a message id is a UUID, and differs from the one the queue assigns (2.5)', () => {
  const topic = openTopic();
  const { queue } = topic.subscribeQueue('jobs');
  const { messageId } = topic.publish();
  assert.match(messageId, /^[0-9a-f-]{36}$/);
  assert.notEqual(queue.receiveOne().messageId, messageId);
});

test('a name has 1 to 256 letters, digits, hyphens and underscores (3.1)', () => {
  const home = openTopics();
  for (const name of [undefined, '', 'a b', 'a.b', 'é', 'x'.repeat(257)]) {
    assertRefused(home.tryCreateTopic(name), invalid, 'Invalid parameter: Topic Name');
  }
  home.createTopic('x'.repeat(256));
  home.createTopic(`${'x'.repeat(251)}.fifo`);
});

test('the suffix .fifo and FifoTopic=true require each other (3.1)', () => {
  const home = openTopics();
  const create = (name: string, FifoTopic: string) =>
    home.apply({ type: 'create-topic', name, attributes: { FifoTopic } });
  assertRefused(create('a.fifo', 'false'), invalid, 'Invalid parameter: Topic Name');
  assertRefused(create('a', 'true'), invalid, 'Invalid parameter: Topic Name');
  assertRefused(create('.fifo', 'true'), invalid, 'Invalid parameter: Topic Name');
});

test('FifoTopic=false is accepted and not stored (3.2)', () => {
  const topic = openTopic({ attributes: { FifoTopic: 'false' } });
  assert.equal(Object.hasOwn(topic.attributes(), 'FifoTopic'), false);
});

test('creating a topic again finds it if the attributes given are the same (3.3)', () => {
  const topic = openTopic({ attributes: { DisplayName: 'Prices' } });
  const { home, arn } = topic;
  assert.equal(accepted(home.tryCreateTopic('prices')).topicArn, arn);
  assert.equal(accepted(home.tryCreateTopic('prices', { DisplayName: 'Prices' })).topicArn, arn);
  const text =
    'Invalid parameter: Attributes Reason: Topic already exists with different attributes';
  assertRefused(home.tryCreateTopic('prices', { DisplayName: 'Other' }), invalid, text);
  assertRefused(home.tryCreateTopic('prices', { SignatureVersion: '1' }), invalid, text);
});

test('creating a topic again with other tags is refused (3.4)', () => {
  const home = openTopics();
  const create = (...tags: { key: string; value: string }[]) =>
    home.apply({ type: 'create-topic', name: 'prices', tags });
  accepted(create({ key: 'a', value: '1' }, { key: 'b', value: '2' }));
  accepted(create({ key: 'b', value: '2' }));
  const text = 'Invalid parameter: Tags Reason: Topic already exists with different tags';
  assertRefused(create({ key: 'a', value: '2' }), invalid, text);
  assertRefused(create({ key: 'c', value: '3' }), invalid, text);
});

test('a standard topic shows eight attributes, a FIFO topic two more (3.5)', () => {
  const standard = [
    'DisplayName',
    'EffectiveDeliveryPolicy',
    'Owner',
    'Policy',
    'SubscriptionsConfirmed',
    'SubscriptionsDeleted',
    'SubscriptionsPending',
    'TopicArn',
  ];
  assert.deepEqual(Object.keys(openTopic().attributes()).sort(), standard);
  const fifo = [...standard, 'ContentBasedDeduplication', 'FifoTopic'].sort();
  const { ContentBasedDeduplication, ...shown } = openTopic({ fifo: true }).attributes();
  assert.deepEqual(Object.keys({ ContentBasedDeduplication, ...shown }).sort(), fifo);
  assert.equal(ContentBasedDeduplication, 'false');
});

test('other attributes are shown once they are set (3.5)', () => {
  const topic = openTopic({ fifo: true });
  topic.set('FifoThroughputScope', 'MessageGroup');
  topic.set('SQSFailureFeedbackRoleArn', 'arn:aws:iam::000000000000:role/r');
  const shown = topic.attributes();
  assert.equal(shown['FifoThroughputScope'], 'MessageGroup');
  assert.equal(shown['SQSFailureFeedbackRoleArn'], 'arn:aws:iam::000000000000:role/r');
});

test('subscriptions are counted: confirmed, pending and deleted (3.5)', () => {
  const topic = openTopic();
  const { subscriptionArn } = topic.subscribeQueue('jobs');
  accepted(topic.trySubscribe({ protocol: 'http', endpoint: 'http://a.example/' }));
  const counts = () => {
    const shown = topic.attributes();
    return ['Confirmed', 'Pending', 'Deleted'].map((name) => shown[`Subscriptions${name}`]);
  };
  assert.deepEqual(counts(), ['1', '1', '0']);
  accepted(topic.home.apply({ type: 'unsubscribe', subscriptionArn }));
  assert.deepEqual(counts(), ['0', '1', '1']);
});

test('the default policy allows the owner eight actions (3.6)', () => {
  const { Policy = '' } = openTopic().attributes();
  const { Version, Id, Statement } = JSON.parse(Policy);
  assert.deepEqual([Version, Id], ['2008-10-17', '__default_policy_ID']);
  assert.equal(Statement[0].Action.length, 8);
  assert.equal(Statement[0].Action[7], 'SNS:Publish');
  assert.deepEqual(Statement[0].Condition, {
    StringEquals: { 'AWS:SourceOwner': '000000000000' },
  });
});

test('a Policy that is not written in the policy language is refused, when set and at creation (3.6)', () => {
  const topic = openTopic();
  const allow = { Effect: 'Allow', Principal: '*', Action: 'SNS:Publish' };
  const set = (Policy: object | string) =>
    topic.trySet('Policy', typeof Policy === 'string' ? Policy : JSON.stringify(Policy));
  accepted(set({ Statement: [allow] }));
  const text = 'Invalid parameter: Policy Error: Effect is not one of Allow, Deny';
  const Policy = { Statement: [{ ...allow, Effect: 'deny' }] };
  assertRefused(set(Policy), invalid, text);
  const attributes = { Policy: JSON.stringify(Policy) };
  assertRefused(
    topic.home.apply({ type: 'create-topic', name: 'other', attributes }),
    invalid,
    text,
  );
  const unknown = 'Invalid parameter: Policy Error: the condition operator constructor is unknown';
  const Condition = { constructor: { 'aws:SourceArn': 'x' } };
  assertRefused(set({ Statement: { ...allow, Condition } }), invalid, unknown);
  assertRefused(set('{'), invalid, 'Invalid parameter: Policy Error: Policy is not JSON');
  assert.equal(topic.attributes()['Policy'], JSON.stringify({ Statement: [allow] }));
});

test('the default delivery policy retries three times, 20 seconds apart (3.7)', () => {
  const { EffectiveDeliveryPolicy = '' } = openTopic().attributes();
  assert.deepEqual(JSON.parse(EffectiveDeliveryPolicy), {
    http: {
      defaultHealthyRetryPolicy: {
        minDelayTarget: 20,
        maxDelayTarget: 20,
        numRetries: 3,
        numMaxDelayRetries: 0,
        numNoDelayRetries: 0,
        numMinDelayRetries: 0,
        backoffFunction: 'linear',
      },
      disableSubscriptionOverrides: false,
      defaultRequestPolicy: { headerContentType: 'text/plain; charset=UTF-8' },
    },
  });
});

test('a delivery policy is replaced as a whole, and removed by an empty text (3.8)', () => {
  const topic = openTopic();
  topic.set('DeliveryPolicy', '{"http":{"defaultHealthyRetryPolicy":{"numRetries":5}}}');
  topic.set('DeliveryPolicy', '{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":10}}}');
  const { DeliveryPolicy = '', EffectiveDeliveryPolicy = '' } = topic.attributes();
  assert.equal(JSON.parse(DeliveryPolicy).http.disableSubscriptionOverrides, false);
  const { numRetries, minDelayTarget } =
    JSON.parse(EffectiveDeliveryPolicy).http.defaultHealthyRetryPolicy;
  assert.deepEqual([numRetries, minDelayTarget], [3, 10]);
  topic.set('DeliveryPolicy', '');
  assert.equal(Object.hasOwn(topic.attributes(), 'DeliveryPolicy'), false);
});

test('a delivery policy is shown in the order of AWS, without null members (3.8)', () => {
  const topic = openTopic();
  const shownFor = (http: object): unknown => {
    topic.set('DeliveryPolicy', JSON.stringify({ http }));
    return topic.attributes()['DeliveryPolicy'];
  };
  const request = { defaultRequestPolicy: { headerContentType: 'application/json' } };
  const retry = { defaultHealthyRetryPolicy: { numRetries: 2, minDelayTarget: 7 } };
  assert.equal(
    shownFor({ ...request, ...retry }),
    '{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":7,"numRetries":2},"disableSubscriptionOverrides":false,"defaultRequestPolicy":{"headerContentType":"application/json"}}}',
  );
  assert.equal(
    shownFor({ defaultHealthyRetryPolicy: null }),
    '{"http":{"disableSubscriptionOverrides":false}}',
  );
});

test('a delivery policy out of bounds is refused (3.8)', () => {
  const topic = openTopic();
  for (const retry of [
    '{"numRetries":101}',
    '{"minDelayTarget":0}',
    '{"minDelayTarget":30}',
    '{"maxDelayTarget":3601}',
    '{"backoffFunction":"wild"}',
    '{"backoffFunction":["linear"]}',
    '{"backoffFunction":{"toString":"linear"}}',
    '{"numRetries":1,"numNoDelayRetries":2}',
  ]) {
    const policy = `{"http":{"defaultHealthyRetryPolicy":${retry}}}`;
    assertRefused(topic.trySet('DeliveryPolicy', policy), invalid);
  }
  assertRefused(topic.trySet('DeliveryPolicy', 'no'), invalid);
});

test('FifoTopic and unknown attributes cannot be set (3.9)', () => {
  const topic = openTopic({ fifo: true });
  for (const name of ['FifoTopic', 'Colour', 'TopicArn']) {
    assertRefused(topic.trySet(name, 'true'), invalid, 'Invalid parameter: AttributeName');
  }
});

test('FifoThroughputScope cannot go back to Topic (3.9)', () => {
  const topic = openTopic({ fifo: true });
  topic.set('FifoThroughputScope', 'Topic');
  topic.set('FifoThroughputScope', 'MessageGroup');
  assertRefused(topic.trySet('FifoThroughputScope', 'Topic'), invalid);
});

test('attributes of FIFO topics are refused on standard topics (3.9)', () => {
  const topic = openTopic();
  assertRefused(topic.trySet('ContentBasedDeduplication', 'true'), invalid);
  assertRefused(topic.home.tryCreateTopic('b', { ArchivePolicy: '{}' }), invalid);
});

test('MaximumMessageSize is 1024 to 1048576, and above 262144 only queues can subscribe (3.10)', () => {
  const topic = openTopic();
  assertRefused(topic.trySet('MaximumMessageSize', '1023'), invalid);
  assertRefused(topic.trySet('MaximumMessageSize', '1048577'), invalid);
  topic.set('MaximumMessageSize', '262145');
  const outcome = topic.trySubscribe({ protocol: 'http', endpoint: 'http://a.example/' });
  const text =
    'Invalid parameter: MaximumMessageSize Reason: Above 262144 a topic has up to 100 subscriptions, of sqs';
  assertRefused(outcome, invalid, text);
  for (let at = 0; at < 100; at += 1) topic.subscribeQueue(`jobs-${at}`);
  assertRefused(
    topic.trySubscribe({ endpoint: topic.home.createQueue('more').arn }),
    invalid,
    text,
  );
  const other = topic.home.createTopic('other');
  accepted(other.trySubscribe({ protocol: 'http', endpoint: 'http://a.example/' }));
  assertRefused(other.trySet('MaximumMessageSize', '262145'), invalid);
});

test('a deleted topic is gone with its subscriptions, and deleting is idempotent (3.11)', () => {
  const topic = openTopic();
  const { subscriptionArn } = topic.subscribeQueue('jobs');
  const remove = () => topic.home.apply({ type: 'delete-topic', topicArn: topic.arn });
  accepted(remove());
  accepted(remove());
  const outcome = topic.home.apply({ type: 'get-subscription-attributes', subscriptionArn });
  assertRefused(outcome, 'NotFoundException', 'Subscription does not exist');
  assertRefused(topic.tryPublish(), 'NotFoundException');
});

test('topics are listed in pages of 100 (3.12)', () => {
  const home = openTopics();
  for (let at = 0; at < 101; at += 1) home.createTopic(`t${String(at).padStart(3, '0')}`);
  const first = accepted(home.apply({ type: 'list-topics' }));
  assert.deepEqual([first.topics.length, first.next], [100, 't099']);
  const last = accepted(home.apply({ type: 'list-topics', after: first.next }));
  assert.deepEqual([last.topics.map(({ name }) => name), last.next], [['t100'], undefined]);
});

test('tags overwrite equal keys, and a key repeated in a request is refused (4.1)', () => {
  const { home, arn: resourceArn } = openTopic();
  const tag = (...tags: { key: string; value: string }[]) =>
    home.apply({ type: 'tag-topic', resourceArn, tags });
  accepted(tag({ key: 'a', value: '1' }));
  accepted(tag({ key: 'a', value: '2' }, { key: 'b', value: '3' }));
  accepted(home.apply({ type: 'untag-topic', resourceArn, keys: ['b', 'c'] }));
  const { tags } = accepted(home.apply({ type: 'list-topic-tags', resourceArn }));
  assert.deepEqual(tags, [{ key: 'a', value: '2' }]);
  const twice = tag({ key: 'x', value: '1' }, { key: 'x', value: '2' });
  assertRefused(twice, invalid, 'Invalid parameter: Duplicated keys are not allowed.');
});

test('a topic has up to 50 tags (4.1)', () => {
  const { home, arn: resourceArn } = openTopic();
  const tags = Array.from({ length: 51 }, (_, at) => ({ key: `k${at}`, value: '' }));
  const tag = (from: number, to: number) =>
    home.apply({ type: 'tag-topic', resourceArn, tags: tags.slice(from, to) });
  assertRefused(tag(0, 51), 'TagLimitExceededException');
  accepted(tag(0, 50));
  assertRefused(tag(50, 51), 'TagLimitExceededException');
  const unknown = home.apply({ type: 'list-topic-tags', resourceArn: topicArnOf('none') });
  assertRefused(unknown, 'ResourceNotFoundException', 'Resource does not exist');
});

test('a permission becomes a statement of the policy and can be removed (4.2)', () => {
  const topic = openTopic();
  const permit = (label: string, actions: string[], accounts = ['111111111111']) =>
    topic.home.apply({
      type: 'add-topic-permission',
      topicArn: topic.arn,
      label,
      accounts,
      actions,
    });
  accepted(permit('one', ['Publish']));
  accepted(permit('two', ['Publish', 'Subscribe'], ['111111111111', '222222222222']));
  const statements = () => JSON.parse(topic.attributes()['Policy'] ?? '').Statement;
  assert.deepEqual(statements()[1], {
    Sid: 'one',
    Effect: 'Allow',
    Principal: { AWS: 'arn:aws:iam::111111111111:root' },
    Action: 'SNS:Publish',
    Resource: topic.arn,
  });
  assert.equal(statements()[2].Action.length, 2);
  const label = 'one';
  accepted(topic.home.apply({ type: 'remove-topic-permission', topicArn: topic.arn, label }));
  assert.deepEqual(
    statements().map(({ Sid }: { Sid: string }) => Sid),
    ['__default_statement_ID', 'two'],
  );
});

test('a label is used once, and actions must be those of topics (4.3)', () => {
  const topic = openTopic();
  const permit = (label: string, action: string) =>
    topic.home.apply({
      type: 'add-topic-permission',
      topicArn: topic.arn,
      label,
      accounts: ['111111111111'],
      actions: [action],
    });
  accepted(permit('one', 'Receive'));
  assertRefused(permit('one', 'Publish'), invalid, 'Invalid parameter: Statement already exists');
  assertRefused(
    permit('two', 'Fly'),
    invalid,
    'Invalid parameter: Policy statement action out of service scope!',
  );
});

test('a data protection policy has up to 30,720 characters (4.4)', () => {
  const topic = openTopic();
  const put = (policy: string): Outcome<'put-data-protection'> =>
    topic.home.apply({ type: 'put-data-protection', resourceArn: topic.arn, policy });
  accepted(put('x'.repeat(30_720)));
  const text = 'Invalid parameter: DataProtectionPolicy Reason: It can have up to 30720 characters';
  assertRefused(put('x'.repeat(30_721)), 'InvalidParameterException', text);
});

test('a data protection policy is stored and returned, and not shown elsewhere (4.4)', () => {
  const topic = openTopic();
  const resourceArn = topic.arn;
  const policy = '{"Name":"p"}';
  accepted(topic.home.apply({ type: 'put-data-protection', resourceArn, policy }));
  const read = accepted(topic.home.apply({ type: 'get-data-protection', resourceArn }));
  assert.equal(read.policy, policy);
  assert.equal(JSON.stringify(topic.attributes()).includes('"p"'), false);
});
