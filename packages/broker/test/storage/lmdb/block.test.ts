/**
 * Window entries that older formats wrote: under the SHA-256 of their id, which no send has any more. The fixtures
 * (data-directory.test.ts) have such entries of queues; these have what those lack.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeptWindowEntry, WindowDigests } from '../../../src/core/changes.ts';
import { WindowDigester } from '../../../src/core/deduplication/window-digests.ts';
import { GroupTexts, GrowingBlock, readBlock } from '../../../src/storage/lmdb/records/block.ts';

const entry: KeptWindowEntry = {
  deduplicationId: 'id',
  groupId: 'group',
  acceptedAt: 1_800_000_000_000,
  source: 'explicit',
  bodyMd5: '841a2d689ad86bd1611447453c22c6fc',
  attributesMd5: '',
  bodyHash: 'ab'.repeat(32),
};
const digester = new WindowDigester('secret');
const digests = digester.of(entry);
/** The lowest bits of a record's first byte are its kind: 2 up to format 2, 3 since. */
const kindOfFormat2 = 2;

for (const [format, sha256Word] of [
  [3, undefined],
  [2, 12_345],
] as const) {
  test(`a window entry of format ${format} is found by the digests that sends have`, () => {
    const block = new GrowingBlock(0);
    block.addWindowEntry(7, entry, { ...digests, id0: sha256Word ?? digests.id0 });
    const bytes = Buffer.from(block.bytes());
    if (format === 2) bytes[0] = ((bytes[0] as number) & ~3) | kindOfFormat2;
    const found: [number, KeptWindowEntry, WindowDigests][] = [];
    readBlock({ owner: { id: 'q', digester }, number: 0, bytes }, new GroupTexts(), {
      message: () => assert.fail('there is no message'),
      windowEntry: (sequence, loaded, loadedDigests) =>
        found.push([sequence, loaded.whole(), loadedDigests]),
    });
    assert.deepEqual(found, [[7, entry, digests]]);
  });
}
