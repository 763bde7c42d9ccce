/**
 * PurgeQueue: everything goes, remembered ids included, and not too often. What a purge does to the window in detail is
 * in fifo-deduplication.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relaxedLimits } from '../../src/core/limits.ts';
import { assertRefused, openQueue } from './fixture.ts';

test('a purge removes waiting, delayed and in-flight messages (5.11)', () => {
  for (const fifo of [false, true]) {
    const queue = openQueue({ fifo });
    queue.send();
    queue.receiveOne();
    queue.send(fifo ? { groupId: 'other' } : { delaySeconds: 900 });
    queue.send(fifo ? { groupId: 'third' } : {});
    queue.purge();
    assert.deepEqual(queue.counts(), [0, 0, 0]);
    queue.advance(1000);
    assert.deepEqual(queue.receive(), []);
  }
});

test('messages sent after a purge stay (5.11)', () => {
  const queue = openQueue({ fifo: true });
  queue.sendNamed('g-1');
  queue.receiveOne();
  queue.purge();
  queue.sendNamed('g-2');
  assert.deepEqual(queue.receiveBodies(), ['g-2']);
});

test('a purge empties the deduplication window (5.11)', () => {
  const queue = openQueue({ fifo: true });
  queue.send({ deduplicationId: 'd' });
  queue.purge();
  assert.equal(queue.send({ deduplicationId: 'd' }).isDuplicate, false);
  assert.deepEqual(queue.counts(), [1, 0, 0]);
});

test('a second purge within 60 seconds is refused (5.11)', () => {
  const queue = openQueue();
  queue.purge();
  queue.send();
  queue.advance(59.999);
  const text = 'Only one PurgeQueue operation on jobs is allowed every 60 seconds.';
  assertRefused(queue.tryPurge(), 'PurgeQueueInProgress', text);
  assert.deepEqual(queue.counts(), [1, 0, 0]);
  queue.advance(0.001);
  queue.purge();
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});

test('a refused purge does not postpone the next (5.11)', () => {
  const queue = openQueue();
  queue.purge();
  queue.advance(30);
  assertRefused(queue.tryPurge(), 'PurgeQueueInProgress');
  queue.advance(30);
  queue.purge();
});

test('one queue may be purged right after another (5.11)', () => {
  const queue = openQueue();
  queue.purge();
  queue.home.createQueue('other').purge();
});

test('the wait between purges can be switched off (5.11)', () => {
  const queue = openQueue({ limits: relaxedLimits });
  queue.purge();
  queue.purge();
});

test('the handle of a purged message can be deleted without effect, and its timeout cannot be changed (5.11)', () => {
  const queue = openQueue({ fifo: true });
  queue.send();
  const message = queue.receiveOne();
  queue.purge();
  queue.send();
  queue.remove(message);
  assertRefused(queue.tryChangeVisibility(message.receiptHandle, 0), 'InvalidParameterValue');
  assert.deepEqual(queue.counts(), [1, 0, 0]);
});
