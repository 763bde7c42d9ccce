/**
 * Subscriptions (§5): protocols and endpoints, confirmation, attributes, lists and the end of a subscription. Filter
 * policies have their own file.
 */

import assert from 'node:assert/strict';
import { accepted, arnOf, assertRefused, test } from '../fixture.ts';

const invalid = 'InvalidParameterException';
const endpoint = 'http://a.example/in';

test('an unknown protocol is refused (5.1)', async (open) => {
  const outcome = await (await open.topic()).trySubscribe({ protocol: 'pigeon', endpoint: 'x' });
  assertRefused(
    outcome,
    invalid,
    'Invalid parameter: Amazon SNS does not support this protocol string: pigeon',
  );
});

test('a protocol that only AWS delivers to is refused as unsupported (5.1)', async (open) => {
  const topic = await open.topic();
  for (const protocol of ['email', 'email-json', 'sms', 'application', 'lambda', 'firehose']) {
    const text = `Invalid parameter: Protocol Reason: OnceMQ delivers to sqs, http and https, not to ${protocol}`;
    assertRefused(await topic.trySubscribe({ protocol, endpoint: 'x' }), invalid, text);
  }
});

test('a queue is given by its ARN and need not exist (5.2)', async (open) => {
  const topic = await open.topic();
  for (const wrong of ['jobs', 'http://host/000000000000/jobs', 'arn:aws:sns:us-east-1:0:x']) {
    assertRefused(
      await topic.trySubscribe({ endpoint: wrong }),
      invalid,
      'Invalid parameter: SQS endpoint ARN',
    );
  }
  accepted(await topic.trySubscribe({ endpoint: arnOf('later') }));
});

test('a FIFO queue cannot be subscribed to a standard topic (5.3)', async (open) => {
  assertRefused(
    await (await open.topic()).trySubscribe({ endpoint: arnOf('jobs.fifo') }),
    invalid,
    'Invalid parameter: Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics',
  );
});

test('a FIFO topic accepts only queues, of both types (5.3, 5.4)', async (open) => {
  const topic = await open.topic({ fifo: true });
  accepted(await topic.trySubscribe({ endpoint: arnOf('jobs') }));
  accepted(await topic.trySubscribe({ endpoint: arnOf('jobs.fifo') }));
  for (const protocol of ['sms', 'http', 'https']) {
    const text = `Invalid parameter: Invalid protocol type: ${protocol}`;
    assertRefused(await topic.trySubscribe({ protocol, endpoint }), invalid, text);
  }
});

test('a queue is confirmed at once, an HTTP endpoint is asked to confirm (5.5)', async (open) => {
  const topic = await open.topic();
  assert.ok(accepted(await topic.trySubscribe({ endpoint: arnOf('jobs') })).isConfirmed);
  const http = accepted(await topic.trySubscribe({ protocol: 'http', endpoint }));
  assert.equal(http.isConfirmed, false);
  await topic.home.advance(0);
  const [posted] = topic.home.posted;
  assert.equal(posted?.headers['x-amz-sns-message-type'], 'SubscriptionConfirmation');
  const body = JSON.parse(posted?.body ?? '');
  assert.deepEqual(Object.keys(body), [
    'Type',
    'MessageId',
    'Token',
    'TopicArn',
    'Message',
    'SubscribeURL',
    'Timestamp',
  ]);
  assert.ok(body.SubscribeURL.includes(`Token=${body.Token}`));
});

test('an endpoint must match its protocol (5.5)', async (open) => {
  const topic = await open.topic();
  for (const wrong of ['https://a.example/', 'a.example', 'http://', 'http:// x']) {
    assertRefused(
      await topic.trySubscribe({ protocol: 'http', endpoint: wrong }),
      invalid,
      'Invalid parameter: Endpoint must match the specified protocol',
    );
  }
});

test('an unconfirmed endpoint gets nothing and is forgotten after two days (5.5)', async (open) => {
  const topic = await open.topic();
  accepted(await topic.trySubscribe({ protocol: 'http', endpoint }));
  await topic.publish();
  await topic.home.advance(2 * 86_400 - 1);
  assert.equal((await topic.attributes())['SubscriptionsPending'], '1');
  await topic.home.advance(1);
  assert.equal((await topic.attributes())['SubscriptionsPending'], '0');
  assert.equal(topic.home.posted.length, 1);
});

test('subscribing again finds the subscription if the attributes given are the same (5.6)', async (open) => {
  const topic = await open.topic();
  const again = async (attributes: Record<string, string>) =>
    await topic.trySubscribe({ endpoint: arnOf('jobs'), attributes });
  const { subscriptionArn } = accepted(await again({ RawMessageDelivery: 'true' }));
  for (const attributes of [
    {},
    { RawMessageDelivery: 'TRUE' },
    { FilterPolicyScope: 'MessageAttributes' },
  ]) {
    assert.equal(accepted(await again(attributes)).subscriptionArn, subscriptionArn);
  }
  const text =
    'Invalid parameter: Attributes Reason: Subscription already exists with different attributes';
  assertRefused(await again({ RawMessageDelivery: 'false' }), invalid, text);
  assertRefused(await again({ FilterPolicy: '{"a":["b"]}' }), invalid, text);
});

test('subscribing again finds the subscription whatever the whitespace of its delivery policy (5.6)', async (open) => {
  const topic = await open.topic();
  const DeliveryPolicy = '{ "healthyRetryPolicy": { "numRetries": 5 } }';
  const target = {
    protocol: 'http',
    endpoint: 'http://a.example/',
    attributes: { DeliveryPolicy },
  };
  const { subscriptionArn } = accepted(await topic.trySubscribe(target));
  assert.equal(accepted(await topic.trySubscribe(target)).subscriptionArn, subscriptionArn);
});

test('a subscription shows nine attributes, and a filter policy with its scope (5.7)', async (open) => {
  const topic = await open.topic();
  const { subscriptionArn } = await topic.subscribeQueue('jobs', {
    RawMessageDelivery: 'false',
    FilterPolicyScope: 'MessageBody',
  });
  assert.deepEqual(await topic.attributesOf(subscriptionArn), {
    ConfirmationWasAuthenticated: 'true',
    Endpoint: arnOf('jobs'),
    Owner: '000000000000',
    PendingConfirmation: 'false',
    Protocol: 'sqs',
    RawMessageDelivery: 'false',
    SubscriptionArn: subscriptionArn,
    SubscriptionPrincipal: 'arn:aws:iam::000000000000:root',
    TopicArn: topic.arn,
  });
  accepted(await topic.trySetOn(subscriptionArn, 'FilterPolicy', '{"a":["b"]}'));
  const { FilterPolicy, FilterPolicyScope } = await topic.attributesOf(subscriptionArn);
  assert.deepEqual([FilterPolicy, FilterPolicyScope], ['{"a":["b"]}', 'MessageBody']);
});

test('an HTTP subscription shows its effective delivery policy (5.7)', async (open) => {
  const topic = await open.topic();
  const attributes = { DeliveryPolicy: '{"healthyRetryPolicy":{"numRetries":1}}' };
  const { subscriptionArn } = accepted(
    await topic.trySubscribe({ protocol: 'http', endpoint, attributes }),
  );
  const { EffectiveDeliveryPolicy = '' } = await topic.attributesOf(subscriptionArn);
  assert.equal(JSON.parse(EffectiveDeliveryPolicy).healthyRetryPolicy.numRetries, 1);
});

test('the delivery policy of a subscription is shown with every member, in the order of AWS (5.7)', async (open) => {
  const topic = await open.topic();
  const policy = {
    throttlePolicy: { maxReceivesPerSecond: 9 },
    healthyRetryPolicy: { numRetries: 0, minDelayTarget: 4 },
  };
  const attributes = { DeliveryPolicy: JSON.stringify(policy) };
  const { subscriptionArn } = accepted(
    await topic.trySubscribe({ protocol: 'http', endpoint, attributes }),
  );
  const { DeliveryPolicy, EffectiveDeliveryPolicy = '' } =
    await topic.attributesOf(subscriptionArn);
  assert.equal(
    DeliveryPolicy,
    '{"healthyRetryPolicy":{"minDelayTarget":4,"numRetries":0},"sicklyRetryPolicy":null,"throttlePolicy":{"maxReceivesPerSecond":9},"requestPolicy":null,"guaranteed":false}',
  );
  const effective = JSON.parse(EffectiveDeliveryPolicy);
  assert.deepEqual(Object.keys(effective), Object.keys(JSON.parse(DeliveryPolicy ?? '')));
  assert.deepEqual(effective.throttlePolicy, { maxReceivesPerSecond: 9 });
  assert.deepEqual(effective.requestPolicy, { headerContentType: 'text/plain; charset=UTF-8' });
});

test('answers hide only the password of an endpoint (5.7, 5.11)', async (open) => {
  const shown = {
    'https://user:s3cr:e@t@example.com/a:b@c': 'https://user:****@example.com/a:b@c',
    'https://user@example.com:8443/a': 'https://user@example.com:8443/a',
    'https://example.com:8443/a@b': 'https://example.com:8443/a@b',
  };
  for (const [endpoint, expected] of Object.entries(shown)) {
    const topic = await open.topic();
    const { subscriptionArn } = accepted(await topic.trySubscribe({ protocol: 'https', endpoint }));
    const listed = accepted(await topic.home.run({ type: 'list-subscriptions', isByTopic: false }));
    assert.equal((await topic.attributesOf(subscriptionArn))['Endpoint'], expected);
    assert.equal(listed.subscriptions[0]?.endpoint, expected);
    const again = accepted(await topic.trySubscribe({ protocol: 'https', endpoint }));
    assert.equal(again.subscriptionArn, subscriptionArn, 'the whole of it tells endpoints apart');
  }
});

test('the same error has two texts, one for Subscribe and one for a change (5.8)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const { subscriptionArn } = await topic.subscribeQueue('jobs.fifo');
  const causes: readonly [name: string, value: string, text: string][] = [
    ['RawMessageDelivery', '', 'RawMessageDelivery: Invalid value []. Must be true or false.'],
    ['RawMessageDelivery', 'x', 'RawMessageDelivery: Invalid value [x]. Must be true or false.'],
    [
      'FilterPolicyScope',
      'x',
      'FilterPolicyScope: Invalid value [x]. Please use either MessageBody or MessageAttributes',
    ],
    [
      'RedrivePolicy',
      '{"deadLetterTargetArn":"x"}',
      'RedrivePolicy: deadLetterTargetArn is an invalid arn',
    ],
    [
      'RedrivePolicy',
      JSON.stringify({ deadLetterTargetArn: arnOf('dead') }),
      'RedrivePolicy: must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic.',
    ],
  ];
  for (const [name, value, text] of causes) {
    const set = await topic.trySetOn(subscriptionArn, name, value);
    assertRefused(set, invalid, `Invalid parameter: ${text}`);
    const attributes = { [name]: value };
    const subscribed = await topic.trySubscribe({ endpoint: arnOf('new.fifo'), attributes });
    assertRefused(subscribed, invalid, `Invalid parameter: Attributes Reason: ${text}`);
  }
  const unknown = await topic.trySetOn(subscriptionArn, 'Colour', 'x');
  assertRefused(unknown, invalid, 'Invalid parameter: AttributeName');
});

test('unsubscribing is idempotent, and other commands do not find the subscription (5.10)', async (open) => {
  const topic = await open.topic();
  const { subscriptionArn, queue } = await topic.subscribeQueue('jobs');
  const end = async (arn: string) =>
    await topic.home.run({ type: 'unsubscribe', subscriptionArn: arn });
  accepted(await end(subscriptionArn));
  accepted(await end(subscriptionArn));
  await topic.publish();
  assert.deepEqual(await queue.receiveBodies(), []);
  assertRefused(await end(topic.arn), invalid, 'Invalid parameter: SubscriptionId');
  const text = 'Subscription does not exist';
  assertRefused(
    await topic.trySetOn(subscriptionArn, 'FilterPolicy', ''),
    'NotFoundException',
    text,
  );
  const gone = await topic.home.run({ type: 'get-subscription-attributes', subscriptionArn });
  assertRefused(gone, 'NotFoundException', text);
});

test('subscriptions are listed in pages of 100, of one topic or of all (5.11)', async (open) => {
  const home = await open.home();
  const [one, two] = [await home.createTopic('one'), await home.createTopic('two')];
  for (let at = 0; at < 101; at += 1)
    accepted(await two.trySubscribe({ endpoint: arnOf(`q${at}`) }));
  accepted(await one.trySubscribe({ endpoint: arnOf('first') }));
  const all = accepted(await home.run({ type: 'list-subscriptions', isByTopic: false }));
  assert.deepEqual([all.subscriptions.length, all.subscriptions[0]?.topicArn], [100, one.arn]);
  const rest = { type: 'list-subscriptions', isByTopic: false, after: all.next } as const;
  assert.equal(accepted(await home.run(rest)).subscriptions.length, 2);
  const ofTwo = { type: 'list-subscriptions', isByTopic: true, topicArn: two.arn } as const;
  const page = accepted(await home.run(ofTwo));
  const last = accepted(await home.run({ ...ofTwo, after: page.next }));
  assert.deepEqual(
    last.subscriptions.map((each) => each.endpoint),
    [arnOf('q100')],
  );
});

test('the posted token confirms, and gives the same answer when repeated (5.12)', async (open) => {
  const topic = await open.topic();
  const { subscriptionArn } = accepted(await topic.trySubscribe({ protocol: 'http', endpoint }));
  await topic.home.advance(0);
  const token = JSON.parse(topic.home.posted[0]?.body ?? '').Token;
  const confirm = async (given: string) =>
    await topic.home.run({ type: 'confirm-subscription', topicArn: topic.arn, token: given });
  assertRefused(await confirm('x'), invalid, 'Invalid token');
  for (const unknown of ['0'.repeat(64), 'abc123']) {
    assertRefused(await confirm(unknown), invalid, 'Invalid parameter: Token');
  }
  for (const _ of [1, 2])
    assert.equal(accepted(await confirm(token)).subscriptionArn, subscriptionArn);
  assert.equal((await topic.attributesOf(subscriptionArn))['PendingConfirmation'], 'false');
});

test('a token confirms with the ARN of its own topic, and with no other (5.12)', async (open) => {
  const topic = await open.topic();
  const other = await topic.home.createTopic('other');
  const { subscriptionArn } = accepted(await topic.trySubscribe({ protocol: 'http', endpoint }));
  await topic.home.advance(0);
  const token = JSON.parse(topic.home.posted[0]?.body ?? '').Token;
  const confirm = async (topicArn: string | undefined) =>
    await topic.home.run({ type: 'confirm-subscription', topicArn, token });
  for (const arn of ['not-an-arn', topic.arn.replace('us-east-1', 'eu-west-1')]) {
    assertRefused(await confirm(arn), invalid, 'Invalid parameter: Topic');
  }
  assertRefused(
    await confirm(undefined),
    invalid,
    'Invalid parameter: TopicArn Reason: no value for required parameter',
  );
  for (const arn of [other.arn, `${topic.arn}-gone`]) {
    assertRefused(await confirm(arn), invalid, 'Invalid parameter: Token');
  }
  assert.equal((await topic.attributesOf(subscriptionArn))['PendingConfirmation'], 'true');
  assert.equal(accepted(await confirm(topic.arn)).subscriptionArn, subscriptionArn);
  assert.equal((await topic.attributesOf(subscriptionArn))['PendingConfirmation'], 'false');
});

test('a FIFO topic has up to 100 subscriptions (5.13)', async (open) => {
  const topic = await open.topic({ fifo: true });
  for (let at = 0; at < 100; at += 1)
    accepted(await topic.trySubscribe({ endpoint: arnOf(`q${at}`) }));
  const outcome = await topic.trySubscribe({ endpoint: arnOf('more') });
  assertRefused(outcome, 'SubscriptionLimitExceededException');
});
