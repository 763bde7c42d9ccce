/**
 * Which calls to endpoints a tick asks for: leases of calls that nobody reports, how many are in flight, and the delays
 * between retries. What endpoints get is in conformance/topic/http-deliveries.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DuePost, PostResult } from '../../../src/core/topic/commands.ts';
import { retryDelay } from '../../../src/core/topic/delivery-policy.ts';
import { accepted } from '../fixture.ts';
import { openTopic, type TestTopic } from './fixture.ts';

const endpoint = 'http://a.example/in';
const passing: PostResult = { ok: false, reason: 'status 503', isFinal: false };

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
