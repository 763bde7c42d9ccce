/**
 * The window by itself: entries that share a hash stay together, also right after a search that found nothing and after a
 * load. The rules of deduplication are tested with the engine (fifo-deduplication.test.ts).
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeptWindowEntry } from '../../../src/core/changes.ts';
import {
  type DeduplicationScope,
  DeduplicationWindow,
} from '../../../src/core/deduplication/window.ts';
import { WindowDigester } from '../../../src/core/deduplication/window-digests.ts';
import { none } from '../../../src/core/structures/slab.ts';

const plainEntry: KeptWindowEntry = {
  deduplicationId: 'other',
  groupId: 'g',
  acceptedAt: 1,
  source: 'explicit',
  bodyMd5: '',
  attributesMd5: '',
  bodyHash: undefined,
};

test('an id that equals the hash of an earlier body is found, after a search for it in vain', () => {
  const window = new DeduplicationWindow('queue', new WindowDigester('secret'));
  const entry = { ...plainEntry, bodyHash: 'hash' };
  assert.equal(window.findText('hash', 'g', 'id'), none);
  window.add(1, entry);
  window.add(2, { ...entry, deduplicationId: 'hash', bodyHash: undefined });
  assert.equal(window.match(window.findText('hash', 'g', 'id')).sequence, 2);
  assert.equal(window.match(window.findText('hash', 'g', 'body')).sequence, 1);
});

for (const entries of [150_000, 300_000]) {
  const ids = entries / 3;
  const idOf = (sequence: number): string => `id-${sequence % ids}`;
  const groupOf = (sequence: number): string => `g${Math.floor((sequence - 1) / ids)}`;
  const loaded = (scope: DeduplicationScope): DeduplicationWindow => {
    const window = new DeduplicationWindow(scope, new WindowDigester('secret'));
    window.reserve(entries);
    for (let sequence = 1; sequence <= entries; sequence += 1) {
      const groupId = groupOf(sequence);
      window.add(sequence, { ...plainEntry, deduplicationId: idOf(sequence), groupId });
    }
    return window;
  };
  const found = (window: DeduplicationWindow, sequence: number): number => {
    const row = window.findText(idOf(sequence), groupOf(sequence), 'id');
    return row === none ? none : window.match(row).sequence;
  };

  test(`a window of ${entries} entries finds each of them after it was loaded, in its group`, () => {
    const rescoped = loaded('queue');
    rescoped.setScope('messageGroup');
    for (const window of [loaded('messageGroup'), rescoped]) {
      for (let sequence = entries; sequence > 0; sequence -= 77) {
        assert.equal(found(window, sequence), sequence);
      }
    }
  });

  test(`of ${entries} loaded entries the oldest of an id counts, where groups share ids`, () => {
    const rescoped = loaded('messageGroup');
    rescoped.setScope('queue');
    for (const window of [loaded('queue'), rescoped]) {
      for (let sequence = ids; sequence > 0; sequence -= 77) {
        for (const same of [sequence, sequence + ids, sequence + 2 * ids]) {
          assert.equal(found(window, same), sequence);
        }
      }
    }
  });

  test(`of ${entries} loaded entries the oldest can be removed at once`, () => {
    const rescoped = loaded('messageGroup');
    rescoped.setScope('queue');
    rescoped.setScope('messageGroup');
    rescoped.setScope('queue');
    for (const window of [loaded('queue'), rescoped]) {
      for (let sequence = 1; sequence <= 1_000; sequence += 1) {
        assert.equal(window.removeOldest(), sequence);
      }
      assert.equal(found(window, 1_000), 1_000 + ids);
      assert.equal(found(window, 1_001), 1_001);
    }
  });
}
