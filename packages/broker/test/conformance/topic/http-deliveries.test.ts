/**
 * Deliveries to HTTP endpoints (5.5, 12.3): confirmation, what is posted, retries by the delivery policy and the clock, leases
 * of calls that nobody reports, and dead-letter queues for what fails for good.
 */

import assert from 'node:assert/strict';
import type { PostResult } from '../../../src/core/topic/commands.ts';
import { accepted, type Opener, type TestTopic, test } from '../fixture.ts';

const endpoint = 'http://a.example/in';
const passing: PostResult = { ok: false, reason: 'status 503', isFinal: false };
const final: PostResult = { ok: false, reason: 'status 404', isFinal: true };

/** A topic with a confirmed endpoint. */
async function openEndpoint(
  open: Opener,
  attributes: Record<string, string> = {},
): Promise<{
  topic: TestTopic;
  subscriptionArn: string;
}> {
  const topic = await open.topic();
  return { topic, subscriptionArn: await confirm(topic, endpoint, attributes) };
}

/** Subscribes the endpoint; what was posted to confirm it is forgotten. */
async function confirm(
  topic: TestTopic,
  url: string,
  attributes: Record<string, string> = {},
): Promise<string> {
  const target = { protocol: 'http', endpoint: url, attributes };
  const { subscriptionArn } = accepted(await topic.trySubscribe(target));
  await topic.home.advance(0);
  const token = JSON.parse(topic.home.posted[0]?.body ?? '').Token;
  accepted(await topic.home.run({ type: 'confirm-subscription', topicArn: topic.arn, token }));
  topic.home.posted.length = 0;
  return subscriptionArn;
}

/** In steps no longer than the delays. */
async function passMinutes(topic: TestTopic, minutes: number): Promise<void> {
  for (let step = 0; step < minutes * 6; step += 1) await topic.home.advance(10);
}

test('the envelope is posted to a confirmed endpoint, with headers that identify it (12.3)', async (open) => {
  const { topic, subscriptionArn } = await openEndpoint(open);
  const { messageId } = await topic.publish();
  await topic.home.advance(0);
  const [posted] = topic.home.posted;
  assert.equal(posted?.url, endpoint);
  assert.deepEqual(posted?.headers, {
    'accept-encoding': 'gzip,deflate',
    'content-type': 'text/plain; charset=UTF-8',
    'user-agent': 'Amazon Simple Notification Service Agent',
    'x-amz-sns-topic-arn': topic.arn,
    'x-amz-sns-message-type': 'Notification',
    'x-amz-sns-message-id': messageId,
    'x-amz-sns-subscription-arn': subscriptionArn,
  });
  assert.equal(JSON.parse(posted?.body ?? '').Message, 'hello');
  assert.equal((await topic.home.told('posted'))[0]?.attempts, 1);
});

test('with raw delivery only the message is posted, and a header says so (12.3)', async (open) => {
  const { topic } = await openEndpoint(open, { RawMessageDelivery: 'true' });
  await topic.publish({ structure: 'json', message: '{"default":"all","http":"mine"}' });
  await topic.home.advance(0);
  assert.equal(topic.home.posted[0]?.body, 'mine');
  assert.equal(topic.home.posted[0]?.headers['x-amz-sns-rawdelivery'], 'true');
});

test('the content type is taken from the delivery policy (12.3)', async (open) => {
  const requestPolicy = { headerContentType: 'application/json' };
  const { topic } = await openEndpoint(open, { DeliveryPolicy: JSON.stringify({ requestPolicy }) });
  await topic.publish();
  await topic.home.advance(0);
  assert.equal(topic.home.posted[0]?.headers['content-type'], 'application/json');
});

test('a transient failure is retried three times, 20 seconds apart, and then given up (12.3)', async (open) => {
  const { topic } = await openEndpoint(open);
  topic.home.answer = () => passing;
  await topic.publish();
  await topic.home.advance(0);
  for (const calls of [2, 3, 4]) {
    await topic.home.advance(19.999);
    assert.equal(topic.home.posted.length, calls - 1);
    await topic.home.advance(0.001);
    assert.equal(topic.home.posted.length, calls);
  }
  await topic.home.advance(3600);
  assert.equal(topic.home.posted.length, 4);
  assert.equal((await topic.home.told('post-failed')).length, 3);
  assert.equal((await topic.home.told('delivery-failed'))[0]?.reason, 'status 503 (4 calls)');
});

test('a successful retry ends the retries (12.3)', async (open) => {
  const { topic } = await openEndpoint(open);
  topic.home.answer = () => (topic.home.posted.length < 3 ? passing : { ok: true });
  await topic.publish();
  await passMinutes(topic, 2);
  assert.equal(topic.home.posted.length, 3);
  assert.equal((await topic.home.told('posted'))[0]?.attempts, 3);
});

test('a permanent failure is not retried (12.3)', async (open) => {
  const { topic } = await openEndpoint(open);
  topic.home.answer = () => final;
  await topic.publish();
  await topic.home.advance(3600);
  assert.equal(topic.home.posted.length, 1);
  assert.equal((await topic.home.told('delivery-failed')).length, 1);
});

test('a subscription may have its own policy unless the topic disables overrides (12.3)', async (open) => {
  const { topic } = await openEndpoint(open, {
    DeliveryPolicy: '{"healthyRetryPolicy":{"numRetries":0}}',
  });
  topic.home.answer = () => passing;
  await topic.publish();
  await passMinutes(topic, 2);
  assert.equal(topic.home.posted.length, 1);
  await topic.set('DeliveryPolicy', '{"http":{"disableSubscriptionOverrides":true}}');
  await topic.publish();
  await passMinutes(topic, 2);
  assert.equal(topic.home.posted.length, 5);
});

test('a delivery that is given up goes to the dead-letter queue (12.4)', async (open) => {
  const { topic, subscriptionArn } = await openEndpoint(open);
  const dead = await topic.home.createQueue('dead');
  const policy = JSON.stringify({ deadLetterTargetArn: dead.arn });
  accepted(await topic.trySetOn(subscriptionArn, 'RedrivePolicy', policy));
  topic.home.answer = () => final;
  await topic.publish();
  await topic.home.advance(0);
  assert.equal(JSON.parse((await dead.receiveOne()).body).Message, 'hello');
  assert.equal((await topic.home.told('delivery-failed'))[0]?.deadLetterQueue, 'dead');
});

test('unsubscribing ends pending retries (5.10)', async (open) => {
  const { topic, subscriptionArn } = await openEndpoint(open);
  topic.home.answer = () => passing;
  await topic.publish();
  await topic.home.advance(0);
  accepted(await topic.home.run({ type: 'unsubscribe', subscriptionArn }));
  await topic.home.advance(3600);
  assert.equal(topic.home.posted.length, 1);
});

test('all pending calls of an endpoint are counted, and the oldest can be inspected (12.3)', async (open) => {
  const { topic } = await openEndpoint(open);
  topic.home.answer = () => passing;
  for (let at = 0; at < 120; at += 1) await topic.publish();
  const shown = accepted(await topic.home.run({ type: 'describe-topic', topic: topic.name }));
  const [{ postCount = 0, posts = [] } = {}] = shown.subscriptions;
  assert.equal(postCount, 120);
  const ids = posts.map(({ id }) => id);
  assert.equal(ids.length, 100);
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
});

test('a pending call can be inspected with its attempts and last failure (12.3)', async (open) => {
  const { topic } = await openEndpoint(open);
  topic.home.answer = () => passing;
  await topic.publish();
  await topic.home.advance(0);
  const shown = accepted(await topic.home.run({ type: 'describe-topic', topic: topic.name }));
  const [waiting] = shown.subscriptions[0]?.posts ?? [];
  assert.deepEqual([waiting?.attempts, waiting?.failure], [1, 'status 503']);
});
