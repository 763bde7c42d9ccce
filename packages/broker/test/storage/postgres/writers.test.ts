/**
 * Three real writers work at the same time over one journal, as three nodes do: they absorb only what they touch, lock or
 * pass over, load in parts while others go on, forget owners, and lose commits or only their answers. Queues, topics and
 * settings come and go at any of them. In the order of the commits, one engine must give the same answers and changes.
 *
 * `--commands 1000000` makes a long run; `--seed` repeats one.
 */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { seededRun } from '../../support/seeded.ts';
import { Cluster } from './cluster.ts';

const commandsPerCase = 150;
const commands = 3_000;

test('three writers at the same time answer like one engine', async (t: TestContext) => {
  const run = seededRun();
  const enough = run.commands ?? commands;
  console.log(`seed ${run.seed}: ${t.name}`);
  let compared = 0;
  for (let seed = run.seed; compared < enough; seed += 1) {
    try {
      compared += await new Cluster(seed).run(commandsPerCase);
    } catch (error) {
      const file = 'packages/broker/dist/test/storage/postgres/writers.test.js';
      const { stack } = error as Error;
      throw new Error(`${stack}\nAgain: node ${file} --seed ${seed} --commands 1`);
    }
  }
  assert.ok(compared >= enough);
  t.diagnostic(`${compared} commands`);
});
