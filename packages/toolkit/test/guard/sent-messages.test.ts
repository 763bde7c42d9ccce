/**
 * What a guard remembers of what was sent: at most 10,000 entries, of which the oldest go first. How the guard uses it is
 * tested in dedupe-guard.test.ts.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SentMessages } from '../../src/guard/sent-messages.ts';

test('beyond 10,000 entries the oldest is forgotten', () => {
  const sent = new SentMessages(300_000);
  for (let index = 0; index <= 10_000; index += 1) sent.note('a', `${index}`, 'x', 0);
  assert.equal(sent.judge('a', '0', 'y', 0), 'new');
  assert.equal(sent.judge('a', '1', 'y', 0), 'collision');
  assert.equal(sent.judge('a', '10000', 'x', 0), 'again');
});
