/**
 * Delays: a message's own on standard queues, the queue's current setting on FIFO queues. Which values are allowed is
 * in sending.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openQueue } from './fixture.ts';

test('a delayed message is visible exactly when its delay is over (8.1)', () => {
  const queue = openQueue();
  queue.send({ delaySeconds: 900 });
  queue.advance(899.999);
  assert.deepEqual(queue.receive(), []);
  queue.advance(0.001);
  assert.equal(queue.receive().length, 1);
});

test("a message's own delay overrides the queue's, 0 included (8.1)", () => {
  const queue = openQueue({ attributes: { DelaySeconds: '5' } });
  queue.send({ body: 'queue' });
  queue.send({ body: 'none', delaySeconds: 0 });
  queue.send({ body: 'longer', delaySeconds: 7 });
  assert.deepEqual(queue.receiveBodies({ visibilitySeconds: 60 }), ['none']);
  queue.advance(5);
  assert.deepEqual(queue.receiveBodies({ visibilitySeconds: 60 }), ['queue']);
  queue.advance(2);
  assert.deepEqual(queue.receiveBodies({ visibilitySeconds: 60 }), ['longer']);
});

test('a new queue delay does not affect existing messages of a standard queue (6)', () => {
  const queue = openQueue({ attributes: { DelaySeconds: '5' } });
  queue.send({ body: 'before' });
  queue.set({ DelaySeconds: '50' });
  queue.send({ body: 'after' });
  queue.advance(5);
  assert.deepEqual(queue.receiveBodies(), ['before']);
});

test('a FIFO message is delayed from its send by the delay of its queue (11.23)', () => {
  const queue = openQueue({ fifo: true, attributes: { DelaySeconds: '10' } });
  queue.send();
  queue.advance(9.999);
  assert.deepEqual(queue.receive(), []);
  queue.advance(0.001);
  assert.equal(queue.receive().length, 1);
});

test('a delayed FIFO message blocks the later ones of its group (11.23)', () => {
  const queue = openQueue({ fifo: true, attributes: { DelaySeconds: '10' } });
  queue.sendNamed('g-1');
  queue.advance(5);
  queue.sendNamed('g-2');
  queue.advance(5);
  assert.deepEqual(queue.receiveBodies({ visibilitySeconds: 0 }), ['g-1']);
  queue.advance(5);
  assert.deepEqual(queue.receiveBodies(), ['g-1', 'g-2']);
});

test('a delay does not apply again after the first receive (11.23)', () => {
  const queue = openQueue({ fifo: true, attributes: { DelaySeconds: '10' } });
  queue.send();
  queue.advance(10);
  queue.changeVisibility(queue.receiveOne(), 0);
  assert.equal(queue.receive().length, 1);
});

test('a longer FIFO delay applies to messages already waiting, counted from their send (11.24)', () => {
  const queue = openQueue({ fifo: true });
  queue.send();
  assert.deepEqual(queue.counts(), [1, 0, 0]);
  queue.advance(3);
  queue.set({ DelaySeconds: '10' });
  assert.deepEqual(queue.counts(), [0, 0, 1]);
  queue.advance(6.999);
  assert.deepEqual(queue.receive(), []);
  queue.advance(0.001);
  assert.equal(queue.receive().length, 1);
});

test('a shorter FIFO delay applies to messages already waiting (11.24)', () => {
  const queue = openQueue({ fifo: true, attributes: { DelaySeconds: '900' } });
  queue.sendNamed('g-1');
  queue.advance(10);
  queue.sendNamed('g-2');
  queue.set({ DelaySeconds: '10' });
  assert.deepEqual(queue.counts(), [1, 0, 1]);
  assert.deepEqual(queue.receiveBodies({ visibilitySeconds: 0 }), ['g-1']);
  queue.set({ DelaySeconds: '0' });
  assert.deepEqual(queue.receiveBodies(), ['g-1', 'g-2']);
});

test('a new FIFO delay does not affect messages that were already received (11.24)', () => {
  const queue = openQueue({ fifo: true });
  queue.send();
  const message = queue.receiveOne({ visibilitySeconds: 5 });
  queue.set({ DelaySeconds: '900' });
  assert.deepEqual(queue.counts(), [0, 1, 0]);
  queue.changeVisibility(message, 0);
  assert.equal(queue.receive().length, 1);
});

test('a message older than the new FIFO delay stays visible (11.24)', () => {
  const queue = openQueue({ fifo: true });
  queue.sendNamed('g1-1');
  queue.advance(10);
  queue.sendNamed('g2-1');
  queue.set({ DelaySeconds: '10' });
  assert.deepEqual(queue.receiveBodies(), ['g1-1']);
});
