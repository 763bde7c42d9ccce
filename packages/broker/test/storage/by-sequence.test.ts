/**
 * Values by sequence are what a Map would hold, in order, however far apart the sequences are: within a page, at its
 * edges, and in pages that are dropped and begun again.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BySequence, type Packing } from '../../src/storage/local/by-sequence.ts';

// Neighbours, the edges of pages, and counters beyond 32 bits.
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

/** Odd numbers cannot be taken apart. */
const evenNumbers: Packing<{ readonly number: number; readonly text: string }> = {
  texts: 1,
  numbers: 1,
  pack({ number, text }, { texts, numbers }, textAt, numberAt) {
    if (number % 2 === 1) return false;
    texts[textAt] = text;
    numbers[numberAt] = number;
    return true;
  },
  unpack({ texts, numbers }, textAt, numberAt) {
    return { number: numbers[numberAt] as number, text: texts[textAt] as string };
  },
};

test('values that are taken apart, and those that cannot be, come back as they were', () => {
  const entries = new BySequence(evenNumbers);
  const expected = Array.from({ length: 100 }, (_, number) => ({ number, text: `text ${number}` }));
  for (const value of expected) entries.set(value.number, value);
  assert.deepEqual(entries.get(42), { number: 42, text: 'text 42' });
  assert.notEqual(entries.get(42), expected[42]);
  assert.equal(entries.get(43), expected[43]);
  entries.set(42, { number: 7, text: 'other' });
  entries.set(43, { number: 8, text: 'another' });
  assert.deepEqual([entries.get(42)?.text, entries.get(43)?.text], ['other', 'another']);
  entries.delete(42);
  assert.equal(entries.get(42), undefined);
  assert.equal([...entries].length, 99);
});
