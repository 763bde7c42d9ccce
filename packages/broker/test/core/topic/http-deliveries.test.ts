/**
 * Deliveries to HTTP endpoints (5.5, 12.3): confirmation, what is posted, retries by the delivery policy and the clock, leases
 * of calls that nobody reports, and dead-letter queues for what fails for good.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DuePost, PostResult } from '../../../src/core/topic/commands.ts';
import { retryDelay } from '../../../src/core/topic/delivery-policy.ts';
import { accepted } from '../fixture.ts';
import { openTopic, type TestTopic } from './fixture.ts';

const endpoint = 'http://a.example/in';
const passing: PostResult = { ok: false, reason: 'status 503', isFinal: false };
const final: PostResult = { ok: false, reason: 'status 404', isFinal: true };

/** A topic with a confirmed endpoint. */
function openEndpoint(attributes: Record<string, string> = {}): {
  topic: TestTopic;
  subscriptionArn: string;
} {
  const topic = openTopic();
  return { topic, subscriptionArn: confirm(topic, endpoint, attributes) };
}

/** Subscribes the endpoint; what was posted to confirm it is forgotten. */
function confirm(topic: TestTopic, url: string, attributes: Record<string, string> = {}): string {
  const target = { protocol: 'http', endpoint: url, attributes };
  const { subscriptionArn } = accepted(topic.trySubscribe(target));
  topic.home.advance(0);
  const token = JSON.parse(topic.home.posted[0]?.body ?? '').Token;
  accepted(topic.home.apply({ type: 'confirm-subscription', topicArn: topic.arn, token }));
  topic.home.posted.length = 0;
  return subscriptionArn;
}

/** In steps no longer than the delays. */
function passMinutes(topic: TestTopic, minutes: number): void {
  for (let step = 0; step < minutes * 6; step += 1) topic.home.advance(10);
}

test('the envelope is posted to a confirmed endpoint, with headers that identify it (12.3)', () => {
  const { topic, subscriptionArn } = openEndpoint();
  const { messageId } = topic.publish();
  topic.home.advance(0);
  const [posted] = topic.home.posted;
  assert.equal(posted?.due.url, endpoint);
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
  assert.equal(topic.home.told('posted')[0]?.attempts, 1);
});

test('with raw delivery only the message is posted, and a header says so (12.3)', () => {
  const { topic } = openEndpoint({ RawMessageDelivery: 'true' });
  topic.publish({ structure: 'json', message: '{"default":"all","http":"mine"}' });
  topic.home.advance(0);
  assert.equal(topic.home.posted[0]?.body, 'mine');
  assert.equal(topic.home.posted[0]?.headers['x-amz-sns-rawdelivery'], 'true');
});

test('the content type is taken from the delivery policy (12.3)', () => {
  const requestPolicy = { headerContentType: 'application/json' };
  const { topic } = openEndpoint({ DeliveryPolicy: JSON.stringify({ requestPolicy }) });
  topic.publish();
  topic.home.advance(0);
  assert.equal(topic.home.posted[0]?.headers['content-type'], 'application/json');
});

test('a transient failure is retried three times, 20 seconds apart, and then given up (12.3)', () => {
  const { topic } = openEndpoint();
  topic.home.answer = () => passing;
  topic.publish();
  topic.home.advance(0);
  for (const calls of [2, 3, 4]) {
    topic.home.advance(19.999);
    assert.equal(topic.home.posted.length, calls - 1);
    topic.home.advance(0.001);
    assert.equal(topic.home.posted.length, calls);
  }
  topic.home.advance(3600);
  assert.equal(topic.home.posted.length, 4);
  assert.equal(topic.home.told('post-failed').length, 3);
  assert.equal(topic.home.told('delivery-failed')[0]?.reason, 'status 503 (4 calls)');
});

test('a successful retry ends the retries (12.3)', () => {
  const { topic } = openEndpoint();
  topic.home.answer = ({ attempt }) => (attempt < 3 ? passing : { ok: true });
  topic.publish();
  passMinutes(topic, 2);
  assert.equal(topic.home.posted.length, 3);
  assert.equal(topic.home.told('posted')[0]?.attempts, 3);
});

test('a permanent failure is not retried (12.3)', () => {
  const { topic } = openEndpoint();
  topic.home.answer = () => final;
  topic.publish();
  topic.home.advance(3600);
  assert.equal(topic.home.posted.length, 1);
  assert.equal(topic.home.told('delivery-failed').length, 1);
});

test('retries go through four phases (12.3)', () => {
  const policy = {
    minDelayTarget: 10,
    maxDelayTarget: 30,
    numRetries: 8,
    numNoDelayRetries: 2,
    numMinDelayRetries: 2,
    numMaxDelayRetries: 1,
    backoffFunction: 'linear',
  };
  const delays = Array.from({ length: 9 }, (_, at) => retryDelay(policy, at + 1));
  assert.deepEqual(delays, [0, 0, 10, 10, 10, 20, 30, 30, undefined]);
});

test('retries take at most an hour, whatever the policy (12.3)', () => {
  const policy = {
    minDelayTarget: 1800,
    maxDelayTarget: 3600,
    numRetries: 100,
    numNoDelayRetries: 0,
    numMinDelayRetries: 50,
    numMaxDelayRetries: 50,
    backoffFunction: 'exponential',
  };
  assert.deepEqual([retryDelay(policy, 2), retryDelay(policy, 3)], [1800, undefined]);
});

test('every backoff function rises from the shortest to the longest delay (12.3)', () => {
  for (const backoffFunction of ['linear', 'arithmetic', 'geometric', 'exponential']) {
    const policy = {
      minDelayTarget: 1,
      maxDelayTarget: 100,
      numRetries: 10,
      numNoDelayRetries: 0,
      numMinDelayRetries: 0,
      numMaxDelayRetries: 0,
      backoffFunction,
    };
    const delays = Array.from({ length: 10 }, (_, at) => retryDelay(policy, at + 1) ?? -1);
    assert.deepEqual([delays[0], delays[9]], [1, 100], backoffFunction);
    assert.deepEqual(
      delays,
      delays.toSorted((a, b) => a - b),
      backoffFunction,
    );
  }
});

test('a subscription may have its own policy unless the topic disables overrides (12.3)', () => {
  const { topic } = openEndpoint({ DeliveryPolicy: '{"healthyRetryPolicy":{"numRetries":0}}' });
  topic.home.answer = () => passing;
  topic.publish();
  passMinutes(topic, 2);
  assert.equal(topic.home.posted.length, 1);
  topic.set('DeliveryPolicy', '{"http":{"disableSubscriptionOverrides":true}}');
  topic.publish();
  passMinutes(topic, 2);
  assert.equal(topic.home.posted.length, 5);
});

test('a delivery that is given up goes to the dead-letter queue (12.4)', () => {
  const { topic, subscriptionArn } = openEndpoint();
  const dead = topic.home.createQueue('dead');
  const policy = JSON.stringify({ deadLetterTargetArn: dead.arn });
  accepted(topic.trySetOn(subscriptionArn, 'RedrivePolicy', policy));
  topic.home.answer = () => final;
  topic.publish();
  topic.home.advance(0);
  assert.equal(JSON.parse(dead.receiveOne().body).Message, 'hello');
  assert.equal(topic.home.told('delivery-failed')[0]?.deadLetterQueue, 'dead');
});

test('an unreported call is repeated when its lease ends, and a late report has no effect (12.3)', () => {
  const { topic } = openEndpoint();
  topic.publish();
  const { home } = topic;
  // As if the process had died: the tick's answer is lost.
  const { posts } = accepted(home.apply({ type: 'tick' }));
  assert.equal(posts.length, 1);
  home.advance(59.999);
  assert.equal(home.posted.length, 0);
  home.answer = ({ id, topic: name, subscription }) => {
    const late = { type: 'report-post', topic: name, subscription, id, attempt: 1 } as const;
    accepted(home.apply({ ...late, result: { ok: true } }));
    return passing;
  };
  home.advance(0.001);
  assert.equal(home.posted[0]?.due.attempt, 2);
  home.answer = () => ({ ok: true });
  home.advance(20);
  assert.equal(home.posted.length, 2);
});

test('a bounded number of calls to one endpoint is in flight at once (12.3)', () => {
  const { topic } = openEndpoint();
  for (let at = 0; at < 150; at += 1) topic.publish();
  const first = accepted(topic.home.apply({ type: 'tick' })).posts;
  assert.equal(first.length, 50);
  assert.equal(accepted(topic.home.apply({ type: 'tick' })).posts.length, 0);
  const { id, subscription } = first[0] as DuePost;
  const report = { type: 'report-post', attempt: 1, result: { ok: true } } as const;
  accepted(topic.home.apply({ ...report, topic: topic.name, subscription, id }));
  assert.equal(accepted(topic.home.apply({ type: 'tick' })).posts.length, 1);
});

test('endpoints that do not answer do not hold up one that does (12.3)', () => {
  const topic = openTopic();
  const names = ['dead-1', 'dead-2', 'dead-3', 'dead-4', 'dead-5', 'well'];
  for (const name of names) confirm(topic, `http://${name}.example/`);
  for (let at = 0; at < 60; at += 1) topic.publish();
  const well: string[] = [];
  for (let ticks = 0; ticks < 60; ticks += 1) {
    for (const { url, id, subscription } of accepted(topic.home.apply({ type: 'tick' })).posts) {
      if (url !== 'http://well.example/') continue;
      well.push(url);
      const report = { type: 'report-post', attempt: 1, result: { ok: true } } as const;
      accepted(topic.home.apply({ ...report, topic: topic.name, subscription, id }));
    }
  }
  assert.equal(well.length, 60);
});

test('a report for a deleted topic is not applied to its successor (12.3)', () => {
  const { topic } = openEndpoint();
  topic.publish();
  const [old] = accepted(topic.home.apply({ type: 'tick' })).posts;
  accepted(topic.home.apply({ type: 'delete-topic', topicArn: topic.arn }));
  const successor = topic.home.createTopic(topic.name);
  confirm(successor, endpoint);
  successor.publish();
  const [due] = accepted(topic.home.apply({ type: 'tick' })).posts;
  assert.equal(due?.id, old?.id);
  const { subscription, id, attempt } = old as DuePost;
  const report = { type: 'report-post', topic: topic.name, subscription, id, attempt } as const;
  accepted(topic.home.apply({ ...report, result: { ok: true } }));
  // Nobody reports on its own call, so it is made again.
  topic.home.advance(60);
  assert.equal(topic.home.posted.length, 1);
});

test('unsubscribing ends pending retries (5.10)', () => {
  const { topic, subscriptionArn } = openEndpoint();
  topic.home.answer = () => passing;
  topic.publish();
  topic.home.advance(0);
  accepted(topic.home.apply({ type: 'unsubscribe', subscriptionArn }));
  topic.home.advance(3600);
  assert.equal(topic.home.posted.length, 1);
});

test('all pending calls of an endpoint are counted, and the oldest can be inspected (12.3)', () => {
  const { topic } = openEndpoint();
  for (let at = 0; at < 120; at += 1) topic.publish();
  const shown = accepted(topic.home.apply({ type: 'describe-topic', topic: topic.name }));
  const [{ postCount = 0, posts = [] } = {}] = shown.subscriptions;
  assert.equal(postCount, 120);
  const ids = posts.map(({ id }) => id);
  assert.equal(ids.length, 100);
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
});

test('a pending call can be inspected with its attempts and last failure (12.3)', () => {
  const { topic } = openEndpoint();
  topic.home.answer = () => passing;
  topic.publish();
  topic.home.advance(0);
  const shown = accepted(topic.home.apply({ type: 'describe-topic', topic: topic.name }));
  const [waiting] = shown.subscriptions[0]?.posts ?? [];
  assert.deepEqual([waiting?.attempts, waiting?.failure], [1, 'status 503']);
});
