/**
 * ReceiveRequestAttemptId: a repeated receive gets the same answer while nothing about it changed, so that a lost answer
 * costs no visibility timeout.
 */

import assert from 'node:assert/strict';
import { assertRefused, type Delivered, type Opener, type TestQueue, test } from './fixture.ts';

const attempt = { attemptId: 'try-1' };

/** A queue with three groups of one message, the first two received under the attempt id. */
async function openAttempted(
  open: Opener,
  visibilitySeconds = 30,
): Promise<{
  queue: TestQueue;
  messages: readonly [Delivered, Delivered];
}> {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g2-1', 'g3-1');
  const messages = await queue.receive({ ...attempt, count: 2, visibilitySeconds });
  return { queue, messages: [messages[0] as Delivered, messages[1] as Delivered] };
}

function handles(messages: readonly Delivered[]): readonly string[] {
  return messages.map(({ receiptHandle }) => receiptHandle);
}

test('an attempt id has 1 to 128 letters, digits and punctuation characters (11.18)', async (open) => {
  const queue = await open.queue({ fifo: true });
  for (const attemptId of ['a', 'x'.repeat(128), '!~']) await queue.receive({ attemptId });
  for (const attemptId of ['', 'a b', 'é', 'x'.repeat(129)]) {
    const text = `Value ${attemptId} for parameter ReceiveRequestAttemptId is invalid. Reason: ReceiveRequestAttemptId can only include alphanumeric and punctuation characters. 1 to 128 in length.`;
    assertRefused(await queue.tryReceive({ attemptId }), 'InvalidParameterValue', text);
  }
});

test('an attempt id on a standard queue is refused (11.18)', async (open) => {
  const text =
    'Value try-1 for parameter ReceiveRequestAttemptId is invalid. Reason: The request include parameter that is not valid for this queue type.';
  assertRefused(await (await open.queue()).tryReceive(attempt), 'InvalidParameterValue', text);
});

test('the same attempt gives the same messages with the same receipt handles (11.19)', async (open) => {
  const { queue, messages } = await openAttempted(open);
  await queue.advance(10);
  const again = await queue.receive(attempt);
  assert.deepEqual(again, messages);
  assert.deepEqual(handles(await queue.receive({ ...attempt, count: 1 })), handles(messages));
});

test("a repeated attempt restarts the timeout, with its own or the queue's (11.19)", async (open) => {
  const { queue } = await openAttempted(open);
  await queue.advance(20);
  await queue.receive(attempt);
  await queue.advance(29.999);
  assert.deepEqual(await queue.receiveBodies({ visibilitySeconds: 0 }), ['g3-1']);
  await queue.receive({ ...attempt, visibilitySeconds: 5 });
  await queue.advance(4.999);
  assert.deepEqual(await queue.counts(), [1, 2, 0]);
  await queue.advance(0.001);
  assert.deepEqual(await queue.counts(), [3, 0, 0]);
});

test('the handles of a repeated attempt delete (11.19)', async (open) => {
  const { queue, messages } = await openAttempted(open);
  await queue.advance(20);
  await queue.receive(attempt);
  await queue.advance(20);
  await queue.remove(...messages);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
});

test('an attempt is repeated one millisecond before its five minutes are over (11.19)', async (open) => {
  const { queue, messages } = await openAttempted(open, 1000);
  await queue.advance(299.999);
  assert.deepEqual(handles(await queue.receive(attempt)), handles(messages));
});

test('an attempt is forgotten exactly five minutes after its receive (11.20)', async (open) => {
  const { queue } = await openAttempted(open, 1000);
  await queue.advance(300);
  assert.deepEqual(await queue.receiveBodies(attempt), ['g3-1']);
});

test('the five minutes run from the first receive, not from a repetition (11.20)', async (open) => {
  const { queue } = await openAttempted(open, 1000);
  await queue.advance(200);
  await queue.receive({ ...attempt, visibilitySeconds: 1000 });
  await queue.advance(100);
  assert.deepEqual(await queue.receiveBodies(attempt), ['g3-1']);
});

test('an attempt is forgotten when one of its messages is deleted (11.20)', async (open) => {
  const { queue, messages } = await openAttempted(open);
  await queue.remove(messages[0]);
  assert.deepEqual(await queue.receiveBodies(attempt), ['g3-1']);
});

test("an attempt is forgotten when one of its messages' timeouts is changed (11.20)", async (open) => {
  const { queue, messages } = await openAttempted(open);
  await queue.changeVisibility(messages[1], 60);
  assert.deepEqual(await queue.receiveBodies(attempt), ['g3-1']);
});

test('an attempt is forgotten exactly when its messages time out (11.20)', async (open) => {
  const { queue, messages } = await openAttempted(open, 10);
  await queue.advance(10);
  const again = await queue.receive(attempt);
  assert.deepEqual(again.map(({ body }) => body).sort(), ['g1-1', 'g2-1', 'g3-1']);
  for (const handle of handles(messages)) assert.ok(!handles(again).includes(handle));
});

test('an attempt is forgotten when its messages are received again by another receive (11.20)', async (open) => {
  const { queue } = await openAttempted(open, 10);
  await queue.advance(10);
  assert.equal((await queue.receive()).length, 3);
  assert.deepEqual(await queue.receive(attempt), []);
});

test('an attempt is forgotten when the queue is purged (11.20)', async (open) => {
  const { queue } = await openAttempted(open);
  await queue.purge();
  await queue.sendNamed('g4-1');
  assert.deepEqual(await queue.receiveBodies(attempt), ['g4-1']);
});

test('a forgotten attempt can start over under the same id (11.20)', async (open) => {
  const { queue, messages } = await openAttempted(open);
  await queue.remove(...messages);
  const fresh = await queue.receive(attempt);
  assert.deepEqual(handles(await queue.receive(attempt)), handles(fresh));
});

test('another attempt, or none, does not return the messages of the first (11.21)', async (open) => {
  const { queue } = await openAttempted(open);
  assert.deepEqual(await queue.receiveBodies({ visibilitySeconds: 0 }), ['g3-1']);
  assert.deepEqual(await queue.receiveBodies({ attemptId: 'try-2' }), ['g3-1']);
});

test('a repeated attempt does not count as another receive (11.22)', async (open) => {
  const { queue } = await openAttempted(open);
  await queue.advance(10);
  const counts = (await queue.receive(attempt)).map(({ receiveCount }) => receiveCount);
  assert.deepEqual(counts, [1, 1]);
});

test('an empty answer is not remembered (11.22)', async (open) => {
  const queue = await open.queue({ fifo: true });
  assert.deepEqual(await queue.receive(attempt), []);
  await queue.send();
  assert.equal((await queue.receive(attempt)).length, 1);
});
