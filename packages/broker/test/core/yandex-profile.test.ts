/**
 * The profile `yandex`: an equal body is a duplicate as well, although the ids differ. Everything else about
 * deduplication is as in fifo-deduplication.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256Hex } from '../../src/core/digest/digests.ts';
import type { DuplicateEvent } from '../../src/core/events.ts';
import { assertRefused, openQueue, type TestQueue } from './fixture.ts';

function openYandex(attributes: Readonly<Record<string, string>> = {}): TestQueue {
  const profile = { Profile: 'yandex', ContentBasedDeduplication: 'true' };
  return openQueue({ fifo: true, attributes: { ...profile, ...attributes } });
}

test('a profile is aws or yandex (O2)', () => {
  const queue = openQueue({ fifo: true });
  for (const Profile of ['yandex', 'aws']) queue.set({ Profile });
  assertRefused(
    queue.trySet({ Profile: 'Yandex' }),
    'InvalidAttributeValue',
    'Invalid value for the parameter Profile.',
  );
});

test('an equal body under another id is a duplicate of the first (O2)', () => {
  const queue = openYandex();
  const first = queue.send({ deduplicationId: 'd1' });
  const second = queue.send({ deduplicationId: 'd2' });
  assert.equal(second.isDuplicate, true);
  assert.equal(second.messageId, first.messageId);
  assert.equal(second.sequence, first.sequence);
  assert.deepEqual(queue.counts(), [1, 0, 0]);
});

test('an equal body is a duplicate whether ids were given or not (O2)', () => {
  const queue = openYandex();
  queue.send({ body: 'one', deduplicationId: undefined });
  assert.equal(queue.send({ body: 'one', deduplicationId: 'd' }).isDuplicate, true);
  queue.send({ body: 'two', deduplicationId: 'd2' });
  assert.equal(queue.send({ body: 'two', deduplicationId: undefined }).isDuplicate, true);
});

test('a body whose hash is in the window is a duplicate, whether it was given as an id or computed before the profile was set (O2)', () => {
  const queue = openYandex({ Profile: 'aws' });
  queue.send({ body: 'one', deduplicationId: undefined });
  queue.set({ Profile: 'yandex' });
  assert.equal(queue.send({ body: 'one', deduplicationId: 'd1' }).isDuplicate, true);
  queue.send({ body: 'two', deduplicationId: sha256Hex('three') });
  assert.equal(queue.send({ body: 'three', deduplicationId: 'd2' }).isDuplicate, true);
});

test('an equal id with a different body is still a duplicate (O2)', () => {
  const queue = openYandex();
  queue.send({ body: 'one', deduplicationId: 'd' });
  assert.equal(queue.send({ body: 'two', deduplicationId: 'd' }).isDuplicate, true);
});

test('a different id with a different body is a new message (O2)', () => {
  const queue = openYandex();
  queue.send({ body: 'one', deduplicationId: 'd1' });
  assert.equal(queue.send({ body: 'two', deduplicationId: 'd2' }).isDuplicate, false);
});

test('the id of a duplicate by body does not enter the window (O2)', () => {
  const queue = openYandex();
  queue.send({ body: 'one', deduplicationId: 'd1' });
  queue.send({ body: 'one', deduplicationId: 'd2' });
  assert.equal(queue.send({ body: 'two', deduplicationId: 'd2' }).isDuplicate, false);
});

test('different attributes do not make an equal body a new message (O2)', () => {
  const queue = openYandex();
  queue.send();
  const attributes = [{ name: 'a', type: 'String', stringValue: 'x' }];
  assert.equal(queue.send({ attributes }).isDuplicate, true);
});

test('a body stays in the window as long as an id, even after its message was deleted (O2)', () => {
  const queue = openYandex();
  queue.send();
  queue.remove(queue.receiveOne());
  queue.advance(299.999);
  assert.equal(queue.send().isDuplicate, true);
  queue.advance(0.001);
  assert.equal(queue.send().isDuplicate, false);
});

test('bodies are compared in the same scope as ids (O2)', () => {
  const queue = openYandex({ DeduplicationScope: 'messageGroup' });
  queue.send({ groupId: 'g1' });
  assert.equal(queue.send({ groupId: 'g2' }).isDuplicate, false);
  assert.equal(queue.send({ groupId: 'g1' }).isDuplicate, true);
});

test('without content-based deduplication bodies do not matter (O2)', () => {
  const queue = openYandex({ ContentBasedDeduplication: 'false' });
  queue.send();
  assert.equal(queue.send().isDuplicate, false);
});

test('a purge also forgets bodies (O2)', () => {
  const queue = openYandex();
  queue.send();
  queue.purge();
  assert.equal(queue.send().isDuplicate, false);
});

test('a duplicate by body says so (O2, O3)', () => {
  const queue = openYandex();
  queue.send({ deduplicationId: 'd1' });
  queue.send({ deduplicationId: 'd2' });
  const event = queue.home.events.at(-1) as DuplicateEvent;
  assert.equal(event.matchedBy, 'body');
  assert.equal(event.deduplicationId, 'd2');
  assert.deepEqual(event.differed, { body: false, attributes: false, group: false });
});

test('under the profile aws the same sends are two messages (O2)', () => {
  const queue = openYandex({ Profile: 'aws' });
  queue.send({ deduplicationId: 'd1' });
  assert.equal(queue.send({ deduplicationId: 'd2' }).isDuplicate, false);
});
