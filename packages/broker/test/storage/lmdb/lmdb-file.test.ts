/**
 * What one `write` to LMDB's file is: one transaction, whatever it contains.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Entry, LmdbFile } from '../../../src/storage/lmdb/file/lmdb-file.ts';
import { keyOf, nameKeyOf } from '../../../src/storage/lmdb/records/keys.ts';
import { temporaryDirectory } from '../backends.ts';

/** Where LMDB's two meta pages have the number of their transaction. */
const transactionAts = [152, 4096 + 152];

/** lmdb would begin a large batch before it is complete, and then what follows can be too late for its transaction. */
for (const [what, records, bytes] of [
  ['few', 3, 100],
  ['many', 2_000, 100],
  ['large', 20, 256 * 1024],
] as const) {
  test(`${what} records and the one written last are one transaction`, async () => {
    const directory = temporaryDirectory();
    const file = await LmdbFile.open(directory.path, { isReadOnly: false, isAlone: true });
    const lastTransaction = (): number => {
      const bytes = readFileSync(join(directory.path, 'data.mdb'));
      return Math.max(...transactionAts.map((at) => Number(bytes.readBigUInt64LE(at))));
    };
    for (let round = 1; round <= 3; round += 1) {
      const value = Buffer.alloc(bytes, round);
      await file.write((put) => {
        for (let id = 0; id < records; id += 1) put(keyOf('content', 1, id), value);
      }, slowly(round));
      assert.equal(lastTransaction(), round);
    }
    assert.equal(String(file.get(nameKeyOf('store', 'time'))), '3');
    await file.close();
    directory.remove();
  });
}

/** Comes late. In real time, because lmdb's own thread has to have the chance to end before it. */
function slowly(number: number): Entry {
  return {
    get key() {
      const end = performance.now() + 20;
      while (performance.now() < end);
      return nameKeyOf('store', 'time');
    },
    value: Buffer.from(String(number)),
  };
}
