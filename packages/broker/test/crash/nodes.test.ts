/**
 * Three servers over one database, of which one after the other is frozen or killed at any moment, while every request goes
 * to another server than the one before: nothing may be wrong that clients can see. By flag longer:
 *
 *   npm run test:nodes -- --commands KILLS
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startPostgres } from '../support/postgres.ts';
import { seededRun } from '../support/seeded.ts';
import { violationsText } from './checker.ts';
import { crashRun } from './run.ts';

const { seed, commands: kills = 8 } = seededRun();

test('three nodes, of which one after the other is frozen or killed, answer as one server', async (t) => {
  console.log(`seed ${seed}: ${t.name}`);
  const { url } = await startPostgres();
  const directory = mkdtempSync(join(tmpdir(), 'oncemq-nodes-'));
  const { tally, violations } = await crashRun({ seed, kills, directory, database: url, nodes: 3 });
  assert.deepEqual(violations, [], `${violationsText(violations)}\nHistory: ${directory}`);
  assert.ok(tally.sendsUnanswered > 0 || kills < 5, `no send was cut off\nHistory: ${directory}`);
  t.diagnostic(JSON.stringify(tally));
  rmSync(directory, { recursive: true });
});
