/**
 * Retention: how long a message that nobody deletes stays, whatever state it is in. Dead letters, which count from
 * another time, are in dead-letter-queues.
 */

import assert from 'node:assert/strict';
import { test } from './fixture.ts';

const minute = { MessageRetentionPeriod: '60' };

test('a message exists until its retention ends, and is gone exactly then (9.9)', async (open) => {
  for (const fifo of [false, true]) {
    const queue = await open.queue({ fifo, attributes: minute });
    await queue.send();
    await queue.advance(59.999);
    assert.deepEqual(await queue.counts(), [1, 0, 0]);
    await queue.advance(0.001);
    assert.deepEqual(await queue.counts(), [0, 0, 0]);
    assert.deepEqual(await queue.receive(), []);
  }
});

test('a message expires while it is in flight, and deleting it then succeeds (9.9)', async (open) => {
  for (const fifo of [false, true]) {
    const queue = await open.queue({ fifo, attributes: minute });
    await queue.send();
    const message = await queue.receiveOne({ visibilitySeconds: 1000 });
    await queue.advance(60);
    assert.deepEqual(await queue.counts(), [0, 0, 0]);
    await queue.remove(message);
  }
});

test('a message expires while it is delayed (9.9)', async (open) => {
  const queue = await open.queue({ attributes: minute });
  await queue.send({ delaySeconds: 900 });
  await queue.advance(60);
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});

test('receiving a message does not extend its retention, which counts from the send (9.9)', async (open) => {
  const queue = await open.queue({ attributes: minute });
  await queue.send();
  await queue.advance(30);
  await queue.receiveOne({ visibilitySeconds: 1 });
  await queue.advance(30);
  assert.deepEqual(await queue.receive(), []);
});

test('a shorter retention expires messages that are older (6)', async (open) => {
  const queue = await open.queue();
  await queue.send({ body: 'old' });
  await queue.advance(100);
  await queue.send({ body: 'young' });
  await queue.set(minute);
  assert.deepEqual(await queue.receiveBodies(), ['young']);
});

test('a longer retention also applies to existing messages (6)', async (open) => {
  const queue = await open.queue({ attributes: minute });
  await queue.send();
  await queue.advance(59);
  await queue.set({ MessageRetentionPeriod: '120' });
  await queue.advance(60);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
  await queue.advance(1);
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});
