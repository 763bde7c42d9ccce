/**
 * What one publication may cost: comparisons with filter policies, and what is written for its subscriptions. Beyond that
 * it is refused before anything is changed; a batch that is too much for one turn is published in several.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { accepted, assertRefused } from '../fixture.ts';
import { openTopic, openTopics, type TestTopic, type TopicEngine } from './fixture.ts';

const code = 'InvalidParameterException';
const tooComplex =
  "Invalid parameter: Message Reason: Matching it with the topic's filter policies takes too many comparisons";

function filtered(conditions: readonly unknown[], scope = 'MessageBody'): Record<string, string> {
  return { FilterPolicy: JSON.stringify({ a: conditions }), FilterPolicyScope: scope };
}

function listOf<T>(count: number, item: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => item(n));
}

/** Nothing was published, whatever was asked. */
function assertUntouched(topic: TestTopic, act: () => void): void {
  const before = topic.home.changes.length;
  act();
  assert.equal(topic.home.changes.length, before);
}

test('a publication may be compared a million times, and no more', () => {
  const topic = openTopic();
  topic.subscribeQueue('jobs', filtered(listOf(150, (n) => ({ numeric: ['=', n + 1] }))));
  const message = (count: number): string => JSON.stringify({ a: listOf(count, () => 0) });
  topic.publish({ message: message(6_000) });
  assertUntouched(topic, () => {
    assertRefused(topic.tryPublish({ message: message(7_000) }), code, tooComplex);
  });
});

test('the comparisons of all subscriptions and of all entries of a batch count together', () => {
  const topic = openTopic();
  for (const name of ['one', 'two']) {
    topic.subscribeQueue(name, filtered(listOf(150, (n) => ({ numeric: ['=', n + 1] }))));
  }
  const message = JSON.stringify({ a: listOf(1_500, () => 0) });
  topic.publish({ message });
  assertUntouched(topic, () => {
    const batch = topic.tryPublishBatch([{ message }, { message }, { message }]);
    assertRefused(batch, code, tooComplex);
  });
});

test('a search for a long pattern in a long text counts what it costs at worst', () => {
  const topic = openTopic();
  const pattern = `*${'a'.repeat(20_000)}b${'a'.repeat(20_000)}*`;
  topic.subscribeQueue('jobs', filtered([{ wildcard: pattern }]));
  topic.publish({ message: JSON.stringify({ a: 'a'.repeat(1_000) }) });
  const message = JSON.stringify({ a: 'a'.repeat(200_000) });
  assertUntouched(topic, () => assertRefused(topic.tryPublish({ message }), code, tooComplex));
});

test('the search for paths counts too, and so do the values of an attribute', () => {
  const topic = openTopic();
  const rules = listOf(5, (n) => ({ [`a.b${n}`]: [1] }));
  const FilterPolicy = JSON.stringify({ $or: rules });
  topic.subscribeQueue('jobs', { FilterPolicy, FilterPolicyScope: 'MessageBody' });
  const message = JSON.stringify({ a: listOf(60_000, () => ({})) });
  assertUntouched(topic, () => assertRefused(topic.tryPublish({ message }), code, tooComplex));
  const other = openTopic();
  other.subscribeQueue(
    'jobs',
    filtered(
      listOf(150, (n) => n + 1),
      'MessageAttributes',
    ),
  );
  const stringValue = JSON.stringify(listOf(10_000, () => 0));
  const attributes = [{ name: 'a', type: 'String.Array', stringValue }];
  assertUntouched(other, () => assertRefused(other.tryPublish({ attributes }), code, tooComplex));
});

test('a try of filters is bounded like a publication', () => {
  const topic = openTopic();
  topic.subscribeQueue('jobs', filtered(listOf(150, (n) => n + 1)));
  const message = JSON.stringify({ a: listOf(7_000, () => 0) });
  const command = { type: 'match-filters', topic: topic.name, message, attributes: [] } as const;
  assertRefused(topic.home.apply({ ...command, policy: undefined }), code, tooComplex);
});

test('a publication may write 32 MiB for its subscriptions', () => {
  const topic = openTopic();
  for (const n of listOf(118, (each) => each)) topic.subscribeQueue(`q${n}`);
  const message = 'x'.repeat(259_000);
  topic.publish({ message });
  topic.subscribeQueue('another');
  const text = 'Invalid parameter: Message Reason: It is too large for 119 subscriptions';
  assertUntouched(topic, () => assertRefused(topic.tryPublish({ message }), code, text));
});

test('what a filter policy keeps out counts for nothing', () => {
  const topic = openTopic();
  for (const n of listOf(118, (each) => each)) topic.subscribeQueue(`q${n}`);
  topic.subscribeQueue('another', filtered(['never'], 'MessageAttributes'));
  topic.publish({ message: 'x'.repeat(259_000) });
});

test('in an envelope a message counts as it is written there', () => {
  const topic = openTopic();
  for (const n of listOf(64, (each) => each)) {
    topic.subscribeQueue(`q${n}`, { RawMessageDelivery: 'false' });
  }
  topic.publish({ message: 'x'.repeat(250_000) });
  const text = 'Invalid parameter: Message Reason: It is too large for 64 subscriptions';
  const message = '"'.repeat(250_000);
  assertUntouched(topic, () => assertRefused(topic.tryPublish({ message }), code, text));
});

test('a text beyond ASCII counts four times', () => {
  const topic = openTopic();
  for (const n of listOf(40, (each) => each)) topic.subscribeQueue(`q${n}`);
  topic.publish({ message: `x${'x'.repeat(255_000)}` });
  const text = 'Invalid parameter: Message Reason: It is too large for 40 subscriptions';
  const message = `é${'x'.repeat(255_000)}`;
  assertUntouched(topic, () => assertRefused(topic.tryPublish({ message }), code, text));
});

test('a batch that is too much for one turn is published in several', () => {
  const topic = openTopic();
  const queues = listOf(400, (n) => topic.subscribeQueue(`q${n}`).queue);
  const entries = listOf(10, (n) => ({ message: `m${n}` }));
  const first = accepted(topic.tryPublishBatch(entries));
  assert.equal(first.results.length, 3);
  assert.equal(queues[0]?.attributes('All')['ApproximateNumberOfMessages'], '3');
});

/** Topics of an engine whose queues have contracts; what was judged is in `judged`. */
function judgedTopics(): { topics: TopicEngine; judged: unknown[] } {
  const judged: unknown[] = [];
  const judge = (_: string, message: unknown): undefined => void judged.push(message);
  return { topics: openTopics({ judge }), judged };
}

test('a publication is the same object for all queues that judge it, so that it is read once', () => {
  const { topics, judged } = judgedTopics();
  const topic = topics.createTopic('prices');
  topic.subscribeQueue('raw', { RawMessageDelivery: 'true' });
  topic.subscribeQueue('enveloped', { RawMessageDelivery: 'false' });
  topic.publish({ message: 'one' });
  topic.publish({ message: 'two' });
  assert.deepEqual(judged, [
    { body: 'one', attributes: [] },
    { body: 'one', attributes: [] },
    { body: 'two', attributes: [] },
    { body: 'two', attributes: [] },
  ]);
  assert.equal(new Set(judged).size, 2);
});

test('a batch that queues judge takes more turns, and a single publication one', () => {
  const { topics } = judgedTopics();
  const topic = topics.createTopic('prices');
  topic.subscribeQueue('jobs');
  const entries = listOf(10, () => ({ message: 'x'.repeat(20_000) }));
  assert.equal(accepted(topic.tryPublishBatch(entries)).results.length, 10);
  const longer = listOf(2, () => ({ message: 'x'.repeat(131_000) }));
  assert.equal(accepted(topic.tryPublishBatch(longer)).results.length, 1);
  topic.publish({ message: 'x'.repeat(262_000) });
});

test('a replay to a queue that judges goes on in another turn', () => {
  const { topics, judged } = judgedTopics();
  const topic = topics.createTopic('prices.fifo', {
    ArchivePolicy: '{"MessageRetentionPeriod":"1"}',
  });
  for (const n of listOf(3, (each) => each)) {
    topic.publish({ message: 'x'.repeat(250_000), deduplicationId: `d${n}` });
  }
  const ReplayPolicy = JSON.stringify({
    PointType: 'Timestamp',
    StartingPoint: new Date(0).toISOString(),
  });
  const { subscriptionArn } = topic.subscribeQueue('late.fifo', { ReplayPolicy });
  const subscription = subscriptionArn.slice(subscriptionArn.lastIndexOf(':') + 1);
  const publications = topic.home.changes.flatMap((change) =>
    change.kind === 'archived' && change.value !== null ? [change.value] : [],
  );
  accepted(topic.home.apply({ type: 'replay', topic: topic.name, subscription, publications }));
  assert.equal(judged.length, 2);
  topic.home.advance(1);
  assert.equal(judged.length, 3);
});

test('a standard topic has up to 1,000 subscriptions without a filter policy', () => {
  const topic = openTopic();
  const endpoint = (n: number): string => `arn:aws:sqs:us-east-1:000000000000:q${n}`;
  for (const n of listOf(1_000, (each) => each)) {
    accepted(topic.trySubscribe({ endpoint: endpoint(n) }));
  }
  const refused = topic.trySubscribe({ endpoint: endpoint(1_000) });
  const text = 'The topic has reached its limit of 1000 subscriptions.';
  assertRefused(refused, 'SubscriptionLimitExceededException', text);
  const attributes = filtered(['x']);
  accepted(topic.trySubscribe({ endpoint: endpoint(1_000), attributes }));
  const shown = accepted(topic.home.apply({ type: 'describe-topic', topic: topic.name }));
  assert.deepEqual([shown.subscriptions.length, shown.subscriptionCount], [1_000, 1_001]);
});

test('the digest of a long envelope is that of its text', () => {
  const topic = openTopic();
  const { queue } = topic.subscribeQueue('jobs', { RawMessageDelivery: 'false' });
  const { queue: other } = topic.subscribeQueue('other', { RawMessageDelivery: 'false' });
  topic.publish({ message: 'é'.repeat(20_000) });
  const bodies = [queue, other].map((each) => {
    const { body, bodyMd5 } = each.receiveOne().content;
    assert.equal(bodyMd5, createHash('md5').update(body).digest('hex'));
    return body;
  });
  assert.notEqual(bodies[0], bodies[1]);
});

test('a replay goes on in another turn when its filter policy has cost enough', () => {
  const topic = openTopic({
    fifo: true,
    attributes: { ArchivePolicy: '{"MessageRetentionPeriod":"1"}' },
  });
  const message = JSON.stringify({ a: listOf(4_000, () => 0) });
  for (const n of listOf(4, (each) => each)) topic.publish({ message, deduplicationId: `d${n}` });
  const ReplayPolicy = JSON.stringify({
    PointType: 'Timestamp',
    StartingPoint: new Date(0).toISOString(),
  });
  const policy = filtered(listOf(150, (n) => ({ numeric: ['=', n + 1] })));
  const { subscriptionArn } = topic.subscribeQueue('late.fifo', { ...policy, ReplayPolicy });
  const subscription = subscriptionArn.slice(subscriptionArn.lastIndexOf(':') + 1);
  const publications = topic.home.changes.flatMap((change) =>
    change.kind === 'archived' && change.value !== null ? [change.value] : [],
  );
  accepted(topic.home.apply({ type: 'replay', topic: topic.name, subscription, publications }));
  assert.equal(topic.home.told('filtered-out').length, 2);
  topic.home.advance(1);
  assert.equal(topic.home.told('filtered-out').length, 4);
});
