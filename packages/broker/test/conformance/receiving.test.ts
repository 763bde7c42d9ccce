/**
 * ReceiveMessage: its parameters, what a receive does to a message, order on standard queues, the in-flight limit. Order
 * on FIFO queues is in fifo-order. Waiting is left to storage; the engine says until when there is nothing.
 */

import assert from 'node:assert/strict';
import { strictLimits } from '../../src/core/limits.ts';
import { accepted, assertRefused, startedAt, test } from './fixture.ts';

const twoInFlight = { ...strictLimits, inFlightMax: 2 };

test('a receive returns one message unless more are asked for (9.1)', async (open) => {
  const queue = await open.queue();
  for (let at = 0; at < 3; at += 1) await queue.send();
  assert.equal((await queue.receive({ count: undefined })).length, 1);
});

test('a receive can ask for 1 to 10 messages (9.1)', async (open) => {
  const queue = await open.queue();
  for (let at = 0; at < 12; at += 1) await queue.send();
  assert.equal((await queue.receive({ count: 10, visibilitySeconds: 0 })).length, 10);
  for (const count of [0, 11, -1, 1.5]) {
    const text = `Value ${count} for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.`;
    assertRefused(await queue.tryReceive({ count }), 'InvalidParameterValue', text);
  }
});

test('a receive hides messages for 0 to 43200 seconds (9.1)', async (open) => {
  const queue = await open.queue();
  for (const visibilitySeconds of [0, 43_200])
    accepted(await queue.tryReceive({ visibilitySeconds }));
  for (const visibilitySeconds of [-1, 43_201]) {
    const text = `Value ${visibilitySeconds} for parameter VisibilityTimeout is invalid. Reason: Must be >= 0 and <= 43200, if provided.`;
    assertRefused(await queue.tryReceive({ visibilitySeconds }), 'InvalidParameterValue', text);
  }
});

test('a refused receive hides nothing (9.1)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  assertRefused(await queue.tryReceive({ count: 11 }), 'InvalidParameterValue');
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
});

test('a receive returns what is available and does not wait to fill the answer (9.3)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  await queue.send();
  assert.equal((await queue.receive({ count: 10, waitSeconds: 20 })).length, 2);
});

test('a delete on a FIFO queue makes the next message deliverable at once (9.3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g-1', 'g-2');
  const first = await queue.receiveOne();
  assert.deepEqual(await queue.receive(), []);
  await queue.remove(first);
  assert.deepEqual(await queue.receiveBodies(), ['g-2']);
});

test('each receive is counted, and the time of the first receive stays (9.4)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  for (const receiveCount of [1, 2, 3]) {
    const message = await queue.receiveOne({ visibilitySeconds: 1 });
    assert.equal(message.receiveCount, receiveCount);
    assert.equal(message.firstReceivedAt, startedAt);
    await queue.advance(1);
  }
});

test("a received message is hidden for the request's timeout, or else the queue's (9.4)", async (open) => {
  const queue = await open.queue({ attributes: { VisibilityTimeout: '5' } });
  await queue.send();
  await queue.receiveOne();
  await queue.advance(4.999);
  assert.deepEqual(await queue.receive(), []);
  await queue.advance(0.001);
  await queue.receiveOne({ visibilitySeconds: 2 });
  await queue.advance(1.999);
  assert.deepEqual(await queue.receive(), []);
  await queue.advance(0.001);
  assert.equal((await queue.receive()).length, 1);
});

test('a receive with timeout 0 leaves the message available (9.4)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  assert.equal((await queue.receiveOne({ visibilitySeconds: 0 })).receiveCount, 1);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
  assert.equal((await queue.receiveOne()).receiveCount, 2);
});

test('a message is not given to two receivers at once (9.4)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  await queue.receiveOne();
  assert.deepEqual(await queue.receive(), []);
});

test('a standard queue returns the message that has been available longest first (9.5)', async (open) => {
  const queue = await open.queue();
  await queue.send({ body: 'delayed', delaySeconds: 10 });
  await queue.send({ body: 'received' });
  await queue.receiveOne({ visibilitySeconds: 5 });
  await queue.send({ body: 'waiting' });
  await queue.advance(20);
  await queue.send({ body: 'new' });
  assert.deepEqual(await queue.receiveBodies(), ['waiting', 'received', 'delayed', 'new']);
});

test('a standard queue returns messages of one millisecond in the order they were sent (9.5)', async (open) => {
  const queue = await open.queue();
  const bodies = Array.from({ length: 10 }, (_, at) => `m${at}`);
  for (const body of bodies) await queue.send({ body });
  assert.deepEqual(await queue.receiveBodies(), bodies);
});

test('a receive with timeout 0 on a standard queue never returns a message twice in one answer (9.5)', async (open) => {
  const queue = await open.queue();
  await queue.send({ body: 'one' });
  await queue.send({ body: 'two' });
  assert.deepEqual(await queue.receiveBodies({ visibilitySeconds: 0 }), ['one', 'two']);
});

test('at the in-flight limit a short poll of a standard queue is refused (9.8)', async (open) => {
  const queue = await open.queue({ limits: twoInFlight });
  for (let at = 0; at < 3; at += 1) await queue.send();
  assert.equal((await queue.receive()).length, 2);
  assertRefused(await queue.tryReceive({ waitSeconds: 0 }), 'OverLimit');
});

test('at the in-flight limit a FIFO queue returns no messages and no error (9.8)', async (open) => {
  const queue = await open.queue({ fifo: true, limits: twoInFlight });
  await queue.sendNamed('g1-1', 'g2-1', 'g3-1');
  assert.equal((await queue.receive()).length, 2);
  assert.deepEqual(await queue.receive(), []);
});

test('below the in-flight limit a receive returns as many as there is room for (9.8)', async (open) => {
  const queue = await open.queue({ limits: twoInFlight });
  for (let at = 0; at < 3; at += 1) await queue.send();
  await queue.receiveOne();
  assert.equal((await queue.receive()).length, 1);
});

test('ranges are checked before restrictions of the queue type (14.1)', async (open) => {
  const outcome = await (await open.queue()).tryReceive({ count: 11, attemptId: 'a' });
  assert.equal(outcome.ok ? '' : outcome.code, 'receive-count-invalid');
});
