/**
 * How much of what broke a contract is remembered. The sends go to the backend as the contract's own backend passes them on,
 * with what is wrong noted on each.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../src/server/clock.ts';
import { recentViolations } from '../../src/server/contract/recent-violations.ts';
import { openMemoryBackend } from '../../src/storage/memory/open.ts';

const violation = { mode: 'observe', rule: 'not-json', reason: 'it is no JSON' } as const;

async function violatingQueues() {
  const backend = openMemoryBackend({ clock: manualClock(0) });
  const violationsOf = recentViolations(backend);
  const violate = async (queue: string, times: number): Promise<void> => {
    await backend.run({ type: 'create-queue', queue, attributes: {}, tags: {} });
    for (let sent = 0; sent < times; sent += 10) {
      const entries = Array.from({ length: 10 }, (_, index) => ({
        id: `e${index}`,
        body: `${sent + index}`,
        senderId: 'somebody',
        violation,
      }));
      await backend.run({ type: 'send', queue, isBatch: true, entries });
    }
  };
  const bodies = (queue: string): string[] =>
    violationsOf(queue).map((event) => ('body' in event ? event.body : ''));
  return { backend, violate, bodies };
}

test('a queue keeps its latest thousand violations, and at most two thousand', async () => {
  const { violate, bodies } = await violatingQueues();
  await violate('bad', 2_500);
  assert.equal(bodies('bad').length, 1_500);
  assert.deepEqual([bodies('bad')[0], bodies('bad').at(-1)], ['1000', '2499']);
});

test('beyond 20,000 in all, the queue whose latest violation is oldest is forgotten', async () => {
  const { backend, violate, bodies } = await violatingQueues();
  for (let at = 0; at < 20; at += 1) await violate(`bad-${at}`, 1_000);
  await violate('bad-0', 10);
  assert.deepEqual([bodies('bad-0').length, bodies('bad-1').length], [1_010, 0]);
  assert.equal(bodies('bad-2').length, 1_000);
  await backend.run({ type: 'delete-queue', queue: 'bad-2' });
  assert.equal(bodies('bad-2').length, 0);
  await violate('bad-20', 990);
  assert.equal(bodies('bad-3').length, 1_000, 'what a deleted queue had no longer counts');
});
