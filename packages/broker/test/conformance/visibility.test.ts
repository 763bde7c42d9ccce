/**
 * ChangeMessageVisibility: how long a received message stays hidden, and which handles may still change that. Deleting
 * with a handle is in receipt-handles.
 */

import assert from 'node:assert/strict';
import { accepted, assertRefused, test } from './fixture.ts';

function unavailableText(handle: string): string {
  return `Value ${handle} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.`;
}

function beyondText(seconds: number): string {
  return `Value ${seconds} for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds].`;
}

test('a new timeout counts from now, longer or shorter than before (10.2)', async (open) => {
  for (const fifo of [false, true]) {
    for (const seconds of [3, 60]) {
      const queue = await open.queue({ fifo });
      await queue.send();
      const message = await queue.receiveOne({ visibilitySeconds: 10 });
      await queue.advance(5);
      await queue.changeVisibility(message, seconds);
      await queue.advance(seconds - 0.001);
      assert.deepEqual(await queue.receive(), []);
      await queue.advance(0.001);
      assert.equal((await queue.receive()).length, 1);
    }
  }
});

test('a new timeout applies to this receive only; the next receive has its own (10.2)', async (open) => {
  const queue = await open.queue({ attributes: { VisibilityTimeout: '10' } });
  await queue.send();
  await queue.changeVisibility(await queue.receiveOne(), 100);
  await queue.advance(100);
  await queue.receiveOne();
  await queue.advance(10);
  assert.equal((await queue.receive()).length, 1);
});

test('a timeout of 0 makes the message available at once (10.2)', async (open) => {
  for (const fifo of [false, true]) {
    const queue = await open.queue({ fifo });
    await queue.send();
    await queue.changeVisibility(await queue.receiveOne(), 0);
    assert.deepEqual(await queue.counts(), [1, 0, 0]);
    assert.equal((await queue.receiveOne()).receiveCount, 2);
  }
});

test('changing the timeout does not count as a receive (10.2)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  const message = await queue.receiveOne();
  await queue.changeVisibility(message, 5);
  await queue.changeVisibility(message, 1);
  await queue.advance(1);
  assert.equal((await queue.receiveOne()).receiveCount, 2);
});

test('a timeout is 0 to 43200 seconds (10.3)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  const message = await queue.receiveOne();
  for (const seconds of [-1, 43_201, 1.5]) {
    const text = `Value ${seconds} for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.`;
    const outcome = await queue.tryChangeVisibility(message.receiptHandle, seconds);
    assertRefused(outcome, 'InvalidParameterValue', text);
  }
  await queue.changeVisibility(message, 43_200);
});

test('a message is hidden for at most twelve hours in total after its receive (10.3)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  const message = await queue.receiveOne({ visibilitySeconds: 30 });
  await queue.advance(10);
  const outcome = await queue.tryChangeVisibility(message.receiptHandle, 43_191);
  assertRefused(outcome, 'InvalidParameterValue', beyondText(43_191));
  await queue.changeVisibility(message, 43_190);
});

test('the twelve hours start over with the next receive (10.3)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  await queue.receiveOne({ visibilitySeconds: 30 });
  await queue.advance(30);
  await queue.changeVisibility(await queue.receiveOne(), 43_200);
});

test('the handle of a standard message that is visible again can hide it again (10.4, 17.6)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  const message = await queue.receiveOne({ visibilitySeconds: 1 });
  await queue.advance(5);
  await queue.changeVisibility(message, 10);
  assert.deepEqual(await queue.counts(), [0, 1, 0]);
  await queue.advance(9.999);
  assert.deepEqual(await queue.receive(), []);
  await queue.advance(0.001);
  assert.equal((await queue.receive()).length, 1);
});

test('an older handle of a standard message changes its timeout after a newer receive (10.4)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  const older = await queue.receiveOne({ visibilitySeconds: 1 });
  await queue.advance(1);
  await queue.receiveOne({ visibilitySeconds: 60 });
  await queue.changeVisibility(older, 0);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
});

test('the timeout of a deleted message cannot be changed (10.5)', async (open) => {
  for (const fifo of [false, true]) {
    const queue = await open.queue({ fifo });
    await queue.send();
    const message = await queue.receiveOne();
    await queue.remove(message);
    const { receiptHandle } = message;
    const outcome = await queue.tryChangeVisibility(receiptHandle, 5);
    assertRefused(outcome, 'InvalidParameterValue', unavailableText(receiptHandle));
  }
});

test('in a batch, the handle of a deleted message is refused as invalid (10.5)', async (open) => {
  for (const fifo of [false, true]) {
    const queue = await open.queue({ fifo });
    await queue.send();
    await queue.send();
    const entries = (await queue.receive()).map(({ receiptHandle }) => ({
      receiptHandle,
      visibilitySeconds: 5,
    }));
    accepted(await queue.tryRemove(entries[0]?.receiptHandle));
    const { results } = accepted(await queue.tryChangeVisibilityBatch(entries));
    const text = 'Message does not exist or is not available for visibility timeout change';
    assertRefused(results[0], 'ReceiptHandleIsInvalid', text);
    assert.equal(results[1]?.ok, true);
  }
});

test('an expired FIFO handle changes nothing (10.10)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  const { receiptHandle } = await queue.receiveOne({ visibilitySeconds: 10 });
  await queue.advance(10);
  const text = unavailableText(receiptHandle);
  assertRefused(await queue.tryChangeVisibility(receiptHandle, 5), 'InvalidParameterValue', text);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
});

test('a FIFO handle of an earlier receive changes nothing (10.10)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  const { receiptHandle } = await queue.receiveOne({ visibilitySeconds: 1 });
  await queue.advance(1);
  await queue.receiveOne();
  const text = unavailableText(receiptHandle);
  assertRefused(await queue.tryChangeVisibility(receiptHandle, 0), 'InvalidParameterValue', text);
  assert.deepEqual(await queue.counts(), [0, 1, 0]);
});
