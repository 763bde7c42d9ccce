/**
 * Deadlines: what is due, by time and then by stamp, whatever order it was set in.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Deadlines } from '../../../src/core/structures/deadlines.ts';

test('with a limit the earliest due entries are returned, regardless of insertion order', () => {
  const entry = fc.record({ stamp: fc.nat(50), time: fc.nat(3) });
  const entries = fc.uniqueArray(entry, {
    selector: ({ stamp }) => stamp,
    minLength: 15,
    maxLength: 30,
  });
  fc.assert(
    fc.property(entries, fc.nat(3), fc.nat(10), (all, now, limit) => {
      const deadlines = new Deadlines();
      for (const { stamp, time } of all) deadlines.set(String(stamp), time, stamp);
      const first = all
        .filter(({ time }) => time <= now)
        .sort((a, b) => a.time - b.time || a.stamp - b.stamp)
        .slice(0, limit);
      const names = first.map(({ stamp }) => String(stamp)).sort();
      assert.deepEqual(deadlines.dueBy(now, limit), names);
      // Looking removes no name and keeps all in their order.
      assert.deepEqual(deadlines.dueBy(now, limit), names);
    }),
  );
});
