// Lint and format as a test, so that the summary of `npm test` covers them too.
//
// The rules, including the layers of packages/broker/src, are in biome.json. `npm run format` fixes
// what can be fixed automatically.

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
