/**
 * Values by sequence are what a Map would hold, in order, however far apart the sequences are: within a page, at its
 * edges, and in pages that are dropped and begun again.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BySequence } from '../../../src/core/structures/by-sequence.ts';

// Neighbors, the edges of pages, and counters beyond 32 bits.
const sequence = fc.oneof(
  fc.integer({ min: 0, max: 100 }),
  fc.integer({ min: 2 ** 40, max: 2 ** 40 + 70 }),
);
const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('set' as const), sequence }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('delete' as const), sequence }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), sequence }) },
);

test('after any sets, deletes and clears it equals a Map, in order of sequence', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const entries = new BySequence<number>();
      const model = new Map<number, number>();
      for (const [value, { do: what, sequence }] of steps.entries()) {
        if (what === 'clear') {
          entries.clear();
          model.clear();
        } else if (what === 'set') {
          entries.set(sequence, value);
          model.set(sequence, value);
        } else {
          entries.delete(sequence);
          model.delete(sequence);
        }
        assert.equal(entries.get(sequence), model.get(sequence));
      }
      assert.deepEqual(
        [...entries],
        [...model].sort(([a], [b]) => a - b),
      );
    }),
  );
});
