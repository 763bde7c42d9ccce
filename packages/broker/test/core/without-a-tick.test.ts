/**
 * Time counts by the clock that a command brings, whether or not a tick did before what fell due; and in the end nothing is
 * due any more. A backend always ticks first, so only the engine can show this.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accepted, openQueue } from './fixture.ts';

const minute = { MessageRetentionPeriod: '60' };

test('the window closes by the clock alone, without a tick in between (11.11)', () => {
  const queue = openQueue({ fifo: true });
  queue.send({ deduplicationId: 'd' });
  queue.home.now += 300_000;
  assert.equal(queue.send({ deduplicationId: 'd' }).isDuplicate, false);
});

test('a message is visible again by the clock alone, without a tick in between (9.4)', () => {
  const queue = openQueue();
  queue.send();
  queue.receiveOne({ visibilitySeconds: 5 });
  queue.home.now += 5000;
  assert.equal(queue.receive().length, 1);
});

test('a name is free again by the clock alone, without a tick in between (5.4)', () => {
  const queue = openQueue();
  queue.delete();
  queue.home.now += 60_000;
  queue.home.createQueue(queue.name);
});

test('a message expires by the clock alone, without a tick in between (9.9)', () => {
  const queue = openQueue({ attributes: minute });
  queue.send();
  queue.home.now += 60_000;
  assert.deepEqual(queue.receive(), []);
});

test('when all messages and receive attempts have expired, nothing is due (9.9)', () => {
  const queue = openQueue({ fifo: true, attributes: minute });
  queue.send();
  accepted(queue.tryReceive({ attemptId: 'a', visibilitySeconds: 5 }));
  queue.advance(1000);
  assert.equal(queue.home.engine.nextDueAt(), undefined);
});
