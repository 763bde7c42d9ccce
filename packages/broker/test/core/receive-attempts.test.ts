/**
 * ReceiveRequestAttemptId: a repeated receive gets the same answer while nothing about it changed, so that a lost answer
 * costs no visibility timeout.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, type Delivered, openQueue, type TestQueue } from './fixture.ts';

const attempt = { attemptId: 'try-1' };

/** A queue with three groups of one message, the first two received under the attempt id. */
function openAttempted(visibilitySeconds = 30): {
  queue: TestQueue;
  messages: readonly [Delivered, Delivered];
} {
  const queue = openQueue({ fifo: true });
  queue.sendNamed('g1-1', 'g2-1', 'g3-1');
  const messages = queue.receive({ ...attempt, count: 2, visibilitySeconds });
  return { queue, messages: [messages[0] as Delivered, messages[1] as Delivered] };
}

function handles(messages: readonly Delivered[]): readonly string[] {
  return messages.map(({ receiptHandle }) => receiptHandle);
}

test('an attempt id has 1 to 128 letters, digits and punctuation characters (11.18)', () => {
  const queue = openQueue({ fifo: true });
  for (const attemptId of ['a', 'x'.repeat(128), '!~']) queue.receive({ attemptId });
  for (const attemptId of ['', 'a b', 'é', 'x'.repeat(129)]) {
    const text = `Value ${attemptId} for parameter ReceiveRequestAttemptId is invalid. Reason: ReceiveRequestAttemptId can only include alphanumeric and punctuation characters. 1 to 128 in length.`;
    assertRefused(queue.tryReceive({ attemptId }), 'InvalidParameterValue', text);
  }
});

test('an attempt id on a standard queue is refused (11.18)', () => {
  const text =
    'Value try-1 for parameter ReceiveRequestAttemptId is invalid. Reason: The request include parameter that is not valid for this queue type.';
  assertRefused(openQueue().tryReceive(attempt), 'InvalidParameterValue', text);
});

test('the same attempt gives the same messages with the same receipt handles (11.19)', () => {
  const { queue, messages } = openAttempted();
  queue.advance(10);
  const again = queue.receive(attempt);
  assert.deepEqual(again, messages);
  assert.deepEqual(handles(queue.receive({ ...attempt, count: 1 })), handles(messages));
});

test("a repeated attempt restarts the timeout, with its own or the queue's (11.19)", () => {
  const { queue } = openAttempted();
  queue.advance(20);
  queue.receive(attempt);
  queue.advance(29.999);
  assert.deepEqual(queue.receiveBodies({ visibilitySeconds: 0 }), ['g3-1']);
  queue.receive({ ...attempt, visibilitySeconds: 5 });
  queue.advance(4.999);
  assert.deepEqual(queue.counts(), [1, 2, 0]);
  queue.advance(0.001);
  assert.deepEqual(queue.counts(), [3, 0, 0]);
});

test('the handles of a repeated attempt delete (11.19)', () => {
  const { queue, messages } = openAttempted();
  queue.advance(20);
  queue.receive(attempt);
  queue.advance(20);
  queue.remove(...messages);
  assert.deepEqual(queue.counts(), [1, 0, 0]);
});

test('an attempt is repeated one millisecond before its five minutes are over (11.19)', () => {
  const { queue, messages } = openAttempted(1000);
  queue.advance(299.999);
  assert.deepEqual(handles(queue.receive(attempt)), handles(messages));
});

test('an attempt is forgotten exactly five minutes after its receive (11.20)', () => {
  const { queue } = openAttempted(1000);
  queue.advance(300);
  assert.deepEqual(queue.receiveBodies(attempt), ['g3-1']);
});

test('the five minutes run from the first receive, not from a repetition (11.20)', () => {
  const { queue } = openAttempted(1000);
  queue.advance(200);
  queue.receive({ ...attempt, visibilitySeconds: 1000 });
  queue.advance(100);
  assert.deepEqual(queue.receiveBodies(attempt), ['g3-1']);
});

test('an attempt is forgotten when one of its messages is deleted (11.20)', () => {
  const { queue, messages } = openAttempted();
  queue.remove(messages[0]);
  assert.deepEqual(queue.receiveBodies(attempt), ['g3-1']);
});

test("an attempt is forgotten when one of its messages' timeouts is changed (11.20)", () => {
  const { queue, messages } = openAttempted();
  queue.changeVisibility(messages[1], 60);
  assert.deepEqual(queue.receiveBodies(attempt), ['g3-1']);
});

test('an attempt is forgotten exactly when its messages time out (11.20)', () => {
  const { queue, messages } = openAttempted(10);
  queue.advance(10);
  const again = queue.receive(attempt);
  assert.deepEqual(again.map(({ body }) => body).sort(), ['g1-1', 'g2-1', 'g3-1']);
  for (const handle of handles(messages)) assert.ok(!handles(again).includes(handle));
});

test('an attempt is forgotten when its messages are received again by another receive (11.20)', () => {
  const { queue } = openAttempted(10);
  queue.advance(10);
  assert.equal(queue.receive().length, 3);
  assert.deepEqual(queue.receive(attempt), []);
});

test('an attempt is forgotten when the queue is purged (11.20)', () => {
  const { queue } = openAttempted();
  queue.purge();
  queue.sendNamed('g4-1');
  assert.deepEqual(queue.receiveBodies(attempt), ['g4-1']);
});

test('a forgotten attempt can start over under the same id (11.20)', () => {
  const { queue, messages } = openAttempted();
  queue.remove(...messages);
  const fresh = queue.receive(attempt);
  assert.deepEqual(handles(queue.receive(attempt)), handles(fresh));
});

test('another attempt, or none, does not return the messages of the first (11.21)', () => {
  const { queue } = openAttempted();
  assert.deepEqual(queue.receiveBodies({ visibilitySeconds: 0 }), ['g3-1']);
  assert.deepEqual(queue.receiveBodies({ attemptId: 'try-2' }), ['g3-1']);
});

test('a repeated attempt does not count as another receive (11.22)', () => {
  const { queue } = openAttempted();
  queue.advance(10);
  const counts = queue.receive(attempt).map(({ receiveCount }) => receiveCount);
  assert.deepEqual(counts, [1, 1]);
});

test('an empty answer is not remembered (11.22)', () => {
  const queue = openQueue({ fifo: true });
  assert.deepEqual(queue.receive(attempt), []);
  queue.send();
  assert.equal(queue.receive(attempt).length, 1);
});
