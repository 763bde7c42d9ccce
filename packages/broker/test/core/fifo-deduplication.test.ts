/**
 * Deduplication: which sends are duplicates of which, for how long, and what a duplicate is answered. The edges of the
 * window are tried to the millisecond. The profile that also compares bodies is in yandex-profile.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { relaxedLimits } from '../../src/core/limits.ts';
import {
  accepted,
  openEngine,
  openQueue,
  openQueueWithDeadLetters,
  type TestQueue,
} from './fixture.ts';

const helloHash = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
const byContent = { deduplicationId: undefined };

function openFifo(attributes: Readonly<Record<string, string>> = {}): TestQueue {
  return openQueue({ fifo: true, attributes });
}

function openContentBased(attributes: Readonly<Record<string, string>> = {}): TestQueue {
  return openFifo({ ContentBasedDeduplication: 'true', ...attributes });
}

/** Whether a send with the id is a duplicate now. */
function isKnown(queue: TestQueue, deduplicationId = 'd', groupId = 'g'): boolean {
  return queue.send({ deduplicationId, groupId }).isDuplicate;
}

test('an explicit id is used and shown (11.8, 11.15)', () => {
  const queue = openContentBased();
  queue.send({ deduplicationId: 'order-1' });
  assert.equal(queue.receiveOne().content.deduplicationId, 'order-1');
});

test("without an id the lower-case hex SHA-256 of the body's UTF-8 is used and shown (11.8, 11.15)", () => {
  const queue = openContentBased();
  queue.send({ body: 'hello', ...byContent });
  queue.send({ body: 'grüße 😀', ...byContent });
  const hash = createHash('sha256').update('grüße 😀', 'utf8').digest('hex');
  assert.deepEqual(
    queue.receive().map(({ content }) => content.deduplicationId),
    [helloHash, hash],
  );
});

test('equal bodies are duplicates by content whatever their attributes (11.8)', () => {
  const queue = openContentBased();
  queue.send({ ...byContent });
  const attributes = [{ name: 'a', type: 'String', stringValue: 'x' }];
  assert.equal(queue.send({ ...byContent, attributes }).isDuplicate, true);
  assert.equal(queue.send({ ...byContent, body: 'Hello' }).isDuplicate, false);
});

test('equal bodies with different ids are two messages, even with content-based deduplication (11.9)', () => {
  const queue = openContentBased();
  assert.equal(queue.send({ deduplicationId: 'd1' }).isDuplicate, false);
  assert.equal(queue.send({ deduplicationId: 'd2' }).isDuplicate, false);
  assert.equal(queue.send(byContent).isDuplicate, false);
  assert.deepEqual(queue.counts(), [3, 0, 0]);
});

test('different bodies with one id are one message (11.9)', () => {
  const queue = openContentBased();
  queue.send({ body: 'one', deduplicationId: 'd' });
  assert.equal(queue.send({ body: 'two', deduplicationId: 'd' }).isDuplicate, true);
  assert.deepEqual(queue.receiveBodies(), ['one']);
});

test('an id equal to the hash of an earlier body is a duplicate of it (11.9)', () => {
  const queue = openContentBased();
  queue.send({ body: 'hello', ...byContent });
  assert.equal(queue.send({ body: 'other', deduplicationId: helloHash }).isDuplicate, true);
});

test('a body whose hash was given as an id before is a duplicate of that message (11.9)', () => {
  const queue = openContentBased();
  queue.send({ body: 'other', deduplicationId: helloHash });
  assert.equal(queue.send({ body: 'hello', ...byContent }).isDuplicate, true);
});

test('ids that differ in case or in their last character are different (11.9)', () => {
  const queue = openFifo();
  const long = 'x'.repeat(127);
  for (const id of ['d', 'D', `${long}a`, `${long}b`]) {
    assert.equal(isKnown(queue, id), false);
  }
});

test('with scope queue an id applies to all groups (11.10)', () => {
  const queue = openFifo();
  assert.equal(isKnown(queue, 'd', 'g1'), false);
  assert.equal(isKnown(queue, 'd', 'g2'), true);
});

test('with scope messageGroup an id applies only to its own group (11.10)', () => {
  const queue = openFifo({ DeduplicationScope: 'messageGroup' });
  assert.equal(isKnown(queue, 'd', 'g1'), false);
  assert.equal(isKnown(queue, 'd', 'g2'), false);
  assert.equal(isKnown(queue, 'd', 'g1'), true);
  assert.equal(isKnown(queue, 'd', 'g2'), true);
});

test('with scope messageGroup a content hash applies only to its own group (11.10)', () => {
  const queue = openContentBased({ DeduplicationScope: 'messageGroup' });
  assert.equal(queue.send({ ...byContent, groupId: 'g1' }).isDuplicate, false);
  assert.equal(queue.send({ ...byContent, groupId: 'g2' }).isDuplicate, false);
  assert.equal(queue.send({ ...byContent, groupId: 'g1' }).isDuplicate, true);
});

test('a group and an id are never confused with each other (11.10)', () => {
  const queue = openFifo({ DeduplicationScope: 'messageGroup' });
  assert.equal(isKnown(queue, 'ab', 'c'), false);
  assert.equal(isKnown(queue, 'a', 'bc'), false);
  assert.equal(isKnown(queue, 'c', 'ab'), false);
});

test('ids of another queue have no effect (11.10)', () => {
  const home = openEngine();
  assert.equal(isKnown(home.createQueue('a.fifo')), false);
  assert.equal(isKnown(home.createQueue('b.fifo')), false);
});

test('the same id is a duplicate 299 seconds later (11.11)', () => {
  const queue = openFifo();
  isKnown(queue);
  queue.advance(299);
  assert.equal(isKnown(queue), true);
});

test('the same id is a duplicate one millisecond before the window closes (11.11)', () => {
  const queue = openFifo();
  isKnown(queue);
  queue.advance(299.999);
  assert.equal(isKnown(queue), true);
});

test('the same id is a new message exactly 300 seconds later (11.11)', () => {
  const queue = openFifo();
  isKnown(queue);
  queue.advance(300);
  assert.equal(isKnown(queue), false);
});

test('the same id is a new message 301 seconds later (11.11)', () => {
  const queue = openFifo();
  const first = queue.send({ deduplicationId: 'd' });
  queue.advance(301);
  const second = queue.send({ deduplicationId: 'd' });
  assert.equal(second.isDuplicate, false);
  assert.notEqual(second.messageId, first.messageId);
  assert.deepEqual(queue.counts(), [2, 0, 0]);
});

test('the window closes by the clock alone, without a tick in between (11.11)', () => {
  const queue = openFifo();
  isKnown(queue);
  queue.home.now += 300_000;
  assert.equal(isKnown(queue), false);
});

test('a duplicate does not extend the window (11.11)', () => {
  const queue = openFifo();
  isKnown(queue);
  queue.advance(200);
  assert.equal(isKnown(queue), true);
  queue.advance(100);
  assert.equal(isKnown(queue), false);
});

test('a message accepted after the window opens a window of its own (11.11)', () => {
  const queue = openFifo();
  isKnown(queue);
  queue.advance(300);
  isKnown(queue);
  queue.advance(299);
  assert.equal(isKnown(queue), true);
});

test('each id has its own window (11.11)', () => {
  const queue = openFifo();
  isKnown(queue, 'one');
  queue.advance(150);
  isKnown(queue, 'two');
  queue.advance(150);
  assert.equal(isKnown(queue, 'two'), true);
  assert.equal(isKnown(queue, 'one'), false);
});

test('the window entry outlives the receive of its message (11.12)', () => {
  const queue = openFifo();
  isKnown(queue);
  queue.receiveOne();
  assert.equal(isKnown(queue), true);
});

test('the window entry outlives the deletion of its message (11.12, 17.4)', () => {
  const queue = openFifo();
  isKnown(queue);
  queue.remove(queue.receiveOne());
  assert.equal(isKnown(queue), true);
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});

test('the window entry outlives the expiry of its message (11.12)', () => {
  const queue = openFifo({ MessageRetentionPeriod: '60' });
  isKnown(queue);
  queue.advance(61);
  assert.deepEqual(queue.counts(), [0, 0, 0]);
  assert.equal(isKnown(queue), true);
});

test('the window entry outlives the move of its message to the dead-letter queue (11.12)', () => {
  const { queue, dead } = openQueueWithDeadLetters({ fifo: true });
  isKnown(queue);
  queue.receiveOne({ visibilitySeconds: 0 });
  assert.deepEqual(queue.receive(), []);
  assert.deepEqual(dead.counts(), [1, 0, 0]);
  assert.equal(isKnown(queue), true);
});

test('a purge empties the window (11.12, 17.4)', () => {
  const queue = openFifo();
  isKnown(queue);
  queue.purge();
  assert.equal(isKnown(queue), false);
});

test('a queue recreated under its old name has an empty window (11.12)', () => {
  const queue = openQueue({ fifo: true, limits: relaxedLimits });
  isKnown(queue);
  queue.delete();
  assert.equal(isKnown(queue.home.createQueue(queue.name)), false);
});

test('a duplicate is answered with MessageId and sequence of the first message (11.13)', () => {
  const queue = openFifo();
  const first = queue.send({ deduplicationId: 'd' });
  queue.send();
  const again = queue.send({ deduplicationId: 'd' });
  assert.equal(again.isDuplicate, true);
  assert.equal(again.messageId, first.messageId);
  assert.equal(again.sequence, first.sequence);
});

test('a duplicate is answered with the digests of its own body and attributes (11.13)', () => {
  const queue = openFifo();
  queue.send({ body: 'one', deduplicationId: 'd' });
  const attributes = [{ name: 'Foo', type: 'String', stringValue: 'Bar' }];
  const again = queue.send({ body: 'two', deduplicationId: 'd', attributes });
  assert.equal(again.bodyMd5, createHash('md5').update('two').digest('hex'));
  assert.equal(again.attributesMd5, 'ae7155c6026991b6d54b11589678bf9c');
});

test('a duplicate changes neither order nor counts (11.13)', () => {
  const queue = openFifo();
  queue.send({ body: 'one', deduplicationId: 'd1' });
  queue.send({ body: 'two', deduplicationId: 'd2' });
  queue.send({ body: 'one again', deduplicationId: 'd1' });
  assert.deepEqual(queue.counts(), [2, 0, 0]);
  assert.deepEqual(queue.receiveBodies(), ['one', 'two']);
});

test('a duplicate sent to another group adds nothing to that group (11.13)', () => {
  const queue = openFifo();
  isKnown(queue, 'd', 'g1');
  isKnown(queue, 'd', 'g2');
  assert.equal(queue.describe().groups, 1);
});

test('entries of one batch are duplicates of earlier entries (11.14)', () => {
  const queue = openFifo();
  const ids = ['a', 'b', 'a', 'b', 'c'];
  const results = queue
    .sendBatch(ids.map((deduplicationId, at) => ({ deduplicationId, body: `${at}` })))
    .map((result) => accepted(result));
  const duplicates = results.map(({ isDuplicate }) => isDuplicate);
  assert.deepEqual(duplicates, [false, false, true, true, false]);
  assert.equal(results[2]?.messageId, results[0]?.messageId);
  assert.deepEqual(queue.receiveBodies(), ['0', '1', '4']);
});

test('a refused entry is not an original for later entries (11.14)', () => {
  const queue = openFifo();
  const [refused, sent] = queue.sendBatch([
    { body: '\0', deduplicationId: 'd' },
    { body: 'fine', deduplicationId: 'd' },
  ]);
  assert.equal(refused?.ok, false);
  assert.deepEqual(queue.receiveBodies(), ['fine']);
  assert.equal(sent?.ok && sent.isDuplicate, false);
});

test('a narrowed scope applies to the next send, including ids accepted before (11.16)', () => {
  const queue = openFifo();
  isKnown(queue, 'd', 'g1');
  queue.set({ DeduplicationScope: 'messageGroup' });
  assert.equal(isKnown(queue, 'd', 'g2'), false);
  assert.equal(isKnown(queue, 'd', 'g1'), true);
});

test('a widened scope applies to the next send, which is answered with the first message of the id (11.16)', () => {
  const queue = openFifo({ DeduplicationScope: 'messageGroup' });
  const first = queue.send({ deduplicationId: 'd', groupId: 'g1' });
  queue.send({ deduplicationId: 'd', groupId: 'g2' });
  queue.set({ DeduplicationScope: 'queue' });
  const third = queue.send({ deduplicationId: 'd', groupId: 'g3' });
  assert.equal(third.isDuplicate, true);
  assert.equal(third.messageId, first.messageId);
});

test('with a widened scope an id used in many groups is answered with its oldest entry in the window (11.16)', () => {
  const queue = openFifo({ DeduplicationScope: 'messageGroup' });
  const groups = 3_000;
  const ids = Array.from({ length: groups }, (_, group) => {
    queue.advance(0.01);
    return queue.send({ deduplicationId: '1', groupId: `g${group}` }).messageId;
  });
  queue.set({ DeduplicationScope: 'queue' });
  const original = (): string => queue.send({ deduplicationId: '1', groupId: 'new' }).messageId;
  assert.equal(original(), ids[0]);
  // The first was sent 29.99 seconds before the last, and is forgotten that much earlier.
  queue.advance(300 - 29.99);
  assert.equal(original(), ids[1]);
  queue.advance(20);
  assert.equal(original(), ids[2_001]);
  queue.advance(10);
  assert.ok(!ids.includes(original()));
});

test('turning content-based deduplication on or off forgets no id (11.16)', () => {
  const queue = openContentBased();
  queue.send({ body: 'hello', ...byContent });
  queue.set({ ContentBasedDeduplication: 'false' });
  assert.equal(isKnown(queue, helloHash), true);
  queue.set({ ContentBasedDeduplication: 'true' });
  assert.equal(queue.send({ body: 'hello', ...byContent }).isDuplicate, true);
});

test('of many sends with one id in the same millisecond exactly one is accepted (11.17)', () => {
  const queue = openFifo();
  const results = Array.from({ length: 100 }, () => queue.send({ deduplicationId: 'd' }));
  assert.equal(results.filter(({ isDuplicate }) => !isDuplicate).length, 1);
  assert.deepEqual(queue.counts(), [1, 0, 0]);
});

test('a window distinguishes ten thousand ids, and all of them expire on time (11.11)', () => {
  const queue = openFifo();
  const ids = Array.from({ length: 10_000 }, (_, at) => `order-${at}`);
  for (const id of ids) assert.equal(isKnown(queue, id), false);
  queue.advance(299);
  for (const id of ids) assert.equal(isKnown(queue, id), true);
  queue.advance(1);
  assert.equal(queue.describe().windowEntries, 0);
  for (const id of ids) assert.equal(isKnown(queue, id), false);
});

test('DeduplicationIntervalSeconds makes the window longer, up to 14 days (O1)', () => {
  const queue = openFifo({ DeduplicationIntervalSeconds: '1209600' });
  isKnown(queue);
  queue.advance(1_209_599.999);
  assert.equal(isKnown(queue), true);
  queue.advance(0.001);
  assert.equal(isKnown(queue), false);
});

test('DeduplicationIntervalSeconds makes the window shorter, also for ids accepted before (O1)', () => {
  const queue = openFifo();
  isKnown(queue);
  queue.advance(10);
  queue.set({ DeduplicationIntervalSeconds: '10' });
  assert.equal(isKnown(queue), false);
});

test('a longer window keeps the ids that are still in it (O1)', () => {
  const queue = openFifo();
  isKnown(queue);
  queue.advance(299);
  queue.set({ DeduplicationIntervalSeconds: '600' });
  queue.advance(300);
  assert.equal(isKnown(queue), true);
  queue.advance(1);
  assert.equal(isKnown(queue), false);
});

test('the window can be cleared without affecting the messages (O6)', () => {
  const queue = openFifo();
  isKnown(queue);
  const forgotten = queue.home.apply({ type: 'forget-window', queue: queue.name });
  assert.equal(accepted(forgotten).entries, 1);
  assert.equal(isKnown(queue), false);
  assert.deepEqual(queue.counts(), [2, 0, 0]);
});
