/**
 * Slab against a Map: rows keep what was written to them until they are released, and no row is given out twice. More
 * rows than a page holds are used, so that page borders are crossed.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Slab } from '../../../src/core/structures/slab.ts';

interface Row {
  readonly ints: readonly [number, number];
  readonly double: number;
}

const step = fc.record({
  choice: fc.nat(9),
  at: fc.nat(),
  ints: fc.tuple(fc.integer(), fc.integer()),
  double: fc.double({ noNaN: true }),
});

test('rows hold what a Map holds', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
      const slab = new Slab(4);
      const model = new Map<number, Row>();
      for (const { choice, at, ints, double } of steps) {
        const rows = [...model.keys()];
        if (choice > 2 || rows.length === 0) {
          const row = slab.allocate();
          assert.ok(!model.has(row), 'a row is given out once');
          model.set(row, { ints, double });
          slab.setInt(row, 0, ints[0]);
          slab.setInt(row, 1, ints[1]);
          slab.setDouble(row, 2, double);
        } else {
          const row = rows[at % rows.length] as number;
          slab.release(row);
          model.delete(row);
        }
        assert.equal(slab.size, model.size);
      }
      for (const [row, { ints, double }] of model) {
        assert.deepEqual([slab.int(row, 0), slab.int(row, 1)], ints);
        assert.equal(slab.double(row, 2), double);
      }
    }),
  );
});

test('rows of a slab with several pages keep what was written to them while it grows', () => {
  const slab = new Slab(2);
  const count = 40_000;
  for (let row = 0; row < count; row += 1) slab.setDouble(slab.allocate(), 0, row / 3);
  for (let row = 0; row < count; row += 1) assert.equal(slab.double(row, 0), row / 3);
});

test('released rows are used again before the slab grows', () => {
  const slab = new Slab(2);
  const rows = Array.from({ length: 1000 }, () => slab.allocate());
  for (const row of rows.slice(100, 200)) slab.release(row);
  const again = Array.from({ length: 100 }, () => slab.allocate());
  assert.deepEqual(new Set(again), new Set(rows.slice(100, 200)));
});

test('a slab whose rows are all released starts from the first row', () => {
  const slab = new Slab(2);
  const rows = Array.from({ length: 1000 }, () => slab.allocate());
  for (const row of rows) slab.release(row);
  assert.equal(slab.size, 0);
  assert.equal(slab.allocate(), 0);
});
