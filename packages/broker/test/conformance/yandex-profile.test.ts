/**
 * The profile `yandex`: an equal body is a duplicate as well, although the ids differ. Everything else about
 * deduplication is as in fifo-deduplication.
 */

import assert from 'node:assert/strict';
import { sha256Hex } from '../../src/core/digest/digests.ts';
import type { DuplicateEvent } from '../../src/core/events.ts';
import { assertRefused, type Opener, type TestQueue, test } from './fixture.ts';

async function openYandex(
  open: Opener,
  attributes: Readonly<Record<string, string>> = {},
): Promise<TestQueue> {
  const profile = { Profile: 'yandex', ContentBasedDeduplication: 'true' };
  return await open.queue({ fifo: true, attributes: { ...profile, ...attributes } });
}

test('a profile is aws or yandex (O2)', async (open) => {
  const queue = await open.queue({ fifo: true });
  for (const Profile of ['yandex', 'aws']) await queue.set({ Profile });
  assertRefused(
    await queue.trySet({ Profile: 'Yandex' }),
    'InvalidAttributeValue',
    'Invalid value for the parameter Profile.',
  );
});

test('an equal body under another id is a duplicate of the first (O2)', async (open) => {
  const queue = await openYandex(open);
  const first = await queue.send({ deduplicationId: 'd1' });
  const second = await queue.send({ deduplicationId: 'd2' });
  assert.equal(second.isDuplicate, true);
  assert.equal(second.messageId, first.messageId);
  assert.equal(second.sequence, first.sequence);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
});

test('an equal body is a duplicate whether ids were given or not (O2)', async (open) => {
  const queue = await openYandex(open);
  await queue.send({ body: 'one', deduplicationId: undefined });
  assert.equal((await queue.send({ body: 'one', deduplicationId: 'd' })).isDuplicate, true);
  await queue.send({ body: 'two', deduplicationId: 'd2' });
  assert.equal((await queue.send({ body: 'two', deduplicationId: undefined })).isDuplicate, true);
});

test('a body whose hash is in the window is a duplicate, whether it was given as an id or computed before the profile was set (O2)', async (open) => {
  const queue = await openYandex(open, { Profile: 'aws' });
  await queue.send({ body: 'one', deduplicationId: undefined });
  await queue.set({ Profile: 'yandex' });
  assert.equal((await queue.send({ body: 'one', deduplicationId: 'd1' })).isDuplicate, true);
  await queue.send({ body: 'two', deduplicationId: sha256Hex('three') });
  assert.equal((await queue.send({ body: 'three', deduplicationId: 'd2' })).isDuplicate, true);
});

test('an equal id with a different body is still a duplicate (O2)', async (open) => {
  const queue = await openYandex(open);
  await queue.send({ body: 'one', deduplicationId: 'd' });
  assert.equal((await queue.send({ body: 'two', deduplicationId: 'd' })).isDuplicate, true);
});

test('a different id with a different body is a new message (O2)', async (open) => {
  const queue = await openYandex(open);
  await queue.send({ body: 'one', deduplicationId: 'd1' });
  assert.equal((await queue.send({ body: 'two', deduplicationId: 'd2' })).isDuplicate, false);
});

test('the id of a duplicate by body does not enter the window (O2)', async (open) => {
  const queue = await openYandex(open);
  await queue.send({ body: 'one', deduplicationId: 'd1' });
  await queue.send({ body: 'one', deduplicationId: 'd2' });
  assert.equal((await queue.send({ body: 'two', deduplicationId: 'd2' })).isDuplicate, false);
});

test('different attributes do not make an equal body a new message (O2)', async (open) => {
  const queue = await openYandex(open);
  await queue.send();
  const attributes = [{ name: 'a', type: 'String', stringValue: 'x' }];
  assert.equal((await queue.send({ attributes })).isDuplicate, true);
});

test('a body stays in the window as long as an id, even after its message was deleted (O2)', async (open) => {
  const queue = await openYandex(open);
  await queue.send();
  await queue.remove(await queue.receiveOne());
  await queue.advance(299.999);
  assert.equal((await queue.send()).isDuplicate, true);
  await queue.advance(0.001);
  assert.equal((await queue.send()).isDuplicate, false);
});

test('bodies are compared in the same scope as ids (O2)', async (open) => {
  const queue = await openYandex(open, { DeduplicationScope: 'messageGroup' });
  await queue.send({ groupId: 'g1' });
  assert.equal((await queue.send({ groupId: 'g2' })).isDuplicate, false);
  assert.equal((await queue.send({ groupId: 'g1' })).isDuplicate, true);
});

test('without content-based deduplication bodies do not matter (O2)', async (open) => {
  const queue = await openYandex(open, { ContentBasedDeduplication: 'false' });
  await queue.send();
  assert.equal((await queue.send()).isDuplicate, false);
});

test('a purge also forgets bodies (O2)', async (open) => {
  const queue = await openYandex(open);
  await queue.send();
  await queue.purge();
  assert.equal((await queue.send()).isDuplicate, false);
});

test('a duplicate by body says so (O2, O3)', async (open) => {
  const queue = await openYandex(open);
  await queue.send({ deduplicationId: 'd1' });
  await queue.send({ deduplicationId: 'd2' });
  const event = (await queue.home.events()).at(-1) as DuplicateEvent;
  assert.equal(event.matchedBy, 'body');
  assert.equal(event.deduplicationId, 'd2');
  assert.deepEqual(event.differed, { body: false, attributes: false, group: false });
});

test('under the profile aws the same sends are two messages (O2)', async (open) => {
  const queue = await openYandex(open, { Profile: 'aws' });
  await queue.send({ deduplicationId: 'd1' });
  assert.equal((await queue.send({ deduplicationId: 'd2' })).isDuplicate, false);
});
