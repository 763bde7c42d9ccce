/**
 * Receivers that wait while a retry of theirs is under way, as over a database: whoever leaves meanwhile has left.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Received } from '../../src/storage/backend.ts';
import { LongPolls, type ReceiveAttempt } from '../../src/storage/running/long-polls.ts';

const queue = 'orders.fifo';
const command = { type: 'receive', queue, count: 1 } as const;

test('a retry that fails after its client has left fails nobody', async () => {
  let fail: (error: Error) => void = () => {};
  const retried = new Promise<ReceiveAttempt>((_, reject) => {
    fail = reject;
  });
  const polls = new LongPolls({
    retry: () => retried,
    answer: async (received, prepare) => prepare(received),
  });
  const client = new AbortController();
  const times = { deadline: Number.POSITIVE_INFINITY, noneUntil: undefined };
  const prepare = ({ ok }: Received): boolean => ok;
  const waited = polls.wait(command, times, { signal: client.signal, prepare });
  polls.stirQueues([queue]);
  polls.serve();
  client.abort();
  assert.equal(await waited, true);
  // A rejection that nobody handles ends the process, and fails this test.
  fail(new Error('the database does not answer'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(polls.size, 0);
});
