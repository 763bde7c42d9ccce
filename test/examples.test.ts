// Runs every example as a reader would, in a process of its own: main.ts with node, queue.test.ts with the test runner
// that the folder is named after.
//
// An example passes when it ends by itself with exit code 0; what it printed is shown when it does not. A folder that
// nobody knows how to run is a mistake and fails as well.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

const exampleMsMax = 60_000;

/** By the folder's name without its number; what is not listed has a main.ts. */
const runners: Readonly<Record<string, (name: string) => string[]>> = {
  'node-test': (name) => ['--test', `.build/examples/${name}/queue.test.js`],
  vitest: (name) => ['node_modules/vitest/vitest.mjs', 'run', '--root', `examples/${name}`],
  jest: (name) => [
    '--experimental-vm-modules',
    'node_modules/jest/bin/jest.js',
    '--rootDir',
    `.build/examples/${name}`,
  ],
};

/** What an example must print, where its ending well does not say it all. */
const printed: Readonly<Record<string, string>> = {
  'landsat-refresh': '1,000 events, 37 replays, 1,000 effects\n',
  'one-trace': '  send scenes.fifo (oncemq, suppressed) ',
};

/** Run by tests that know what else they need: boto3 in packages/broker/test/sdk/verify-python.test.ts; or to be copied. */
const runElsewhere: readonly string[] = ['verify-python', 'ci-gate'];

for (const name of exampleNames()) {
  test(`the example ${name} runs to its end`, () => {
    const kind = name.replace(/^\d+-/, '');
    const runner = runners[kind];
    const args = runner === undefined ? [`.build/examples/${name}/main.js`] : runner(name);
    // A test runner started by a test must not think that it is a part of this one.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const example = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      timeout: exampleMsMax,
      env,
    });
    assert.equal(example.status, 0, `${example.stdout}${example.stderr}`);
    assert.ok(example.stdout.includes(printed[kind] ?? ''), example.stdout);
  });
}

function exampleNames(): string[] {
  if (!existsSync('examples')) return [];
  return readdirSync('examples', { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .filter((name) => !runElsewhere.includes(name.replace(/^\d+-/, '')))
    .sort();
}
