/**
 * Receipt handles: which are handles at all, and which still mean something on each kind of queue. A standard queue
 * honours old handles, a FIFO queue the current one until its timeout ends.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeptQueue } from '../../src/core/changes.ts';
import { sha256Tag } from '../../src/core/digest/digests.ts';
import { relaxedLimits } from '../../src/core/limits.ts';
import { ReceiptTags } from '../../src/core/queue/receipt.ts';
import { accepted, assertRefused, openEngine, openQueue } from './fixture.ts';

function invalidText(handle: string): string {
  return `The input receipt handle "${handle}" is not a valid receipt handle.`;
}

function expiredText(handle: string): string {
  return `Value ${handle} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.`;
}

test('a handle is short, and different at every receive (1.7)', () => {
  const queue = openQueue();
  queue.send();
  const handles = Array.from(
    { length: 5 },
    () => queue.receiveOne({ visibilitySeconds: 0 }).receiptHandle,
  );
  assert.equal(new Set(handles).size, 5);
  for (const handle of handles) assert.ok(handle.length <= 1024);
});

test('a text that is not a handle is refused, for deletes and for visibility changes (10.1)', () => {
  for (const fifo of [false, true]) {
    const queue = openQueue({ fifo });
    for (const handle of ['x', 'a.b.c', '1.2.AAAAAAAAAAAAAAAA', 'é', ' ']) {
      assertRefused(queue.tryRemove(handle), 'ReceiptHandleIsInvalid', invalidText(handle));
      const change = queue.tryChangeVisibility(handle, 1);
      assertRefused(change, 'ReceiptHandleIsInvalid', invalidText(handle));
    }
  }
});

test('a handle with any one character changed is invalid (10.1)', () => {
  const queue = openQueue();
  queue.send();
  queue.send();
  const { receiptHandle } = queue.receiveOne();
  for (let at = 0; at < receiptHandle.length; at += 1) {
    const other = receiptHandle[at] === '2' ? '3' : '2';
    const forged = `${receiptHandle.slice(0, at)}${other}${receiptHandle.slice(at + 1)}`;
    assertRefused(queue.tryRemove(forged), 'ReceiptHandleIsInvalid', invalidText(forged));
  }
  assert.deepEqual(queue.counts(), [1, 1, 0]);
});

test('a handle written differently is invalid, even with correct numbers and tag (10.1)', () => {
  const queue = openQueue();
  queue.send();
  const { receiptHandle } = queue.receiveOne();
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
    assertRefused(queue.tryRemove(other), 'ReceiptHandleIsInvalid', invalidText(other));
  }
  assert.deepEqual(queue.counts(), [0, 1, 0]);
});

test('a handle of another queue is invalid (10.1)', () => {
  const home = openEngine();
  const [one, two] = [home.createQueue('one'), home.createQueue('two')];
  one.send();
  two.send();
  const { receiptHandle } = one.receiveOne();
  two.receiveOne();
  const text = invalidText(receiptHandle);
  assertRefused(two.tryRemove(receiptHandle), 'ReceiptHandleIsInvalid', text);
});

test('a handle of a deleted queue is invalid for a new queue of the same name (10.1)', () => {
  const queue = openQueue({ limits: relaxedLimits });
  queue.send();
  const { receiptHandle } = queue.receiveOne();
  queue.delete();
  queue.home.createQueue(queue.name);
  queue.send();
  queue.receiveOne();
  assertRefused(queue.tryRemove(receiptHandle), 'ReceiptHandleIsInvalid');
});

test('a missing handle is a missing parameter (10.1)', () => {
  const text = 'The request must contain the parameter ReceiptHandle.';
  for (const handle of [undefined, '']) {
    assertRefused(openQueue().tryRemove(handle), 'MissingParameter', text);
    assertRefused(openQueue().tryChangeVisibility(handle, 1), 'MissingParameter', text);
  }
});

test('a missing timeout is reported before a bad handle (10.1)', () => {
  const text = 'The request must contain the parameter VisibilityTimeout.';
  const outcome = openQueue().tryChangeVisibility('nonsense', undefined);
  assertRefused(outcome, 'MissingParameter', text);
});

test('a missing handle is reported before a timeout out of range (14.1)', () => {
  const text = 'The request must contain the parameter ReceiptHandle.';
  assertRefused(openQueue().tryChangeVisibility(undefined, 43_201), 'MissingParameter', text);
});

test('a standard message is deleted with the handle of its receive (10.6)', () => {
  const queue = openQueue();
  queue.send();
  queue.remove(queue.receiveOne());
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});

test('a standard message can be deleted with its handle after the timeout too (10.4, 10.6)', () => {
  const queue = openQueue();
  queue.send();
  const message = queue.receiveOne({ visibilitySeconds: 1 });
  queue.advance(2);
  queue.remove(message);
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});

test('a standard message can be deleted with an older handle after a newer receive (10.4)', () => {
  const queue = openQueue();
  queue.send();
  const older = queue.receiveOne({ visibilitySeconds: 1 });
  queue.advance(1);
  queue.receiveOne();
  queue.remove(older);
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});

test('deleting a deleted message succeeds, any number of times (10.6)', () => {
  const queue = openQueue();
  queue.send();
  const message = queue.receiveOne();
  for (let at = 0; at < 3; at += 1) queue.remove(message);
});

test('a FIFO handle deletes until its timeout ends (10.7)', () => {
  const queue = openQueue({ fifo: true });
  queue.send();
  const message = queue.receiveOne({ visibilitySeconds: 10 });
  queue.advance(9.999);
  queue.remove(message);
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});

test('a FIFO handle expires exactly when its timeout ends, and the message stays (10.7, 17.4)', () => {
  const queue = openQueue({ fifo: true });
  queue.send();
  const { receiptHandle } = queue.receiveOne({ visibilitySeconds: 10 });
  queue.advance(10);
  const text = expiredText(receiptHandle);
  assertRefused(queue.tryRemove(receiptHandle), 'InvalidParameterValue', text);
  assert.deepEqual(queue.counts(), [1, 0, 0]);
});

test('an extended FIFO handle is valid until the new deadline (10.7)', () => {
  const queue = openQueue({ fifo: true });
  queue.send();
  const message = queue.receiveOne({ visibilitySeconds: 10 });
  queue.advance(5);
  queue.changeVisibility(message, 20);
  queue.advance(19.999);
  queue.remove(message);
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});

test('a FIFO handle expires when its message is made visible again (10.7)', () => {
  const queue = openQueue({ fifo: true });
  queue.send();
  const message = queue.receiveOne();
  queue.changeVisibility(message, 0);
  const text = expiredText(message.receiptHandle);
  assertRefused(queue.tryRemove(message.receiptHandle), 'InvalidParameterValue', text);
});

test('a FIFO handle from a receive with timeout 0 is expired at once (10.8)', () => {
  const queue = openQueue({ fifo: true });
  queue.send();
  const { receiptHandle } = queue.receiveOne({ visibilitySeconds: 0 });
  const text = expiredText(receiptHandle);
  assertRefused(queue.tryRemove(receiptHandle), 'InvalidParameterValue', text);
});

test('an expired FIFO handle fails only its own entry of a batch (10.9)', () => {
  const queue = openQueue({ fifo: true });
  queue.sendNamed('g1-1', 'g2-1');
  const expired = queue.receiveOne({ visibilitySeconds: 1 });
  const good = queue.receiveOne({ visibilitySeconds: 10 });
  queue.advance(1);
  const entries = [expired, good].map(({ receiptHandle }) => ({ receiptHandle }));
  const { results } = accepted(queue.tryRemoveBatch(entries));
  const text = expiredText(expired.receiptHandle);
  assertRefused(results[0], 'InvalidParameterValue', text);
  assert.equal(results[1]?.ok, true);
  assert.deepEqual(queue.receiveBodies(), ['g1-1']);
});

test('a FIFO handle from an earlier receive expires once the message is received again (10.10)', () => {
  const queue = openQueue({ fifo: true });
  queue.send();
  const earlier = queue.receiveOne({ visibilitySeconds: 1 });
  queue.advance(1);
  const current = queue.receiveOne();
  const text = expiredText(earlier.receiptHandle);
  assertRefused(queue.tryRemove(earlier.receiptHandle), 'InvalidParameterValue', text);
  queue.remove(current);
});

test('deleting a deleted FIFO message with its valid handle succeeds (10.10)', () => {
  const queue = openQueue({ fifo: true });
  queue.send();
  const message = queue.receiveOne();
  queue.remove(message);
  queue.remove(message);
});

test('a tag is always the same, and depends on the secret and on the name', () => {
  const tag = new ReceiptTags('secret').of('1.2');
  assert.equal(tag, 'ZRlhwPA9ZODJE9jY');
  assert.notEqual(new ReceiptTags('Secret').of('1.2'), tag);
  // Each of the sixteen characters takes many values.
  const tags = Array.from({ length: 500 }, (_, name) => new ReceiptTags('secret').of(`${name}.1`));
  for (let at = 0; at < 16; at += 1) {
    assert.ok(new Set(tags.map((each) => each[at])).size > 50, `character ${at}`);
  }
});

test('a handle that an earlier version gave out, with a tag by SHA-256, still deletes', () => {
  const queue = openQueue();
  queue.send();
  const { receiptHandle } = queue.receiveOne();
  const kept = queue.home.changes.find((change) => change.kind === 'queue')?.value;
  const name = receiptHandle.slice(0, receiptHandle.lastIndexOf('.'));
  const earlier = `${name}.${sha256Tag((kept as KeptQueue).secret, name)}`;
  assert.notEqual(earlier, receiptHandle);
  accepted(queue.tryRemove(earlier));
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});
