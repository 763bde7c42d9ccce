/**
 * What a file outbox remembers of its keys: bounded, and forgotten with the segments that are removed. How an outbox uses
 * it is tested in outbox.test.ts.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptKeys } from '../../src/outbox/kept-keys.ts';
import type { ProducerMessage } from '../../src/producer/send.ts';
import { landsat, scenes } from '../support/landsat.ts';

const [first, second, third] = scenes(3).map((event) => landsat().message(event)) as [
  ProducerMessage,
  ProducerMessage,
  ProducerMessage,
];

test('beyond the bound the oldest key is forgotten', async () => {
  const keys = new KeptKeys(2);
  for (const [index, message] of [first, second, third].entries()) {
    keys.add(message, Promise.resolve(index));
  }
  assert.equal(keys.find(first), undefined);
  assert.equal(await keys.find(second), 1);
  assert.equal(await keys.find(third), 2);
});

test('a key is forgotten with its segment, and one that is still being written is not', async () => {
  const keys = new KeptKeys();
  keys.add(first, Promise.resolve(1), 1);
  keys.add(second, Promise.resolve(2));
  keys.add(third, Promise.resolve(3));
  keys.locate(third, 2);
  keys.forgetSegmentsBefore(2);
  assert.equal(keys.find(first), undefined);
  assert.equal(await keys.find(second), 2);
  assert.equal(await keys.find(third), 3);
  keys.forgetSegmentsBefore(3);
  assert.equal(keys.find(third), undefined);
});
