/**
 * UUIDs in a slab's words read back as they were written, whatever their digits: a word's sign and leading zeros are
 * where such a packing goes wrong.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Slab } from '../../src/core/slab.ts';
import { readUuid, writeUuid } from '../../src/core/uuid.ts';

const uuid = fc
  .stringMatching(/^[0-9a-f]{32}$/)
  .map((hex) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));

test('every lower-case UUID reads back as it was written (1.7)', () => {
  const slab = new Slab(6);
  const row = slab.allocate();
  fc.assert(
    fc.property(uuid, (text) => {
      writeUuid(slab.page(row), slab.base(row) + 1, text);
      assert.equal(readUuid(slab, row, 1), text);
    }),
  );
});
