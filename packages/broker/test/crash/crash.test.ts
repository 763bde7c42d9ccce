/**
 * Shows that a crash run finds what is wrong: a server in memory loses everything at a kill, and the checker says so.
 * `npm run test:crash` makes longer runs.
 *
 * On the real clock, unlike all other tests: a kill and a restart take the time they take (run.ts).
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { crashRun } from './run.ts';

test('the checker sees what a server in memory loses when it is killed', async () => {
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
