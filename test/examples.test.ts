// Runs every example as a reader would, in its own process: main.ts with node, queue.test.ts with the test runner that
// the folder is named after.
//
// An example passes if it ends by itself with exit code 0; otherwise its output is shown. A folder that this test does
// not know how to run is a mistake and fails as well.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

/** One that hangs ends after this time; the longest takes a quarter of a minute, on a machine that does nothing else. */
const exampleMsMax = 300_000;

/** By the folder's name without its number; folders that are not listed have a main.ts. */
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

/** What an example must print, where exit code 0 is not enough. */
const printed: Readonly<Record<string, string>> = {
  'landsat-refresh': '1,000 events, 37 replays, 1,000 effects\n',
  'one-trace': '  send scenes.fifo (oncemq, suppressed) ',
};

/**
 * Run by tests of their own: verify-python needs boto3 (packages/broker/test/sdk/verify-python.test.ts), ci-gate needs a
 * repository (packages/broker/test/cli/gate/ci-jobs.test.ts).
 */
const runElsewhere: readonly string[] = ['verify-python', 'ci-gate'];

for (const name of exampleNames()) {
  test(`the example ${name} runs to its end`, () => {
    const kind = name.replace(/^\d+-/, '');
    const runner = runners[kind];
    const args = runner === undefined ? [`.build/examples/${name}/main.js`] : runner(name);
    // A test runner started by a test must not take itself for a part of this run.
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
