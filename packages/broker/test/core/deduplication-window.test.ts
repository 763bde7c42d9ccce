/**
 * The window by itself: entries that share a hash stay together, also right after a search that found nothing. The rules of
 * deduplication are tested with the engine (fifo-deduplication.test.ts).
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeptWindowEntry } from '../../src/core/changes.ts';
import { DeduplicationWindow } from '../../src/core/deduplication-window.ts';
import { none } from '../../src/core/slab.ts';
import { WindowDigester } from '../../src/core/window-digests.ts';

test('an id that equals the hash of an earlier body is found, after a search for it in vain', () => {
  const window = new DeduplicationWindow('queue', new WindowDigester('secret'));
  const entry: KeptWindowEntry = {
    deduplicationId: 'other',
    groupId: 'g',
    acceptedAt: 1,
    source: 'explicit',
    bodyMd5: '',
    attributesMd5: '',
    bodyHash: 'hash',
  };
  assert.equal(window.findText('hash', 'g', 'id'), none);
  window.add(1, entry);
  window.add(2, { ...entry, deduplicationId: 'hash', bodyHash: undefined });
  assert.equal(window.match(window.findText('hash', 'g', 'id')).sequence, 2);
  assert.equal(window.match(window.findText('hash', 'g', 'body')).sequence, 1);
});
