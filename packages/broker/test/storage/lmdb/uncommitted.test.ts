/**
 * What is not in the file yet is found until the commit that writes it is over, and no longer.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Uncommitted } from '../../../src/storage/lmdb/commit/uncommitted.ts';

test('a value is there until the commit it came with is over, beside those of the next one', () => {
  const uncommitted = new Uncommitted();
  uncommitted.set(1, 'first');
  uncommitted.age();
  uncommitted.set(2, 'second');
  assert.deepEqual([uncommitted.get(1), uncommitted.get(2)], ['first', 'second']);
  uncommitted.forget();
  assert.deepEqual([uncommitted.get(1), uncommitted.get(2)], [undefined, 'second']);
  uncommitted.age();
  uncommitted.forget();
  assert.equal(uncommitted.get(2), undefined);
});

test('what is removed is gone, whichever commit it came with', () => {
  const uncommitted = new Uncommitted();
  for (const id of [1, 2]) uncommitted.set(id, 'written');
  uncommitted.age();
  for (const id of [3, 4]) uncommitted.set(id, 'gathering');
  uncommitted.delete(1);
  uncommitted.delete(3);
  assert.deepEqual(
    [1, 2, 3, 4].map((id) => uncommitted.get(id)),
    [undefined, 'written', undefined, 'gathering'],
  );
  uncommitted.clear();
  assert.deepEqual(
    [2, 4].map((id) => uncommitted.get(id)),
    [undefined, undefined],
  );
});
