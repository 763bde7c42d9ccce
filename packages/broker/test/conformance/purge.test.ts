/**
 * PurgeQueue: everything goes, remembered ids included, and not too often. What a purge does to the window in detail is
 * in fifo-deduplication.
 */

import assert from 'node:assert/strict';
import { relaxedLimits } from '../../src/core/limits.ts';
import { assertRefused, test } from './fixture.ts';

test('a purge removes waiting, delayed and in-flight messages (5.11)', async (open) => {
  for (const fifo of [false, true]) {
    const queue = await open.queue({ fifo });
    await queue.send();
    await queue.receiveOne();
    await queue.send(fifo ? { groupId: 'other' } : { delaySeconds: 900 });
    await queue.send(fifo ? { groupId: 'third' } : {});
    await queue.purge();
    assert.deepEqual(await queue.counts(), [0, 0, 0]);
    await queue.advance(1000);
    assert.deepEqual(await queue.receive(), []);
  }
});

test('messages sent after a purge stay (5.11)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g-1');
  await queue.receiveOne();
  await queue.purge();
  await queue.sendNamed('g-2');
  assert.deepEqual(await queue.receiveBodies(), ['g-2']);
});

test('a purge empties the deduplication window (5.11)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send({ deduplicationId: 'd' });
  await queue.purge();
  assert.equal((await queue.send({ deduplicationId: 'd' })).isDuplicate, false);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
});

test('a second purge within 60 seconds is refused (5.11)', async (open) => {
  const queue = await open.queue();
  await queue.purge();
  await queue.send();
  await queue.advance(59.999);
  const text = 'Only one PurgeQueue operation on jobs is allowed every 60 seconds.';
  assertRefused(await queue.tryPurge(), 'PurgeQueueInProgress', text);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
  await queue.advance(0.001);
  await queue.purge();
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});

test('a refused purge does not postpone the next (5.11)', async (open) => {
  const queue = await open.queue();
  await queue.purge();
  await queue.advance(30);
  assertRefused(await queue.tryPurge(), 'PurgeQueueInProgress');
  await queue.advance(30);
  await queue.purge();
});

test('one queue may be purged right after another (5.11)', async (open) => {
  const queue = await open.queue();
  await queue.purge();
  await (await queue.home.createQueue('other')).purge();
});

test('the wait between purges can be switched off (5.11)', async (open) => {
  const queue = await open.queue({ limits: relaxedLimits });
  await queue.purge();
  await queue.purge();
});

test('the handle of a purged message can be deleted without effect, and its timeout cannot be changed (5.11)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  const message = await queue.receiveOne();
  await queue.purge();
  await queue.send();
  await queue.remove(message);
  assertRefused(await queue.tryChangeVisibility(message.receiptHandle, 0), 'InvalidParameterValue');
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
});
