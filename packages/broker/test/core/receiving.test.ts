/**
 * ReceiveMessage: its parameters, what a receive does to a message, order on standard queues, the in-flight limit. Order
 * on FIFO queues is in fifo-order. Waiting is left to storage; the engine says until when there is nothing.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relaxedLimits, strictLimits } from '../../src/core/limits.ts';
import { accepted, assertRefused, openQueue, startedAt } from './fixture.ts';

const twoInFlight = { ...strictLimits, inFlightMax: 2 };

test('a receive returns one message unless more are asked for (9.1)', () => {
  const queue = openQueue();
  for (let at = 0; at < 3; at += 1) queue.send();
  assert.equal(queue.receive({ count: undefined }).length, 1);
});

test('a receive can ask for 1 to 10 messages (9.1)', () => {
  const queue = openQueue();
  for (let at = 0; at < 12; at += 1) queue.send();
  assert.equal(queue.receive({ count: 10, visibilitySeconds: 0 }).length, 10);
  for (const count of [0, 11, -1, 1.5]) {
    const text = `Value ${count} for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.`;
    assertRefused(queue.tryReceive({ count }), 'InvalidParameterValue', text);
  }
});

test('a receive waits 0 to 20 seconds (9.1)', () => {
  const queue = openQueue();
  for (const waitSeconds of [0, 20]) accepted(queue.tryReceive({ waitSeconds }));
  for (const waitSeconds of [-1, 21]) {
    const text = `Value ${waitSeconds} for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.`;
    assertRefused(queue.tryReceive({ waitSeconds }), 'InvalidParameterValue', text);
  }
});

test('a receive hides messages for 0 to 43200 seconds (9.1)', () => {
  const queue = openQueue();
  for (const visibilitySeconds of [0, 43_200]) accepted(queue.tryReceive({ visibilitySeconds }));
  for (const visibilitySeconds of [-1, 43_201]) {
    const text = `Value ${visibilitySeconds} for parameter VisibilityTimeout is invalid. Reason: Must be >= 0 and <= 43200, if provided.`;
    assertRefused(queue.tryReceive({ visibilitySeconds }), 'InvalidParameterValue', text);
  }
});

test('a refused receive hides nothing (9.1)', () => {
  const queue = openQueue();
  queue.send();
  assertRefused(queue.tryReceive({ count: 11 }), 'InvalidParameterValue');
  assert.deepEqual(queue.counts(), [1, 0, 0]);
});

test("the wait time is the request's own, or else the queue's (9.2)", () => {
  const queue = openQueue({ attributes: { ReceiveMessageWaitTimeSeconds: '7' } });
  assert.equal(accepted(queue.tryReceive()).waitMs, 7000);
  assert.equal(accepted(queue.tryReceive({ waitSeconds: 3 })).waitMs, 3000);
  assert.equal(accepted(queue.tryReceive({ waitSeconds: 0 })).waitMs, 0);
});

test('a receive returns what is available and does not wait to fill the answer (9.3)', () => {
  const queue = openQueue();
  queue.send();
  queue.send();
  assert.equal(queue.receive({ count: 10, waitSeconds: 20 }).length, 2);
});

test('an empty answer says when a delay ends (9.3)', () => {
  const queue = openQueue();
  queue.send({ delaySeconds: 5 });
  assert.equal(accepted(queue.tryReceive()).noneUntil, startedAt + 5000);
  queue.advance(5);
  assert.equal(queue.receive().length, 1);
});

test('an empty answer says when a visibility timeout ends (9.3)', () => {
  for (const fifo of [false, true]) {
    const queue = openQueue({ fifo });
    queue.send();
    queue.receiveOne({ visibilitySeconds: 8 });
    assert.equal(accepted(queue.tryReceive()).noneUntil, startedAt + 8000);
    queue.advance(8);
    assert.equal(queue.receive().length, 1);
  }
});

test('an empty answer says when the message that blocks a group expires, if that is sooner (9.3)', () => {
  const queue = openQueue({ fifo: true, attributes: { MessageRetentionPeriod: '60' } });
  queue.send({ body: 'first' });
  queue.advance(30);
  queue.send({ body: 'second' });
  queue.receiveOne({ visibilitySeconds: 600 });
  assert.equal(accepted(queue.tryReceive()).noneUntil, startedAt + 60_000);
  queue.advance(30);
  assert.deepEqual(queue.receiveBodies(), ['second']);
});

test('an empty answer from an empty queue names no time to wait for (9.3)', () => {
  assert.equal(accepted(openQueue().tryReceive()).noneUntil, undefined);
});

test('a delete on a FIFO queue makes the next message deliverable at once (9.3)', () => {
  const queue = openQueue({ fifo: true });
  queue.sendNamed('g-1', 'g-2');
  const first = queue.receiveOne();
  assert.deepEqual(queue.receive({ waitSeconds: 20 }), []);
  queue.remove(first);
  assert.deepEqual(queue.receiveBodies({ waitSeconds: 20 }), ['g-2']);
});

test('each receive is counted, and the time of the first receive stays (9.4)', () => {
  const queue = openQueue();
  queue.send();
  for (const receiveCount of [1, 2, 3]) {
    const message = queue.receiveOne({ visibilitySeconds: 1 });
    assert.equal(message.receiveCount, receiveCount);
    assert.equal(message.firstReceivedAt, startedAt);
    queue.advance(1);
  }
});

test("a received message is hidden for the request's timeout, or else the queue's (9.4)", () => {
  const queue = openQueue({ attributes: { VisibilityTimeout: '5' } });
  queue.send();
  queue.receiveOne();
  queue.advance(4.999);
  assert.deepEqual(queue.receive(), []);
  queue.advance(0.001);
  queue.receiveOne({ visibilitySeconds: 2 });
  queue.advance(1.999);
  assert.deepEqual(queue.receive(), []);
  queue.advance(0.001);
  assert.equal(queue.receive().length, 1);
});

test('a message is visible again by the clock alone, without a tick in between (9.4)', () => {
  const queue = openQueue();
  queue.send();
  queue.receiveOne({ visibilitySeconds: 5 });
  queue.home.now += 5000;
  assert.equal(queue.receive().length, 1);
});

test('a receive with timeout 0 leaves the message available (9.4)', () => {
  const queue = openQueue();
  queue.send();
  assert.equal(queue.receiveOne({ visibilitySeconds: 0 }).receiveCount, 1);
  assert.deepEqual(queue.counts(), [1, 0, 0]);
  assert.equal(queue.receiveOne().receiveCount, 2);
});

test('a message is not given to two receivers at once (9.4)', () => {
  const queue = openQueue();
  queue.send();
  queue.receiveOne();
  assert.deepEqual(queue.receive(), []);
});

test('a standard queue returns the message that has been available longest first (9.5)', () => {
  const queue = openQueue();
  queue.send({ body: 'delayed', delaySeconds: 10 });
  queue.send({ body: 'received' });
  queue.receiveOne({ visibilitySeconds: 5 });
  queue.send({ body: 'waiting' });
  queue.advance(20);
  queue.send({ body: 'new' });
  assert.deepEqual(queue.receiveBodies(), ['waiting', 'received', 'delayed', 'new']);
});

test('a standard queue returns messages of one millisecond in the order they were sent (9.5)', () => {
  const queue = openQueue();
  const bodies = Array.from({ length: 10 }, (_, at) => `m${at}`);
  for (const body of bodies) queue.send({ body });
  assert.deepEqual(queue.receiveBodies(), bodies);
});

test('a receive with timeout 0 on a standard queue never returns a message twice in one answer (9.5)', () => {
  const queue = openQueue();
  queue.send({ body: 'one' });
  queue.send({ body: 'two' });
  assert.deepEqual(queue.receiveBodies({ visibilitySeconds: 0 }), ['one', 'two']);
});

test('the in-flight limit is 120,000 messages, with relaxed limits too (9.8)', () => {
  assert.equal(strictLimits.inFlightMax, 120_000);
  assert.equal(relaxedLimits.inFlightMax, 120_000);
});

test('at the in-flight limit a short poll of a standard queue is refused (9.8)', () => {
  const queue = openQueue({ limits: twoInFlight });
  for (let at = 0; at < 3; at += 1) queue.send();
  assert.equal(queue.receive().length, 2);
  assertRefused(queue.tryReceive({ waitSeconds: 0 }), 'OverLimit');
});

test('at the in-flight limit a long poll of a standard queue finds nothing and can wait (9.8)', () => {
  const queue = openQueue({ limits: twoInFlight });
  for (let at = 0; at < 3; at += 1) queue.send();
  const [first] = queue.receive({ visibilitySeconds: 5 });
  const outcome = accepted(queue.tryReceive({ waitSeconds: 20 }));
  assert.deepEqual(outcome.messages, []);
  assert.equal(outcome.noneUntil, startedAt + 5000);
  assert.ok(first);
  queue.remove(first);
  assert.equal(queue.receive({ waitSeconds: 20 }).length, 1);
});

test('at the in-flight limit a FIFO queue returns no messages and no error (9.8)', () => {
  const queue = openQueue({ fifo: true, limits: twoInFlight });
  queue.sendNamed('g1-1', 'g2-1', 'g3-1');
  assert.equal(queue.receive().length, 2);
  assert.deepEqual(queue.receive(), []);
});

test('below the in-flight limit a receive returns as many as there is room for (9.8)', () => {
  const queue = openQueue({ limits: twoInFlight });
  for (let at = 0; at < 3; at += 1) queue.send();
  queue.receiveOne();
  assert.equal(queue.receive().length, 1);
});

test('ranges are checked before restrictions of the queue type (14.1)', () => {
  const outcome = openQueue().tryReceive({ count: 11, attemptId: 'a' });
  assert.equal(outcome.ok ? '' : outcome.code, 'receive-count-invalid');
});
