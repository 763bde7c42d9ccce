// Lint and format as a test, so that the summary of `npm test` speaks for them too.
//
// The rules, among them the layers of packages/broker/src, stand in biome.json. `npm run format`
// mends what can be mended without thinking.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

test('Biome finds nothing to report', () => {
  const biome = spawnSync(
    process.execPath,
    ['node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', '--colors=off'],
    { encoding: 'utf8' },
  );
  assert.equal(biome.status, 0, `${biome.stdout}${biome.stderr}`);
});
