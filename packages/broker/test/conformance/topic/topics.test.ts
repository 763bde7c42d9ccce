/**
 * Topics themselves (§2–§4): names and ARNs, creating and finding again, attributes, tags, permissions, pages and the end
 * of a topic. What is published is not looked at here.
 */

import assert from 'node:assert/strict';
import type { Outcome } from '../../../src/core/commands.ts';
import { accepted, assertRefused, test, topicArnOf } from '../fixture.ts';

const invalid = 'InvalidParameterException';

test('the ARN of a topic consists of region, account and name (2.1)', async (open) => {
  assert.equal((await open.topic()).arn, topicArnOf('prices'));
});

test('an ARN has at least six parts, and the error text counts them (2.2)', async (open) => {
  const home = await open.home();
  const text = (count: number, name = 'TopicArn') =>
    `Invalid parameter: ${name} Reason: An ARN must have at least 6 elements, not ${count}`;
  for (const [topicArn, count] of [
    ['', 1],
    ['topic', 1],
    ['arn:aws:sns:us-east-1:1', 5],
  ] as const) {
    const outcome = await home.run({ type: 'get-topic-attributes', topicArn });
    assertRefused(outcome, invalid, text(count));
  }
  const outcome = await home.run({ type: 'unsubscribe', subscriptionArn: 'x' });
  assertRefused(outcome, invalid, text(1, 'SubscriptionArn'));
});

test('an ARN of another region names no topic (2.3)', async (open) => {
  const home = await open.home();
  const topicArn = 'arn:aws:sns:eu-west-1:000000000000:prices';
  const outcome = await home.run({ type: 'get-topic-attributes', topicArn });
  assertRefused(outcome, invalid, 'Invalid parameter: TopicArn');
});

test('an unknown topic is not found (2.4)', async (open) => {
  const outcome = await (await open.home()).run({
    type: 'get-topic-attributes',
    topicArn: topicArnOf('none'),
  });
  assertRefused(outcome, 'NotFoundException', 'Topic does not exist');
});

test('a message id is a UUID, and differs from the one the queue assigns (2.5)', async (open) => {
  const topic = await open.topic();
  const { queue } = await topic.subscribeQueue('jobs');
  const { messageId } = await topic.publish();
  assert.match(messageId, /^[0-9a-f-]{36}$/);
  assert.notEqual((await queue.receiveOne()).messageId, messageId);
});

test('a name has 1 to 256 letters, digits, hyphens and underscores (3.1)', async (open) => {
  const home = await open.home();
  for (const name of [undefined, '', 'a b', 'a.b', 'é', 'x'.repeat(257)]) {
    assertRefused(await home.tryCreateTopic(name), invalid, 'Invalid parameter: Topic Name');
  }
  await home.createTopic('x'.repeat(256));
  await home.createTopic(`${'x'.repeat(251)}.fifo`);
});

test('the suffix .fifo and FifoTopic=true require each other (3.1)', async (open) => {
  const home = await open.home();
  const create = async (name: string, FifoTopic: string) =>
    await home.run({ type: 'create-topic', name, attributes: { FifoTopic } });
  assertRefused(await create('a.fifo', 'false'), invalid, 'Invalid parameter: Topic Name');
  assertRefused(await create('a', 'true'), invalid, 'Invalid parameter: Topic Name');
  assertRefused(await create('.fifo', 'true'), invalid, 'Invalid parameter: Topic Name');
});

test('FifoTopic=false is accepted and not stored (3.2)', async (open) => {
  const topic = await open.topic({ attributes: { FifoTopic: 'false' } });
  assert.equal(Object.hasOwn(await topic.attributes(), 'FifoTopic'), false);
});

test('creating a topic again finds it if the attributes given are the same (3.3)', async (open) => {
  const topic = await open.topic({ attributes: { DisplayName: 'Prices' } });
  const { home, arn } = topic;
  assert.equal(accepted(await home.tryCreateTopic('prices')).topicArn, arn);
  assert.equal(
    accepted(await home.tryCreateTopic('prices', { DisplayName: 'Prices' })).topicArn,
    arn,
  );
  const text =
    'Invalid parameter: Attributes Reason: Topic already exists with different attributes';
  assertRefused(await home.tryCreateTopic('prices', { DisplayName: 'Other' }), invalid, text);
  assertRefused(await home.tryCreateTopic('prices', { SignatureVersion: '1' }), invalid, text);
});

test('creating a topic again with other tags is refused (3.4)', async (open) => {
  const home = await open.home();
  const create = async (...tags: { key: string; value: string }[]) =>
    await home.run({ type: 'create-topic', name: 'prices', tags });
  accepted(await create({ key: 'a', value: '1' }, { key: 'b', value: '2' }));
  accepted(await create({ key: 'b', value: '2' }));
  const text = 'Invalid parameter: Tags Reason: Topic already exists with different tags';
  assertRefused(await create({ key: 'a', value: '2' }), invalid, text);
  assertRefused(await create({ key: 'c', value: '3' }), invalid, text);
});

test('a standard topic shows eight attributes, a FIFO topic two more (3.5)', async (open) => {
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
  assert.deepEqual(Object.keys(await (await open.topic()).attributes()).sort(), standard);
  const fifo = [...standard, 'ContentBasedDeduplication', 'FifoTopic'].sort();
  const { ContentBasedDeduplication, ...shown } = await (
    await open.topic({ fifo: true })
  ).attributes();
  assert.deepEqual(Object.keys({ ContentBasedDeduplication, ...shown }).sort(), fifo);
  assert.equal(ContentBasedDeduplication, 'false');
});

test('other attributes are shown once they are set (3.5)', async (open) => {
  const topic = await open.topic({ fifo: true });
  await topic.set('FifoThroughputScope', 'MessageGroup');
  await topic.set('SQSFailureFeedbackRoleArn', 'arn:aws:iam::000000000000:role/r');
  const shown = await topic.attributes();
  assert.equal(shown['FifoThroughputScope'], 'MessageGroup');
  assert.equal(shown['SQSFailureFeedbackRoleArn'], 'arn:aws:iam::000000000000:role/r');
});

test('subscriptions are counted: confirmed, pending and deleted (3.5)', async (open) => {
  const topic = await open.topic();
  const { subscriptionArn } = await topic.subscribeQueue('jobs');
  accepted(await topic.trySubscribe({ protocol: 'http', endpoint: 'http://a.example/' }));
  const counts = async () => {
    const shown = await topic.attributes();
    return ['Confirmed', 'Pending', 'Deleted'].map((name) => shown[`Subscriptions${name}`]);
  };
  assert.deepEqual(await counts(), ['1', '1', '0']);
  accepted(await topic.home.run({ type: 'unsubscribe', subscriptionArn }));
  assert.deepEqual(await counts(), ['0', '1', '1']);
});

test('the default policy allows the owner eight actions (3.6)', async (open) => {
  const { Policy = '' } = await (await open.topic()).attributes();
  const { Version, Id, Statement } = JSON.parse(Policy);
  assert.deepEqual([Version, Id], ['2008-10-17', '__default_policy_ID']);
  assert.equal(Statement[0].Action.length, 8);
  assert.equal(Statement[0].Action[7], 'SNS:Publish');
  assert.deepEqual(Statement[0].Condition, {
    StringEquals: { 'AWS:SourceOwner': '000000000000' },
  });
});

test('a Policy that is not written in the policy language is refused, when set and at creation (3.6)', async (open) => {
  const topic = await open.topic();
  const allow = { Effect: 'Allow', Principal: '*', Action: 'SNS:Publish' };
  const set = async (Policy: object | string) =>
    await topic.trySet('Policy', typeof Policy === 'string' ? Policy : JSON.stringify(Policy));
  accepted(await set({ Statement: [allow] }));
  const text = 'Invalid parameter: Policy Error: Effect is not one of Allow, Deny';
  const Policy = { Statement: [{ ...allow, Effect: 'deny' }] };
  assertRefused(await set(Policy), invalid, text);
  const attributes = { Policy: JSON.stringify(Policy) };
  assertRefused(
    await topic.home.run({ type: 'create-topic', name: 'other', attributes }),
    invalid,
    text,
  );
  const unknown = 'Invalid parameter: Policy Error: the condition operator constructor is unknown';
  const Condition = { constructor: { 'aws:SourceArn': 'x' } };
  assertRefused(await set({ Statement: { ...allow, Condition } }), invalid, unknown);
  assertRefused(await set('{'), invalid, 'Invalid parameter: Policy Error: Policy is not JSON');
  assert.equal((await topic.attributes())['Policy'], JSON.stringify({ Statement: [allow] }));
});

test('the default delivery policy retries three times, 20 seconds apart (3.7)', async (open) => {
  const { EffectiveDeliveryPolicy = '' } = await (await open.topic()).attributes();
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

test('a delivery policy is replaced as a whole, and removed by an empty text (3.8)', async (open) => {
  const topic = await open.topic();
  await topic.set('DeliveryPolicy', '{"http":{"defaultHealthyRetryPolicy":{"numRetries":5}}}');
  await topic.set('DeliveryPolicy', '{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":10}}}');
  const { DeliveryPolicy = '', EffectiveDeliveryPolicy = '' } = await topic.attributes();
  assert.equal(JSON.parse(DeliveryPolicy).http.disableSubscriptionOverrides, false);
  const { numRetries, minDelayTarget } =
    JSON.parse(EffectiveDeliveryPolicy).http.defaultHealthyRetryPolicy;
  assert.deepEqual([numRetries, minDelayTarget], [3, 10]);
  await topic.set('DeliveryPolicy', '');
  assert.equal(Object.hasOwn(await topic.attributes(), 'DeliveryPolicy'), false);
});

test('a delivery policy is shown in the order of AWS, without null members (3.8)', async (open) => {
  const topic = await open.topic();
  const shownFor = async (http: object): Promise<unknown> => {
    await topic.set('DeliveryPolicy', JSON.stringify({ http }));
    return (await topic.attributes())['DeliveryPolicy'];
  };
  const request = { defaultRequestPolicy: { headerContentType: 'application/json' } };
  const retry = { defaultHealthyRetryPolicy: { numRetries: 2, minDelayTarget: 7 } };
  assert.equal(
    await shownFor({ ...request, ...retry }),
    '{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":7,"numRetries":2},"disableSubscriptionOverrides":false,"defaultRequestPolicy":{"headerContentType":"application/json"}}}',
  );
  assert.equal(
    await shownFor({ defaultHealthyRetryPolicy: null }),
    '{"http":{"disableSubscriptionOverrides":false}}',
  );
});

test('a delivery policy out of bounds is refused (3.8)', async (open) => {
  const topic = await open.topic();
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
    assertRefused(await topic.trySet('DeliveryPolicy', policy), invalid);
  }
  assertRefused(await topic.trySet('DeliveryPolicy', 'no'), invalid);
});

test('FifoTopic and unknown attributes cannot be set (3.9)', async (open) => {
  const topic = await open.topic({ fifo: true });
  for (const name of ['FifoTopic', 'Colour', 'TopicArn']) {
    assertRefused(await topic.trySet(name, 'true'), invalid, 'Invalid parameter: AttributeName');
  }
});

test('FifoThroughputScope cannot go back to Topic (3.9)', async (open) => {
  const topic = await open.topic({ fifo: true });
  await topic.set('FifoThroughputScope', 'Topic');
  await topic.set('FifoThroughputScope', 'MessageGroup');
  assertRefused(await topic.trySet('FifoThroughputScope', 'Topic'), invalid);
});

test('attributes of FIFO topics are refused on standard topics (3.9)', async (open) => {
  const topic = await open.topic();
  assertRefused(await topic.trySet('ContentBasedDeduplication', 'true'), invalid);
  assertRefused(await topic.home.tryCreateTopic('b', { ArchivePolicy: '{}' }), invalid);
});

test('MaximumMessageSize is 1024 to 1048576, and above 262144 only queues can subscribe (3.10)', async (open) => {
  const topic = await open.topic();
  assertRefused(await topic.trySet('MaximumMessageSize', '1023'), invalid);
  assertRefused(await topic.trySet('MaximumMessageSize', '1048577'), invalid);
  await topic.set('MaximumMessageSize', '262145');
  const outcome = await topic.trySubscribe({ protocol: 'http', endpoint: 'http://a.example/' });
  const text =
    'Invalid parameter: MaximumMessageSize Reason: Above 262144 a topic has up to 100 subscriptions, of sqs';
  assertRefused(outcome, invalid, text);
  for (let at = 0; at < 100; at += 1) await topic.subscribeQueue(`jobs-${at}`);
  assertRefused(
    await topic.trySubscribe({ endpoint: (await topic.home.createQueue('more')).arn }),
    invalid,
    text,
  );
  const other = await topic.home.createTopic('other');
  accepted(await other.trySubscribe({ protocol: 'http', endpoint: 'http://a.example/' }));
  assertRefused(await other.trySet('MaximumMessageSize', '262145'), invalid);
});

test('a deleted topic is gone with its subscriptions, and deleting is idempotent (3.11)', async (open) => {
  const topic = await open.topic();
  const { subscriptionArn } = await topic.subscribeQueue('jobs');
  const remove = async () => await topic.home.run({ type: 'delete-topic', topicArn: topic.arn });
  accepted(await remove());
  accepted(await remove());
  const outcome = await topic.home.run({ type: 'get-subscription-attributes', subscriptionArn });
  assertRefused(outcome, 'NotFoundException', 'Subscription does not exist');
  assertRefused(await topic.tryPublish(), 'NotFoundException');
});

test('topics are listed in pages of 100 (3.12)', async (open) => {
  const home = await open.home();
  for (let at = 0; at < 101; at += 1) await home.createTopic(`t${String(at).padStart(3, '0')}`);
  const first = accepted(await home.run({ type: 'list-topics' }));
  assert.deepEqual([first.topics.length, first.next], [100, 't099']);
  const last = accepted(await home.run({ type: 'list-topics', after: first.next }));
  assert.deepEqual([last.topics.map(({ name }) => name), last.next], [['t100'], undefined]);
});

test('tags overwrite equal keys, and a key repeated in a request is refused (4.1)', async (open) => {
  const { home, arn: resourceArn } = await open.topic();
  const tag = async (...tags: { key: string; value: string }[]) =>
    await home.run({ type: 'tag-topic', resourceArn, tags });
  accepted(await tag({ key: 'a', value: '1' }));
  accepted(await tag({ key: 'a', value: '2' }, { key: 'b', value: '3' }));
  accepted(await home.run({ type: 'untag-topic', resourceArn, keys: ['b', 'c'] }));
  const { tags } = accepted(await home.run({ type: 'list-topic-tags', resourceArn }));
  assert.deepEqual(tags, [{ key: 'a', value: '2' }]);
  const twice = await tag({ key: 'x', value: '1' }, { key: 'x', value: '2' });
  assertRefused(twice, invalid, 'Invalid parameter: Duplicated keys are not allowed.');
});

test('a topic has up to 50 tags (4.1)', async (open) => {
  const { home, arn: resourceArn } = await open.topic();
  const tags = Array.from({ length: 51 }, (_, at) => ({ key: `k${at}`, value: '' }));
  const tag = async (from: number, to: number) =>
    await home.run({ type: 'tag-topic', resourceArn, tags: tags.slice(from, to) });
  assertRefused(await tag(0, 51), 'TagLimitExceededException');
  accepted(await tag(0, 50));
  assertRefused(await tag(50, 51), 'TagLimitExceededException');
  const unknown = await home.run({ type: 'list-topic-tags', resourceArn: topicArnOf('none') });
  assertRefused(unknown, 'ResourceNotFoundException', 'Resource does not exist');
});

test('a permission becomes a statement of the policy and can be removed (4.2)', async (open) => {
  const topic = await open.topic();
  const permit = async (label: string, actions: string[], accounts = ['111111111111']) =>
    await topic.home.run({
      type: 'add-topic-permission',
      topicArn: topic.arn,
      label,
      accounts,
      actions,
    });
  accepted(await permit('one', ['Publish']));
  accepted(await permit('two', ['Publish', 'Subscribe'], ['111111111111', '222222222222']));
  const statements = async () => JSON.parse((await topic.attributes())['Policy'] ?? '').Statement;
  assert.deepEqual((await statements())[1], {
    Sid: 'one',
    Effect: 'Allow',
    Principal: { AWS: 'arn:aws:iam::111111111111:root' },
    Action: 'SNS:Publish',
    Resource: topic.arn,
  });
  assert.equal((await statements())[2].Action.length, 2);
  const label = 'one';
  accepted(await topic.home.run({ type: 'remove-topic-permission', topicArn: topic.arn, label }));
  assert.deepEqual(
    (await statements()).map(({ Sid }: { Sid: string }) => Sid),
    ['__default_statement_ID', 'two'],
  );
});

test('a label is used once, and actions must be those of topics (4.3)', async (open) => {
  const topic = await open.topic();
  const permit = async (label: string, action: string) =>
    await topic.home.run({
      type: 'add-topic-permission',
      topicArn: topic.arn,
      label,
      accounts: ['111111111111'],
      actions: [action],
    });
  accepted(await permit('one', 'Receive'));
  assertRefused(
    await permit('one', 'Publish'),
    invalid,
    'Invalid parameter: Statement already exists',
  );
  assertRefused(
    await permit('two', 'Fly'),
    invalid,
    'Invalid parameter: Policy statement action out of service scope!',
  );
});

test('a data protection policy has up to 30,720 characters (4.4)', async (open) => {
  const topic = await open.topic();
  const put = async (policy: string): Promise<Outcome<'put-data-protection'>> =>
    await topic.home.run({ type: 'put-data-protection', resourceArn: topic.arn, policy });
  accepted(await put('x'.repeat(30_720)));
  const text = 'Invalid parameter: DataProtectionPolicy Reason: It can have up to 30720 characters';
  assertRefused(await put('x'.repeat(30_721)), 'InvalidParameterException', text);
});

test('a data protection policy is stored and returned, and not shown elsewhere (4.4)', async (open) => {
  const topic = await open.topic();
  const resourceArn = topic.arn;
  const policy = '{"Name":"p"}';
  accepted(await topic.home.run({ type: 'put-data-protection', resourceArn, policy }));
  const read = accepted(await topic.home.run({ type: 'get-data-protection', resourceArn }));
  assert.equal(read.policy, policy);
  assert.equal(JSON.stringify(await topic.attributes()).includes('"p"'), false);
});
