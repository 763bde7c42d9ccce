// Runs every example as a reader would: examples/NAME/main.ts, compiled, in a process of its own.
//
// An example passes when it ends by itself with exit code 0; what it printed is shown when it does
// not. A folder without a main.ts is a mistake and fails as well.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

const exampleMsMax = 60_000;

for (const name of exampleNames()) {
  test(`the example ${name} runs to its end`, () => {
    const example = spawnSync(process.execPath, [`.build/examples/${name}/main.js`], {
      encoding: 'utf8',
      timeout: exampleMsMax,
    });
    assert.equal(example.status, 0, `${example.stdout}${example.stderr}`);
  });
}

function exampleNames(): string[] {
  if (!existsSync('examples')) return [];
  return readdirSync('examples', { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}
