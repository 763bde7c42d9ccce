/**
 * SequenceIndex against a Map: every sequence is found while it is there, whatever came and went beside it. Sequences
 * are dense, far apart, and beyond 32 bits.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SequenceIndex } from '../../src/core/queue/sequence-index.ts';
import { none } from '../../src/core/structures/slab.ts';

test('an index finds the sequences that a Map finds', () => {
  const step = fc.tuple(fc.nat(60), fc.nat(40));
  const first = fc.constantFrom(0, 1, 2 ** 31 - 20, 2 ** 32 - 20, 2 ** 53 - 100);
  fc.assert(
    fc.property(first, fc.array(step, { maxLength: 300 }), (from, steps) => {
      const index = new SequenceIndex();
      const model = new Map<number, number>();
      let row = 0;
      for (const [offset, choice] of steps) {
        const sequence = from + offset;
        if (choice === 0) {
          index.clear();
          model.clear();
        } else if (model.has(sequence)) {
          index.remove(sequence);
          model.delete(sequence);
        } else {
          row += 1;
          index.add(sequence, row);
          model.set(sequence, row);
        }
        for (let other = from; other <= from + 60; other += 1) {
          assert.equal(index.find(other), model.get(other) ?? none);
        }
      }
    }),
    { numRuns: 200 },
  );
});

test('an index finds the few entries left after many were removed', () => {
  const index = new SequenceIndex();
  const count = 200_000;
  const staysBehind = (sequence: number): boolean => sequence % 1000 === 7;
  for (let sequence = 0; sequence < count; sequence += 1) index.add(sequence, sequence + 1);
  for (let sequence = 0; sequence < count; sequence += 1) {
    if (!staysBehind(sequence)) index.remove(sequence);
  }
  for (let sequence = 0; sequence < count; sequence += 1) {
    assert.equal(index.find(sequence), staysBehind(sequence) ? sequence + 1 : none);
  }
});
