/**
 * HashIndex against a Map: every row is found by its key, however its hash collides and the index grows. Hashes that
 * spread badly are the ones that would show a row lost when its slots are moved or closed up.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HashIndex } from '../../../src/core/structures/hash-index.ts';
import { HashSlots } from '../../../src/core/structures/hash-slots.ts';
import { none } from '../../../src/core/structures/slab.ts';

interface Indexed {
  find(key: number): number;
  insert(key: number): number;
  remove(key: number, row: number): void;
  clear(): void;
}

function openIndex(hashOf: (key: number) => number): Indexed {
  const keys: number[] = [];
  const index = new HashIndex();
  return {
    find(key) {
      let slot = index.first(hashOf(key));
      while (slot !== none && keys[index.row(slot)] !== key) slot = index.next(slot);
      return slot === none ? none : index.row(slot);
    },
    insert(key) {
      const row = keys.push(key) - 1;
      index.insert(hashOf(key), row);
      return row;
    },
    remove(key, row) {
      index.remove(hashOf(key), row);
    },
    clear() {
      index.clear();
    },
  };
}

const hashes = {
  'a hash of its own for each key': (key: number) => Math.imul(key, 0x9e3779b1),
  'neighboring hashes': (key: number) => key,
  'four hashes for all keys': (key: number) => key & 3,
  'negative hashes': (key: number) => -1 - key,
};

const step = fc.tuple(fc.nat(30), fc.nat(40));

test('an index finds what a Map finds', () => {
  const hash = fc.constantFrom(...Object.values(hashes));
  fc.assert(
    fc.property(hash, fc.array(step, { maxLength: 300 }), (hashOf, steps) => {
      const index = openIndex(hashOf);
      const model = new Map<number, number>();
      for (const [key, choice] of steps) {
        const row = model.get(key);
        if (choice === 0) {
          index.clear();
          model.clear();
        } else if (row === undefined) {
          model.set(key, index.insert(key));
        } else {
          index.remove(key, row);
          model.delete(key);
        }
        for (let other = 0; other <= 30; other += 1) {
          assert.equal(index.find(other), model.get(other) ?? none);
        }
      }
    }),
    { numRuns: 200 },
  );
});

test('an index of many pages loses nothing while it grows and shrinks', () => {
  for (const hashOf of [hashes['a hash of its own for each key'], hashes['neighboring hashes']]) {
    // More than the first page holds when it has grown to its full size.
    const count = 70_000;
    const index = openIndex(hashOf);
    const rows = Array.from({ length: count }, (_, key) => index.insert(key));
    for (const [key, row] of rows.entries()) assert.equal(index.find(key), row);
    for (let key = 0; key < count; key += 2) index.remove(key, rows[key] as number);
    for (const [key, row] of rows.entries()) {
      assert.equal(index.find(key), key % 2 === 0 ? none : row);
    }
  }
});

test('an index that no longer doubles loses nothing while it grows', () => {
  const index = new HashIndex();
  const hashOf = (row: number): number => Math.imul(row, 0x9e3779b1);
  // Just beyond the size up to which tables double, and full.
  const first = 840_000;
  index.reserve(first);
  const count = 1_300_000;
  for (let row = 0; row < count; row += 1) {
    index.insert(hashOf(row), row);
    if (row > first) assert.equal(index.row(index.first(hashOf(row - first))), row - first);
  }
  for (let row = 0; row < count; row += 1) assert.equal(index.row(index.first(hashOf(row))), row);
});

test('rows that find no free slot before the end of a table wrap past it and are found there', () => {
  const slots = new HashSlots(16);
  const lastHash = -1;
  // More than the first page holds when it has grown to its full size.
  const count = 33_000;
  for (let row = 0; row < count; row += 1) slots.insert(lastHash, row);
  const found = (): number[] => {
    const rows: number[] = [];
    let slot = slots.seek(lastHash, slots.home(lastHash));
    for (; slot !== none; slot = slots.seek(lastHash, slot + 1)) rows.push(slots.row(slot));
    return rows;
  };
  assert.deepEqual(
    found(),
    Array.from({ length: count }, (_, row) => row),
  );
  slots.remove(lastHash, 0);
  slots.remove(lastHash, count - 1);
  assert.deepEqual(
    found().sort((a, b) => a - b),
    Array.from({ length: count - 2 }, (_, index) => index + 1),
  );
});

test('an index finds everything at every step of moving to a larger table', () => {
  const index = openIndex((key) => Math.imul(key, 0x9e3779b1));
  const rows: number[] = [];
  // Beyond the size up to which a table is moved at once, and through several larger ones.
  for (let key = 0; key < 6_000; key += 1) {
    rows.push(index.insert(key));
    if (key % 3 === 2) index.remove(key - 1, rows[key - 1] as number);
    if (key % 50 !== 0) continue;
    for (let other = 0; other <= key; other += 1) {
      const isGone = other % 3 === 1 && other < key;
      assert.equal(index.find(other), isGone ? none : rows[other]);
    }
  }
});
