/**
 * What a server remembers of the keys it accepted: bounded, and withdrawn where a message was not accepted after all. How
 * it is used is tested in contract.test.ts.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsedKeys } from '../../src/server/contract/used-keys.ts';

test('beyond 100,000 keys the one used longest ago is forgotten', () => {
  const keys = new UsedKeys();
  keys.note('queue a', 'first', 'x', 0);
  keys.note('queue a', 'second', 'x', 0);
  for (let index = 0; index < 99_998; index += 1) keys.note('queue a', `${index}`, 'x', 0);
  keys.note('queue a', 'first', 'x', 1);
  keys.note('queue a', 'last', 'x', 1);
  assert.equal(keys.usedOtherwise('queue a', 'first', 'y'), 1);
  assert.equal(keys.usedOtherwise('queue a', 'second', 'y'), undefined);
  assert.equal(keys.usedOtherwise('queue a', '0', 'y'), 0);
});

test('a note that is taken back leaves what was there before, unless a later one replaced it', () => {
  const keys = new UsedKeys();
  keys.note('queue a', 'k', 'x', 0);
  const takeBack = keys.note('queue a', 'k', 'y', 1);
  assert.equal(keys.usedOtherwise('queue a', 'k', 'x'), 1);
  takeBack();
  assert.equal(keys.usedOtherwise('queue a', 'k', 'x'), undefined);
  const late = keys.note('queue a', 'k', 'y', 2);
  keys.note('queue a', 'k', 'z', 3);
  late();
  assert.equal(keys.usedOtherwise('queue a', 'k', 'y'), 3);
});
