/**
 * TimeQueue against a sorted array: whatever is inserted and removed, the smallest (time, stamp) is first. Times come from
 * a small range, so that list and heap are both used and ties happen.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { none } from '../../../src/core/structures/slab.ts';
import { TimeQueue } from '../../../src/core/structures/time-queue.ts';

interface Entry {
  readonly item: number;
  readonly time: number;
  readonly stamp: number;
  readonly node: number;
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('insert'), time: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('remove-first') }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('remove'), at: fc.nat() }) },
  { weight: 1, arbitrary: fc.constant({ type: 'clear' }) },
) as fc.Arbitrary<
  | { type: 'insert'; time: number }
  | { type: 'remove-first' | 'clear' }
  | { type: 'remove'; at: number }
>;

function byTimeAndStamp(a: Entry, b: Entry): number {
  return a.time - b.time || a.stamp - b.stamp;
}

test('a time queue always has the order of a sorted array', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), fc.boolean(), (steps, isShuffled) => {
      const queue = new TimeQueue();
      let model: Entry[] = [];
      for (const [at, { type, ...details }] of steps.entries()) {
        if (type === 'insert') {
          const { time } = details as { time: number };
          // Stamps are distinct; out of order, ties have to be broken in the heap as well.
          const stamp = isShuffled ? (at * 7919) % 10_007 : at;
          const node = queue.insert(at, time, stamp);
          model = [...model, { item: at, time, stamp, node }].sort(byTimeAndStamp);
        } else if (type === 'clear') {
          queue.clear();
          model = [];
        } else if (model.length > 0) {
          const position = type === 'remove' ? (details as { at: number }).at % model.length : 0;
          queue.remove((model[position] as Entry).node);
          model = model.toSpliced(position, 1);
        }
        assert.equal(queue.size, model.length);
        const first = queue.first();
        assert.equal(first === none ? undefined : queue.item(first), model[0]?.item);
        assert.equal(first === none ? undefined : queue.time(first), model[0]?.time);
      }
      for (const { item } of model) {
        const first = queue.first();
        assert.equal(queue.item(first), item);
        queue.remove(first);
      }
      assert.equal(queue.first(), none);
    }),
    { numRuns: 300 },
  );
});
