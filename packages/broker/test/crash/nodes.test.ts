/**
 * Three servers over one database answer as one, whatever is done to them: a short run of the nemesis, in which nothing may
 * be wrong that clients can see; and one in which a failover loses commits, which the checker must find and the nodes must tell.
 * `npm run test:nodes` makes longer ones.
 *
 * On the real clock: kills, pauses and failovers take the time they take.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRun } from '../support/seeded.ts';
import { violationsText } from './checker.ts';
import { type NodesOptions, type NodesResult, nodesRun } from './nodes-run.ts';

const { seed } = seededRun();
async function shortRun(options: Partial<NodesOptions>): Promise<NodesResult & { again: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'oncemq-nodes-'));
  const planned = { seed, faults: 0, faultsPerFailover: undefined, directory };
  const result = await nodesRun({ ...planned, ...options });
  const isKept = options.planted === undefined && result.violations.length > 0;
  if (!isKept) rmSync(directory, { recursive: true });
  const told = [...result.losses, ...result.failures];
  const again = `Again: npm run test:nodes -- --minutes 1 --seed ${seed}`;
  return {
    ...result,
    again: [...told, ...(isKept ? [`History: ${directory}`] : []), again].join('\n'),
  };
}

test('three nodes that are killed, frozen and cut off, and a primary that is killed, answer as one server', async (t) => {
  console.log(`seed ${seed}: ${t.name}`);
  // Of nine, others every time.
  const kinds = 6;
  const { violations, tally, faults, losses, again } = await shortRun({
    faults: kinds,
    faultsPerFailover: 4,
  });
  assert.deepEqual(violations, [], `${violationsText(violations)}\n${again}`);
  assert.deepEqual(losses, [], 'the standby had everything');
  // A node is well again only after the others have answered, so that nobody waited for it.
  assert.equal(faults.size, kinds + 1, 'each was tried');
  assert.ok(tally.sendsUnanswered > 0, `no send was cut off\n${again}`);
  t.diagnostic(JSON.stringify({ tally, faults: [...faults] }));
});

test('commits that a failover loses are found by the checker, and told by the nodes', async () => {
  const { violations, losses } = await shortRun({ planted: 'loss' });
  const broken = new Set(violations.map(({ rule }) => rule));
  assert.ok(broken.has('every answered send is delivered'), [...broken].join(', '));
  assert.ok(losses.length > 0, 'no node told of it');
});
