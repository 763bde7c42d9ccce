/**
 * Message ids follow from the queue's secret and the sequence: they look like any UUID, never repeat within a queue,
 * are the same whenever they are asked for, and say nothing about another queue's.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MessageIds } from '../../src/core/message-id.ts';

const sequences = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

test('an id is a lower-case UUID of version 4 (1.7)', () => {
  fc.assert(
    fc.property(fc.string(), sequences, (secret, sequence) => {
      const id = new MessageIds(secret).of(sequence);
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.equal(new MessageIds(secret).of(sequence), id);
    }),
  );
});

test('message ids of a queue are distinct, even without the middle that holds the version bits', () => {
  const ids = new MessageIds('a secret');
  const seen = new Set<string>();
  const far = 2 ** 40;
  for (let sequence = 1; sequence <= 100_000; sequence += 1) {
    for (const id of [ids.of(sequence), ids.of(far + sequence)]) {
      seen.add(id.slice(0, 8) + id.slice(-8));
    }
  }
  assert.equal(seen.size, 200_000);
});

test('two queues give different ids to the same sequence number', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), sequences, (one, other, sequence) => {
      fc.pre(one !== other);
      assert.notEqual(new MessageIds(one).of(sequence), new MessageIds(other).of(sequence));
    }),
  );
});
