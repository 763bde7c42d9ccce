/**
 * Answered means kept: a short crash run with the server's data on disk, in which nothing may be wrong; and one without,
 * in which much must be, to show that the checker detects a loss. `npm run test:crash` makes longer ones.
 *
 * On the real clock, unlike most tests: a kill and a restart take the time they take (run.ts).
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRun } from '../support/seeded.ts';
import { violationsText } from './checker.ts';
import { crashRun } from './run.ts';

const { seed } = seededRun();

test('a server killed at any moment loses nothing that it acknowledged, and invents nothing', async (t) => {
  console.log(`seed ${seed}: ${t.name}`);
  const kills = 15;
  const directory = mkdtempSync(join(tmpdir(), 'oncemq-crash-'));
  const again = `Again: npm run test:crash -- --kills ${kills} --seed ${seed}\nHistory: ${directory}`;
  const data = join(directory, 'data');
  const { tally, violations } = await crashRun({ seed, kills, directory, data });
  assert.deepEqual(violations, [], `${violationsText(violations)}\n${again}`);
  // A run that met none of these would have proved little.
  for (const count of ['duplicatesOverKill', 'deletedOverKill', 'sendsUnanswered'] as const) {
    assert.ok(tally[count] > 0, `${count} is 0\n${again}`);
  }
  t.diagnostic(JSON.stringify(tally));
  rmSync(directory, { recursive: true });
});

test('the checker detects what an in-memory server loses when it is killed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'oncemq-crash-'));
  // A seed whose kills come late enough for the clients to have done something.
  const { violations } = await crashRun({ seed: 1, kills: 4, directory });
  const broken = new Set(violations.map(({ rule }) => rule));
  for (const rule of [
    'every answered send is delivered',
    'every message stays until it is deleted',
    'a duplicate is answered with the ids of its original',
    'sequence numbers rise in the order of the sends',
    'a receipt is good while its message is in flight',
  ]) {
    assert.ok(broken.has(rule), `nothing was found against: ${rule}\nHistory: ${directory}`);
  }
  rmSync(directory, { recursive: true });
});
