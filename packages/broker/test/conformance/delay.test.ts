/**
 * Delays: a message's own on standard queues, the queue's current setting on FIFO queues. Which values are allowed is
 * in sending.
 */

import assert from 'node:assert/strict';
import { test } from './fixture.ts';

test('a delayed message is visible exactly when its delay is over (8.1)', async (open) => {
  const queue = await open.queue();
  await queue.send({ delaySeconds: 900 });
  await queue.advance(899.999);
  assert.deepEqual(await queue.receive(), []);
  await queue.advance(0.001);
  assert.equal((await queue.receive()).length, 1);
});

test("a message's own delay overrides the queue's, 0 included (8.1)", async (open) => {
  const queue = await open.queue({ attributes: { DelaySeconds: '5' } });
  await queue.send({ body: 'queue' });
  await queue.send({ body: 'none', delaySeconds: 0 });
  await queue.send({ body: 'longer', delaySeconds: 7 });
  assert.deepEqual(await queue.receiveBodies({ visibilitySeconds: 60 }), ['none']);
  await queue.advance(5);
  assert.deepEqual(await queue.receiveBodies({ visibilitySeconds: 60 }), ['queue']);
  await queue.advance(2);
  assert.deepEqual(await queue.receiveBodies({ visibilitySeconds: 60 }), ['longer']);
});

test('a new queue delay does not affect existing messages of a standard queue (6)', async (open) => {
  const queue = await open.queue({ attributes: { DelaySeconds: '5' } });
  await queue.send({ body: 'before' });
  await queue.set({ DelaySeconds: '50' });
  await queue.send({ body: 'after' });
  await queue.advance(5);
  assert.deepEqual(await queue.receiveBodies(), ['before']);
});

test('a FIFO message is delayed from its send by the delay of its queue (11.23)', async (open) => {
  const queue = await open.queue({ fifo: true, attributes: { DelaySeconds: '10' } });
  await queue.send();
  await queue.advance(9.999);
  assert.deepEqual(await queue.receive(), []);
  await queue.advance(0.001);
  assert.equal((await queue.receive()).length, 1);
});

test('a delayed FIFO message blocks the later ones of its group (11.23)', async (open) => {
  const queue = await open.queue({ fifo: true, attributes: { DelaySeconds: '10' } });
  await queue.sendNamed('g-1');
  await queue.advance(5);
  await queue.sendNamed('g-2');
  await queue.advance(5);
  assert.deepEqual(await queue.receiveBodies({ visibilitySeconds: 0 }), ['g-1']);
  await queue.advance(5);
  assert.deepEqual(await queue.receiveBodies(), ['g-1', 'g-2']);
});

test('a delay does not apply again after the first receive (11.23)', async (open) => {
  const queue = await open.queue({ fifo: true, attributes: { DelaySeconds: '10' } });
  await queue.send();
  await queue.advance(10);
  await queue.changeVisibility(await queue.receiveOne(), 0);
  assert.equal((await queue.receive()).length, 1);
});

test('a longer FIFO delay applies to messages already waiting, counted from their send (11.24)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
  await queue.advance(3);
  await queue.set({ DelaySeconds: '10' });
  assert.deepEqual(await queue.counts(), [0, 0, 1]);
  await queue.advance(6.999);
  assert.deepEqual(await queue.receive(), []);
  await queue.advance(0.001);
  assert.equal((await queue.receive()).length, 1);
});

test('a shorter FIFO delay applies to messages already waiting (11.24)', async (open) => {
  const queue = await open.queue({ fifo: true, attributes: { DelaySeconds: '900' } });
  await queue.sendNamed('g-1');
  await queue.advance(10);
  await queue.sendNamed('g-2');
  await queue.set({ DelaySeconds: '10' });
  assert.deepEqual(await queue.counts(), [1, 0, 1]);
  assert.deepEqual(await queue.receiveBodies({ visibilitySeconds: 0 }), ['g-1']);
  await queue.set({ DelaySeconds: '0' });
  assert.deepEqual(await queue.receiveBodies(), ['g-1', 'g-2']);
});

test('a new FIFO delay does not affect messages that were already received (11.24)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  const message = await queue.receiveOne({ visibilitySeconds: 5 });
  await queue.set({ DelaySeconds: '900' });
  assert.deepEqual(await queue.counts(), [0, 1, 0]);
  await queue.changeVisibility(message, 0);
  assert.equal((await queue.receive()).length, 1);
});

test('a message older than the new FIFO delay stays visible (11.24)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1');
  await queue.advance(10);
  await queue.sendNamed('g2-1');
  await queue.set({ DelaySeconds: '10' });
  assert.deepEqual(await queue.receiveBodies(), ['g1-1']);
});
