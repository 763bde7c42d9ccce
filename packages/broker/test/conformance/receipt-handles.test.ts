/**
 * Receipt handles: which are handles at all, and which still mean something on each kind of queue. A standard queue
 * honors old handles, a FIFO queue the current one until its timeout ends.
 */

import assert from 'node:assert/strict';
import { relaxedLimits } from '../../src/core/limits.ts';
import { accepted, assertRefused, test } from './fixture.ts';

function invalidText(handle: string): string {
  return `The input receipt handle "${handle}" is not a valid receipt handle.`;
}

function expiredText(handle: string): string {
  return `Value ${handle} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.`;
}

test('a handle is short, and different at every receive (1.7)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  const handles: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    handles.push((await queue.receiveOne({ visibilitySeconds: 0 })).receiptHandle);
  }
  assert.equal(new Set(handles).size, 5);
  for (const handle of handles) assert.ok(handle.length <= 1024);
});

test('a text that is not a handle is refused, for deletes and for visibility changes (10.1)', async (open) => {
  for (const fifo of [false, true]) {
    const queue = await open.queue({ fifo });
    for (const handle of ['x', 'a.b.c', '1.2.AAAAAAAAAAAAAAAA', 'é', ' ']) {
      assertRefused(await queue.tryRemove(handle), 'ReceiptHandleIsInvalid', invalidText(handle));
      const change = await queue.tryChangeVisibility(handle, 1);
      assertRefused(change, 'ReceiptHandleIsInvalid', invalidText(handle));
    }
  }
});

test('a handle with any one character changed is invalid (10.1)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  await queue.send();
  const { receiptHandle } = await queue.receiveOne();
  for (let at = 0; at < receiptHandle.length; at += 1) {
    const other = receiptHandle[at] === '2' ? '3' : '2';
    const forged = `${receiptHandle.slice(0, at)}${other}${receiptHandle.slice(at + 1)}`;
    assertRefused(await queue.tryRemove(forged), 'ReceiptHandleIsInvalid', invalidText(forged));
  }
  assert.deepEqual(await queue.counts(), [1, 1, 0]);
});

test('a handle written differently is invalid, even with correct numbers and tag (10.1)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  const { receiptHandle } = await queue.receiveOne();
  const [sequence, receipt, tag] = receiptHandle.split('.') as [string, string, string];
  // Two characters of a byte each, and one of two bytes that has the same bits.
  const pair = String.fromCharCode(tag.charCodeAt(0) | (tag.charCodeAt(1) << 8), 0);
  for (const other of [
    `0${receiptHandle}`,
    `${sequence}.0${receipt}.${tag}`,
    `+${receiptHandle}`,
    ` ${receiptHandle}`,
    `${sequence}.${receipt}.1.${tag}`,
    `${sequence}..${receipt}.${tag}`,
    `${sequence}.${receipt}${tag}`,
    `.${receiptHandle}`,
    `${receiptHandle}.${tag}`,
    `${sequence}.${receipt}.${pair}${tag.slice(2)}`,
  ]) {
    assertRefused(await queue.tryRemove(other), 'ReceiptHandleIsInvalid', invalidText(other));
  }
  assert.deepEqual(await queue.counts(), [0, 1, 0]);
});

test('a handle of another queue is invalid (10.1)', async (open) => {
  const home = await open.home();
  const [one, two] = [await home.createQueue('one'), await home.createQueue('two')];
  await one.send();
  await two.send();
  const { receiptHandle } = await one.receiveOne();
  await two.receiveOne();
  const text = invalidText(receiptHandle);
  assertRefused(await two.tryRemove(receiptHandle), 'ReceiptHandleIsInvalid', text);
});

test('a handle of a deleted queue is invalid for a new queue of the same name (10.1)', async (open) => {
  const queue = await open.queue({ limits: relaxedLimits });
  await queue.send();
  const { receiptHandle } = await queue.receiveOne();
  await queue.delete();
  await queue.home.createQueue(queue.name);
  await queue.send();
  await queue.receiveOne();
  assertRefused(await queue.tryRemove(receiptHandle), 'ReceiptHandleIsInvalid');
});

test('a missing handle is a missing parameter (10.1)', async (open) => {
  const text = 'The request must contain the parameter ReceiptHandle.';
  for (const handle of [undefined, '']) {
    assertRefused(await (await open.queue()).tryRemove(handle), 'MissingParameter', text);
    assertRefused(
      await (await open.queue()).tryChangeVisibility(handle, 1),
      'MissingParameter',
      text,
    );
  }
});

test('a missing timeout is reported before a bad handle (10.1)', async (open) => {
  const text = 'The request must contain the parameter VisibilityTimeout.';
  const outcome = await (await open.queue()).tryChangeVisibility('nonsense', undefined);
  assertRefused(outcome, 'MissingParameter', text);
});

test('a missing handle is reported before a timeout out of range (14.1)', async (open) => {
  const text = 'The request must contain the parameter ReceiptHandle.';
  assertRefused(
    await (await open.queue()).tryChangeVisibility(undefined, 43_201),
    'MissingParameter',
    text,
  );
});

test('a standard message is deleted with the handle of its receive (10.6)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  await queue.remove(await queue.receiveOne());
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});

test('a standard message can be deleted with its handle after the timeout too (10.4, 10.6)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  const message = await queue.receiveOne({ visibilitySeconds: 1 });
  await queue.advance(2);
  await queue.remove(message);
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});

test('a standard message can be deleted with an older handle after a newer receive (10.4)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  const older = await queue.receiveOne({ visibilitySeconds: 1 });
  await queue.advance(1);
  await queue.receiveOne();
  await queue.remove(older);
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});

test('deleting a deleted message succeeds, any number of times (10.6)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  const message = await queue.receiveOne();
  for (let at = 0; at < 3; at += 1) await queue.remove(message);
});

test('a FIFO handle deletes until its timeout ends (10.7)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  const message = await queue.receiveOne({ visibilitySeconds: 10 });
  await queue.advance(9.999);
  await queue.remove(message);
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});

test('a FIFO handle expires exactly when its timeout ends, and the message stays (10.7, 17.4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  const { receiptHandle } = await queue.receiveOne({ visibilitySeconds: 10 });
  await queue.advance(10);
  const text = expiredText(receiptHandle);
  assertRefused(await queue.tryRemove(receiptHandle), 'InvalidParameterValue', text);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
});

test('an extended FIFO handle is valid until the new deadline (10.7)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  const message = await queue.receiveOne({ visibilitySeconds: 10 });
  await queue.advance(5);
  await queue.changeVisibility(message, 20);
  await queue.advance(19.999);
  await queue.remove(message);
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});

test('a FIFO handle expires when its message is made visible again (10.7)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  const message = await queue.receiveOne();
  await queue.changeVisibility(message, 0);
  const text = expiredText(message.receiptHandle);
  assertRefused(await queue.tryRemove(message.receiptHandle), 'InvalidParameterValue', text);
});

test('a FIFO handle from a receive with timeout 0 is expired at once (10.8)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  const { receiptHandle } = await queue.receiveOne({ visibilitySeconds: 0 });
  const text = expiredText(receiptHandle);
  assertRefused(await queue.tryRemove(receiptHandle), 'InvalidParameterValue', text);
});

test('an expired FIFO handle fails only its own entry of a batch (10.9)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g2-1');
  const expired = await queue.receiveOne({ visibilitySeconds: 1 });
  const good = await queue.receiveOne({ visibilitySeconds: 10 });
  await queue.advance(1);
  const entries = [expired, good].map(({ receiptHandle }) => ({ receiptHandle }));
  const { results } = accepted(await queue.tryRemoveBatch(entries));
  const text = expiredText(expired.receiptHandle);
  assertRefused(results[0], 'InvalidParameterValue', text);
  assert.equal(results[1]?.ok, true);
  assert.deepEqual(await queue.receiveBodies(), ['g1-1']);
});

test('a FIFO handle from an earlier receive expires once the message is received again (10.10)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  const earlier = await queue.receiveOne({ visibilitySeconds: 1 });
  await queue.advance(1);
  const current = await queue.receiveOne();
  const text = expiredText(earlier.receiptHandle);
  assertRefused(await queue.tryRemove(earlier.receiptHandle), 'InvalidParameterValue', text);
  await queue.remove(current);
});

test('deleting a deleted FIFO message with its valid handle succeeds (10.10)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  const message = await queue.receiveOne();
  await queue.remove(message);
  await queue.remove(message);
});
