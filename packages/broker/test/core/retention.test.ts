/**
 * Retention: how long a message that nobody deletes stays, whatever state it is in. Dead letters, which count from
 * another time, are in dead-letter-queues.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accepted, openQueue } from './fixture.ts';

const minute = { MessageRetentionPeriod: '60' };

test('a message exists until its retention ends, and is gone exactly then (9.9)', () => {
  for (const fifo of [false, true]) {
    const queue = openQueue({ fifo, attributes: minute });
    queue.send();
    queue.advance(59.999);
    assert.deepEqual(queue.counts(), [1, 0, 0]);
    queue.advance(0.001);
    assert.deepEqual(queue.counts(), [0, 0, 0]);
    assert.deepEqual(queue.receive(), []);
  }
});

test('a message expires by the clock alone, without a tick in between (9.9)', () => {
  const queue = openQueue({ attributes: minute });
  queue.send();
  queue.home.now += 60_000;
  assert.deepEqual(queue.receive(), []);
});

test('a message expires while it is in flight, and deleting it then succeeds (9.9)', () => {
  for (const fifo of [false, true]) {
    const queue = openQueue({ fifo, attributes: minute });
    queue.send();
    const message = queue.receiveOne({ visibilitySeconds: 1000 });
    queue.advance(60);
    assert.deepEqual(queue.counts(), [0, 0, 0]);
    queue.remove(message);
  }
});

test('a message expires while it is delayed (9.9)', () => {
  const queue = openQueue({ attributes: minute });
  queue.send({ delaySeconds: 900 });
  queue.advance(60);
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});

test('receiving a message does not extend its retention, which counts from the send (9.9)', () => {
  const queue = openQueue({ attributes: minute });
  queue.send();
  queue.advance(30);
  queue.receiveOne({ visibilitySeconds: 1 });
  queue.advance(30);
  assert.deepEqual(queue.receive(), []);
});

test('a shorter retention expires messages that are older (6)', () => {
  const queue = openQueue();
  queue.send({ body: 'old' });
  queue.advance(100);
  queue.send({ body: 'young' });
  queue.set(minute);
  assert.deepEqual(queue.receiveBodies(), ['young']);
});

test('a longer retention also applies to existing messages (6)', () => {
  const queue = openQueue({ attributes: minute });
  queue.send();
  queue.advance(59);
  queue.set({ MessageRetentionPeriod: '120' });
  queue.advance(60);
  assert.deepEqual(queue.counts(), [1, 0, 0]);
  queue.advance(1);
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});

test('when all messages and receive attempts have expired, nothing is due (9.9)', () => {
  const queue = openQueue({ fifo: true, attributes: minute });
  queue.send();
  accepted(queue.tryReceive({ attemptId: 'a', visibilitySeconds: 5 }));
  queue.advance(1000);
  assert.equal(queue.home.engine.nextDueAt(), undefined);
});
