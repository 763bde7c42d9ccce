/**
 * FIFO topics (§10): deduplication across the whole topic, order, sequence numbers, and what of all that reaches queues.
 * One publish is one list of changes.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256Hex } from '../../../src/core/digest/digests.ts';
import { assertRefused } from '../fixture.ts';
import { openTopic } from './fixture.ts';

const contentBased = { ContentBasedDeduplication: 'true' };

test('every queue gets the messages of a group in the order of publication (10.1)', () => {
  const topic = openTopic({ fifo: true });
  const queues = ['a.fifo', 'b.fifo'].map((name) => topic.subscribeQueue(name).queue);
  topic.publishAll('1', '2', '3');
  for (const queue of queues) assert.deepEqual(queue.receiveBodies(), ['1', '2', '3']);
});

test('a publication without a group is refused (10.2)', () => {
  const topic = openTopic({ fifo: true });
  const text = 'Invalid parameter: The MessageGroupId parameter is required for FIFO topics';
  assertRefused(topic.tryPublish({ groupId: undefined }), 'InvalidParameterException', text);
});

test('a publication without an id is refused unless deduplication is content-based (10.3)', () => {
  const topic = openTopic({ fifo: true });
  assertRefused(
    topic.tryPublish({ deduplicationId: undefined }),
    'InvalidParameterException',
    'Invalid parameter: The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
  );
});

test('a missing group is reported before a missing id (10.2, 10.3)', () => {
  const topic = openTopic({ fifo: true });
  const outcome = topic.tryPublish({ groupId: undefined, deduplicationId: undefined });
  assertRefused(
    outcome,
    'InvalidParameterException',
    'Invalid parameter: The MessageGroupId parameter is required for FIFO topics',
  );
});

test('ids have 1 to 128 letters, digits and punctuation (10.4)', () => {
  const topic = openTopic({ fifo: true });
  for (const id of ['', ' ', 'é', 'x'.repeat(129)]) {
    assertRefused(topic.tryPublish({ groupId: id }), 'InvalidParameterException');
    assertRefused(topic.tryPublish({ deduplicationId: id }), 'InvalidParameterException');
  }
  topic.publish({ groupId: 'x'.repeat(128), deduplicationId: '!~' });
});

test('the content hash covers only the message, not attributes or subject (10.5)', () => {
  const topic = openTopic({ fifo: true, attributes: contentBased });
  const { queue } = topic.subscribeQueue('jobs.fifo');
  const wholesale = [{ name: 'business', type: 'String', stringValue: 'wholesale' }];
  const first = topic.publish({ deduplicationId: undefined, attributes: wholesale, subject: 'a' });
  const second = topic.publish({ deduplicationId: undefined, subject: 'b' });
  assert.equal(second.messageId, first.messageId);
  assert.equal(second.isDuplicate, true);
  const [message] = queue.receive();
  assert.equal(message?.content.deduplicationId, sha256Hex('hello'));
});

test('an explicit id takes precedence over the hash, in both directions (10.6)', () => {
  const topic = openTopic({ fifo: true, attributes: contentBased });
  const { queue } = topic.subscribeQueue('jobs.fifo');
  topic.publish({ message: 'same', deduplicationId: 'a' });
  topic.publish({ message: 'same', deduplicationId: 'b' });
  topic.publish({ message: 'hashed', deduplicationId: undefined });
  assert.ok(topic.publish({ message: 'other', deduplicationId: sha256Hex('hashed') }).isDuplicate);
  assert.deepEqual(queue.receiveBodies(), ['same', 'same', 'hashed']);
});

test('a duplicate is delivered to no queue, even after the first was deleted and with another group (10.7)', () => {
  const topic = openTopic({ fifo: true });
  const { queue } = topic.subscribeQueue('jobs.fifo');
  const { queue: standard } = topic.subscribeQueue('jobs');
  topic.publish({ deduplicationId: 'd' });
  queue.remove(...queue.receive());
  standard.remove(...standard.receive());
  assert.ok(topic.publish({ deduplicationId: 'd', groupId: 'other' }).isDuplicate);
  assert.deepEqual([queue.receiveBodies(), standard.receiveBodies()], [[], []]);
});

test('the topic remembers an id that no queue ever received (10.7)', () => {
  const topic = openTopic({ fifo: true });
  topic.publish({ deduplicationId: 'd' });
  const { queue } = topic.subscribeQueue('jobs.fifo');
  assert.ok(topic.publish({ deduplicationId: 'd' }).isDuplicate);
  assert.deepEqual(queue.receiveBodies(), []);
});

test('a duplicate is answered with the ids of the original (10.8)', () => {
  const topic = openTopic({ fifo: true });
  const first = topic.publish({ deduplicationId: 'd' });
  const { messageId, sequence } = topic.publish({ deduplicationId: 'd', message: 'other' });
  assert.deepEqual([messageId, sequence], [first.messageId, first.sequence]);
});

test('the window is five minutes from the first publication, and a duplicate does not extend it (10.9)', () => {
  const topic = openTopic({ fifo: true });
  topic.publish({ deduplicationId: 'd' });
  topic.home.advance(299.999);
  assert.ok(topic.publish({ deduplicationId: 'd' }).isDuplicate);
  topic.home.advance(0.001);
  assert.equal(topic.publish({ deduplicationId: 'd' }).isDuplicate, false);
});

test('with FifoThroughputScope MessageGroup each group has its own ids (10.10)', () => {
  const topic = openTopic({ fifo: true, attributes: { FifoThroughputScope: 'MessageGroup' } });
  topic.publish({ deduplicationId: 'd', groupId: 'a' });
  assert.equal(topic.publish({ deduplicationId: 'd', groupId: 'b' }).isDuplicate, false);
  assert.ok(topic.publish({ deduplicationId: 'd', groupId: 'a' }).isDuplicate);
});

test('changing FifoThroughputScope forgets no id (10.10)', () => {
  const topic = openTopic({ fifo: true });
  topic.publish({ deduplicationId: 'd', groupId: 'a' });
  topic.set('FifoThroughputScope', 'MessageGroup');
  assert.ok(topic.publish({ deduplicationId: 'd', groupId: 'a' }).isDuplicate);
  assert.equal(topic.publish({ deduplicationId: 'd', groupId: 'b' }).isDuplicate, false);
});

test('the queue deduplicates again by the same id in its own window (10.11)', () => {
  const topic = openTopic({ fifo: true, attributes: { FifoThroughputScope: 'MessageGroup' } });
  const { queue } = topic.subscribeQueue('jobs.fifo');
  topic.publish({ deduplicationId: 'd', groupId: 'a' });
  topic.publish({ deduplicationId: 'd', groupId: 'b' });
  assert.equal(queue.receive().length, 1);
  assert.equal(topic.home.told('fanned-out').at(-1)?.isDuplicate, true);
});

test('a message dropped by a filter is not delivered when published again in the window (10.12)', () => {
  const topic = openTopic({ fifo: true });
  const filter = { FilterPolicy: '{"kind":["price"]}' };
  const { queue, subscriptionArn } = topic.subscribeQueue('jobs.fifo', filter);
  topic.publish({ deduplicationId: 'd' });
  topic.trySetOn(subscriptionArn, 'FilterPolicy', '');
  assert.ok(topic.publish({ deduplicationId: 'd' }).isDuplicate);
  assert.deepEqual(queue.receiveBodies(), []);
});

test('a standard queue receives what a FIFO topic accepts, once (10.13)', () => {
  const topic = openTopic({ fifo: true });
  const { queue } = topic.subscribeQueue('jobs');
  topic.publish({ deduplicationId: 'd' });
  topic.publish({ deduplicationId: 'd' });
  assert.deepEqual(queue.receiveBodies(), ['hello']);
});

test('one publish produces its window entry and all messages as one list of changes (10.7)', () => {
  const topic = openTopic({ fifo: true });
  topic.subscribeQueue('a.fifo');
  topic.subscribeQueue('b.fifo');
  const before = topic.home.changes.length;
  topic.publish();
  const kinds = topic.home.changes.slice(before).map(({ kind }) => kind);
  assert.deepEqual(
    kinds.filter((kind) => kind === 'topic-window' || kind === 'message'),
    ['topic-window', 'message', 'message'],
  );
});

test('a suppressed publication is reported with what differed (10.7)', () => {
  const topic = openTopic({ fifo: true });
  const attributes = [{ name: 'business', type: 'String', stringValue: 'retail' }];
  topic.publish({ deduplicationId: 'd' });
  topic.home.advance(10);
  topic.publish({ deduplicationId: 'd', attributes });
  const [event] = topic.home.told('duplicate-publication');
  assert.deepEqual(event?.differed, { body: false, attributes: true, group: false });
  assert.equal(event?.ageMs, 10_000);
});

test('a different trace does not make two publications differ', () => {
  const topic = openTopic({ fifo: true });
  for (const stringValue of ['00-5b8e-a1-01', '00-5b8e-a2-01']) {
    const attributes = [{ name: 'traceparent', type: 'String', stringValue }];
    topic.publish({ deduplicationId: 'd', attributes });
  }
  const [event] = topic.home.told('duplicate-publication');
  assert.deepEqual(event?.differed, { body: false, attributes: false, group: false });
});

test('sequence numbers rise over the whole topic (2.6)', () => {
  const topic = openTopic({ fifo: true });
  const sequences = ['a', 'b', 'a'].map((groupId) => topic.publish({ groupId }).sequence ?? 0);
  assert.ok((sequences[0] as number) < (sequences[1] as number));
  assert.ok((sequences[1] as number) < (sequences[2] as number));
});
