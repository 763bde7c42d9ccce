/**
 * The tags of receipt handles: the key that a queue keeps for them, and the handles that an earlier version gave out. What a
 * client sees of handles is in conformance/receipt-handles.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeptQueue } from '../../src/core/changes.ts';
import { sha256Tag } from '../../src/core/digest/digests.ts';
import { ReceiptTags } from '../../src/core/queue/receipt.ts';
import { accepted, openQueue } from './fixture.ts';

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
