/**
 * Deduplication: which sends are duplicates of which, for how long, and what a duplicate is answered. The edges of the
 * window are tried to the millisecond. The profile that also compares bodies is in yandex-profile.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { relaxedLimits } from '../../src/core/limits.ts';
import { accepted, type Opener, type TestQueue, test } from './fixture.ts';

const helloHash = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
const byContent = { deduplicationId: undefined };

async function openFifo(
  open: Opener,
  attributes: Readonly<Record<string, string>> = {},
): Promise<TestQueue> {
  return await open.queue({ fifo: true, attributes });
}

async function openContentBased(
  open: Opener,
  attributes: Readonly<Record<string, string>> = {},
): Promise<TestQueue> {
  return await openFifo(open, { ContentBasedDeduplication: 'true', ...attributes });
}

/** Whether a send with the id is a duplicate now. */
async function isKnown(queue: TestQueue, deduplicationId = 'd', groupId = 'g'): Promise<boolean> {
  return (await queue.send({ deduplicationId, groupId })).isDuplicate;
}

test('an explicit id is used and shown (11.8, 11.15)', async (open) => {
  const queue = await openContentBased(open);
  await queue.send({ deduplicationId: 'order-1' });
  assert.equal((await queue.receiveOne()).content.deduplicationId, 'order-1');
});

test("without an id the lower-case hex SHA-256 of the body's UTF-8 is used and shown (11.8, 11.15)", async (open) => {
  const queue = await openContentBased(open);
  await queue.send({ body: 'hello', ...byContent });
  await queue.send({ body: 'grüße 😀', ...byContent });
  const hash = createHash('sha256').update('grüße 😀', 'utf8').digest('hex');
  assert.deepEqual(
    (await queue.receive()).map(({ content }) => content.deduplicationId),
    [helloHash, hash],
  );
});

test('equal bodies are duplicates by content whatever their attributes (11.8)', async (open) => {
  const queue = await openContentBased(open);
  await queue.send({ ...byContent });
  const attributes = [{ name: 'a', type: 'String', stringValue: 'x' }];
  assert.equal((await queue.send({ ...byContent, attributes })).isDuplicate, true);
  assert.equal((await queue.send({ ...byContent, body: 'Hello' })).isDuplicate, false);
});

test('equal bodies with different ids are two messages, even with content-based deduplication (11.9)', async (open) => {
  const queue = await openContentBased(open);
  assert.equal((await queue.send({ deduplicationId: 'd1' })).isDuplicate, false);
  assert.equal((await queue.send({ deduplicationId: 'd2' })).isDuplicate, false);
  assert.equal((await queue.send(byContent)).isDuplicate, false);
  assert.deepEqual(await queue.counts(), [3, 0, 0]);
});

test('different bodies with one id are one message (11.9)', async (open) => {
  const queue = await openContentBased(open);
  await queue.send({ body: 'one', deduplicationId: 'd' });
  assert.equal((await queue.send({ body: 'two', deduplicationId: 'd' })).isDuplicate, true);
  assert.deepEqual(await queue.receiveBodies(), ['one']);
});

test('an id equal to the hash of an earlier body is a duplicate of it (11.9)', async (open) => {
  const queue = await openContentBased(open);
  await queue.send({ body: 'hello', ...byContent });
  assert.equal((await queue.send({ body: 'other', deduplicationId: helloHash })).isDuplicate, true);
});

test('a body whose hash was given as an id before is a duplicate of that message (11.9)', async (open) => {
  const queue = await openContentBased(open);
  await queue.send({ body: 'other', deduplicationId: helloHash });
  assert.equal((await queue.send({ body: 'hello', ...byContent })).isDuplicate, true);
});

test('ids that differ in case or in their last character are different (11.9)', async (open) => {
  const queue = await openFifo(open);
  const long = 'x'.repeat(127);
  for (const id of ['d', 'D', `${long}a`, `${long}b`]) {
    assert.equal(await isKnown(queue, id), false);
  }
});

test('with scope queue an id applies to all groups (11.10)', async (open) => {
  const queue = await openFifo(open);
  assert.equal(await isKnown(queue, 'd', 'g1'), false);
  assert.equal(await isKnown(queue, 'd', 'g2'), true);
});

test('with scope messageGroup an id applies only to its own group (11.10)', async (open) => {
  const queue = await openFifo(open, { DeduplicationScope: 'messageGroup' });
  assert.equal(await isKnown(queue, 'd', 'g1'), false);
  assert.equal(await isKnown(queue, 'd', 'g2'), false);
  assert.equal(await isKnown(queue, 'd', 'g1'), true);
  assert.equal(await isKnown(queue, 'd', 'g2'), true);
});

test('with scope messageGroup a content hash applies only to its own group (11.10)', async (open) => {
  const queue = await openContentBased(open, { DeduplicationScope: 'messageGroup' });
  assert.equal((await queue.send({ ...byContent, groupId: 'g1' })).isDuplicate, false);
  assert.equal((await queue.send({ ...byContent, groupId: 'g2' })).isDuplicate, false);
  assert.equal((await queue.send({ ...byContent, groupId: 'g1' })).isDuplicate, true);
});

test('a group and an id are never confused with each other (11.10)', async (open) => {
  const queue = await openFifo(open, { DeduplicationScope: 'messageGroup' });
  assert.equal(await isKnown(queue, 'ab', 'c'), false);
  assert.equal(await isKnown(queue, 'a', 'bc'), false);
  assert.equal(await isKnown(queue, 'c', 'ab'), false);
});

test('ids of another queue have no effect (11.10)', async (open) => {
  const home = await open.home();
  assert.equal(await isKnown(await home.createQueue('a.fifo')), false);
  assert.equal(await isKnown(await home.createQueue('b.fifo')), false);
});

test('the same id is a duplicate 299 seconds later (11.11)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue);
  await queue.advance(299);
  assert.equal(await isKnown(queue), true);
});

test('the same id is a duplicate one millisecond before the window closes (11.11)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue);
  await queue.advance(299.999);
  assert.equal(await isKnown(queue), true);
});

test('the same id is a new message exactly 300 seconds later (11.11)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue);
  await queue.advance(300);
  assert.equal(await isKnown(queue), false);
});

test('the same id is a new message 301 seconds later (11.11)', async (open) => {
  const queue = await openFifo(open);
  const first = await queue.send({ deduplicationId: 'd' });
  await queue.advance(301);
  const second = await queue.send({ deduplicationId: 'd' });
  assert.equal(second.isDuplicate, false);
  assert.notEqual(second.messageId, first.messageId);
  assert.deepEqual(await queue.counts(), [2, 0, 0]);
});

test('a duplicate does not extend the window (11.11)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue);
  await queue.advance(200);
  assert.equal(await isKnown(queue), true);
  await queue.advance(100);
  assert.equal(await isKnown(queue), false);
});

test('a message accepted after the window opens a window of its own (11.11)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue);
  await queue.advance(300);
  await isKnown(queue);
  await queue.advance(299);
  assert.equal(await isKnown(queue), true);
});

test('each id has its own window (11.11)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue, 'one');
  await queue.advance(150);
  await isKnown(queue, 'two');
  await queue.advance(150);
  assert.equal(await isKnown(queue, 'two'), true);
  assert.equal(await isKnown(queue, 'one'), false);
});

test('the window entry outlives the receive of its message (11.12)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue);
  await queue.receiveOne();
  assert.equal(await isKnown(queue), true);
});

test('the window entry outlives the deletion of its message (11.12, 17.4)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue);
  await queue.remove(await queue.receiveOne());
  assert.equal(await isKnown(queue), true);
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});

test('the window entry outlives the expiry of its message (11.12)', async (open) => {
  const queue = await openFifo(open, { MessageRetentionPeriod: '60' });
  await isKnown(queue);
  await queue.advance(61);
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
  assert.equal(await isKnown(queue), true);
});

test('the window entry outlives the move of its message to the dead-letter queue (11.12)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters({ fifo: true });
  await isKnown(queue);
  await queue.receiveOne({ visibilitySeconds: 0 });
  assert.deepEqual(await queue.receive(), []);
  assert.deepEqual(await dead.counts(), [1, 0, 0]);
  assert.equal(await isKnown(queue), true);
});

test('a purge empties the window (11.12, 17.4)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue);
  await queue.purge();
  assert.equal(await isKnown(queue), false);
});

test('a queue recreated under its old name has an empty window (11.12)', async (open) => {
  const queue = await open.queue({ fifo: true, limits: relaxedLimits });
  await isKnown(queue);
  await queue.delete();
  assert.equal(await isKnown(await queue.home.createQueue(queue.name)), false);
});

test('a duplicate is answered with MessageId and sequence of the first message (11.13)', async (open) => {
  const queue = await openFifo(open);
  const first = await queue.send({ deduplicationId: 'd' });
  await queue.send();
  const again = await queue.send({ deduplicationId: 'd' });
  assert.equal(again.isDuplicate, true);
  assert.equal(again.messageId, first.messageId);
  assert.equal(again.sequence, first.sequence);
});

test('a duplicate is answered with the digests of its own body and attributes (11.13)', async (open) => {
  const queue = await openFifo(open);
  await queue.send({ body: 'one', deduplicationId: 'd' });
  const attributes = [{ name: 'Foo', type: 'String', stringValue: 'Bar' }];
  const again = await queue.send({ body: 'two', deduplicationId: 'd', attributes });
  assert.equal(again.bodyMd5, createHash('md5').update('two').digest('hex'));
  assert.equal(again.attributesMd5, 'ae7155c6026991b6d54b11589678bf9c');
});

test('a duplicate changes neither order nor counts (11.13)', async (open) => {
  const queue = await openFifo(open);
  await queue.send({ body: 'one', deduplicationId: 'd1' });
  await queue.send({ body: 'two', deduplicationId: 'd2' });
  await queue.send({ body: 'one again', deduplicationId: 'd1' });
  assert.deepEqual(await queue.counts(), [2, 0, 0]);
  assert.deepEqual(await queue.receiveBodies(), ['one', 'two']);
});

test('a duplicate sent to another group adds nothing to that group (11.13)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue, 'd', 'g1');
  await isKnown(queue, 'd', 'g2');
  assert.equal((await queue.describe()).groups, 1);
});

test('entries of one batch are duplicates of earlier entries (11.14)', async (open) => {
  const queue = await openFifo(open);
  const ids = ['a', 'b', 'a', 'b', 'c'];
  const results = (
    await queue.sendBatch(ids.map((deduplicationId, at) => ({ deduplicationId, body: `${at}` })))
  ).map((result) => accepted(result));
  const duplicates = results.map(({ isDuplicate }) => isDuplicate);
  assert.deepEqual(duplicates, [false, false, true, true, false]);
  assert.equal(results[2]?.messageId, results[0]?.messageId);
  assert.deepEqual(await queue.receiveBodies(), ['0', '1', '4']);
});

test('a refused entry is not an original for later entries (11.14)', async (open) => {
  const queue = await openFifo(open);
  const [refused, sent] = await queue.sendBatch([
    { body: '\0', deduplicationId: 'd' },
    { body: 'fine', deduplicationId: 'd' },
  ]);
  assert.equal(refused?.ok, false);
  assert.deepEqual(await queue.receiveBodies(), ['fine']);
  assert.equal(sent?.ok && sent.isDuplicate, false);
});

test('a narrowed scope applies to the next send, including ids accepted before (11.16)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue, 'd', 'g1');
  await queue.set({ DeduplicationScope: 'messageGroup' });
  assert.equal(await isKnown(queue, 'd', 'g2'), false);
  assert.equal(await isKnown(queue, 'd', 'g1'), true);
});

test('a widened scope applies to the next send, which is answered with the first message of the id (11.16)', async (open) => {
  const queue = await openFifo(open, { DeduplicationScope: 'messageGroup' });
  const first = await queue.send({ deduplicationId: 'd', groupId: 'g1' });
  await queue.send({ deduplicationId: 'd', groupId: 'g2' });
  await queue.set({ DeduplicationScope: 'queue' });
  const third = await queue.send({ deduplicationId: 'd', groupId: 'g3' });
  assert.equal(third.isDuplicate, true);
  assert.equal(third.messageId, first.messageId);
});

test('with a widened scope an id used in many groups is answered with its oldest entry in the window (11.16)', async (open) => {
  const queue = await openFifo(open, { DeduplicationScope: 'messageGroup' });
  const groups = 300;
  const ids: string[] = [];
  for (let group = 0; group < groups; group += 1) {
    await queue.advance(0.1);
    ids.push((await queue.send({ deduplicationId: '1', groupId: `g${group}` })).messageId);
  }
  await queue.set({ DeduplicationScope: 'queue' });
  const original = async (): Promise<string> =>
    (await queue.send({ deduplicationId: '1', groupId: 'new' })).messageId;
  assert.equal(await original(), ids[0]);
  // The first was sent 29.9 seconds before the last, and is forgotten that much earlier.
  await queue.advance(300 - 29.9);
  assert.equal(await original(), ids[1]);
  await queue.advance(20);
  assert.equal(await original(), ids[201]);
  await queue.advance(10);
  assert.ok(!ids.includes(await original()));
});

test('turning content-based deduplication on or off forgets no id (11.16)', async (open) => {
  const queue = await openContentBased(open);
  await queue.send({ body: 'hello', ...byContent });
  await queue.set({ ContentBasedDeduplication: 'false' });
  assert.equal(await isKnown(queue, helloHash), true);
  await queue.set({ ContentBasedDeduplication: 'true' });
  assert.equal((await queue.send({ body: 'hello', ...byContent })).isDuplicate, true);
});

test('of many sends with one id in the same millisecond exactly one is accepted (11.17)', async (open) => {
  const queue = await openFifo(open);
  const results = await Promise.all(
    Array.from({ length: 100 }, () => queue.send({ deduplicationId: 'd' })),
  );
  assert.equal(results.filter(({ isDuplicate }) => !isDuplicate).length, 1);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
});

test('a window distinguishes ten thousand ids, and all of them expire on time (11.11)', async (open) => {
  const queue = await openFifo(open);
  const ids = Array.from({ length: 10_000 }, (_, at) => `order-${at}`);
  const areKnown = async (): Promise<readonly boolean[]> => {
    const results = await queue.sendMany(ids.map((deduplicationId) => ({ deduplicationId })));
    return [...new Set(results.map(({ isDuplicate }) => isDuplicate))];
  };
  assert.deepEqual(await areKnown(), [false]);
  await queue.advance(299);
  assert.deepEqual(await areKnown(), [true]);
  await queue.advance(1);
  assert.equal((await queue.describe()).windowEntries, 0);
  assert.deepEqual(await areKnown(), [false]);
});

test('DeduplicationIntervalSeconds makes the window longer, up to 14 days (O1)', async (open) => {
  const queue = await openFifo(open, { DeduplicationIntervalSeconds: '1209600' });
  await isKnown(queue);
  await queue.advance(1_209_599.999);
  assert.equal(await isKnown(queue), true);
  await queue.advance(0.001);
  assert.equal(await isKnown(queue), false);
});

test('DeduplicationIntervalSeconds makes the window shorter, also for ids accepted before (O1)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue);
  await queue.advance(10);
  await queue.set({ DeduplicationIntervalSeconds: '10' });
  assert.equal(await isKnown(queue), false);
});

test('a longer window keeps the ids that are still in it (O1)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue);
  await queue.advance(299);
  await queue.set({ DeduplicationIntervalSeconds: '600' });
  await queue.advance(300);
  assert.equal(await isKnown(queue), true);
  await queue.advance(1);
  assert.equal(await isKnown(queue), false);
});

test('the window can be cleared without affecting the messages (O6)', async (open) => {
  const queue = await openFifo(open);
  await isKnown(queue);
  const forgotten = await queue.home.run({ type: 'forget-window', queue: queue.name });
  assert.equal(accepted(forgotten).entries, 1);
  assert.equal(await isKnown(queue), false);
  assert.deepEqual(await queue.counts(), [2, 0, 0]);
});
