/**
 * What is not in the file yet is found until the commit that writes it is over, and no longer.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Uncommitted } from '../../../src/storage/lmdb/commit/uncommitted.ts';

test('a value is there until the commit it came with is over, beside those of the next one', () => {
  const fresh = new Uncommitted();
  fresh.set(1, 'first');
  fresh.age();
  fresh.set(2, 'second');
  assert.deepEqual([fresh.get(1), fresh.get(2)], ['first', 'second']);
  fresh.forget();
  assert.deepEqual([fresh.get(1), fresh.get(2)], [undefined, 'second']);
  fresh.age();
  fresh.forget();
  assert.equal(fresh.get(2), undefined);
});

test('what is removed is gone, whichever commit it came with', () => {
  const fresh = new Uncommitted();
  for (const id of [1, 2]) fresh.set(id, 'written');
  fresh.age();
  for (const id of [3, 4]) fresh.set(id, 'gathering');
  fresh.delete(1);
  fresh.delete(3);
  assert.deepEqual(
    [1, 2, 3, 4].map((id) => fresh.get(id)),
    [undefined, 'written', undefined, 'gathering'],
  );
  fresh.clear();
  assert.deepEqual(
    [2, 4].map((id) => fresh.get(id)),
    [undefined, undefined],
  );
});
