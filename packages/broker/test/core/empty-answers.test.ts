/**
 * What the engine says of a receive that found nothing: how long the client is ready to wait, and until when there is nothing to
 * ask for. The waiting itself is left to storage, and tested in conformance/long-polls.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relaxedLimits, strictLimits } from '../../src/core/limits.ts';
import { accepted, assertRefused, openQueue, startedAt } from './fixture.ts';

const twoInFlight = { ...strictLimits, inFlightMax: 2 };

test('a receive waits 0 to 20 seconds (9.1)', () => {
  const queue = openQueue();
  for (const waitSeconds of [0, 20]) accepted(queue.tryReceive({ waitSeconds }));
  for (const waitSeconds of [-1, 21]) {
    const text = `Value ${waitSeconds} for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.`;
    assertRefused(queue.tryReceive({ waitSeconds }), 'InvalidParameterValue', text);
  }
});

test("the wait time is the request's own, or else the queue's (9.2)", () => {
  const queue = openQueue({ attributes: { ReceiveMessageWaitTimeSeconds: '7' } });
  assert.equal(accepted(queue.tryReceive()).waitMs, 7000);
  assert.equal(accepted(queue.tryReceive({ waitSeconds: 3 })).waitMs, 3000);
  assert.equal(accepted(queue.tryReceive({ waitSeconds: 0 })).waitMs, 0);
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

test('the in-flight limit is 120,000 messages, with relaxed limits too (9.8)', () => {
  assert.equal(strictLimits.inFlightMax, 120_000);
  assert.equal(relaxedLimits.inFlightMax, 120_000);
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
