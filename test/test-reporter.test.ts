// What `npm test` prints, on small suites that are made for it: a failure is shown whole with what its file printed, skipped
// tests are named with their reasons, passing ones leave a progress line, and the closing lines are those of Node's reporter.
// And that `--no-install` is obeyed: nothing is installed, and what is missing is named.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

const mixed = `
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
console.log('seed 7: a random test');
describe('a group', () => {
  test('fails', (t) => {
    t.diagnostic('12 commands');
    assert.deepEqual({ color: 'red' }, { color: 'green' });
  });
  test('passes', () => {});
});
test('needs a disk', (t) => {
  if (process.pid > 0) return t.skip('no disk here');
});
`;

test('a failure is shown with its file, its group, its difference and what its file printed', (t) => {
  const { out, status } = reported(t, { 'mixed.test.mjs': mixed });
  assert.equal(status, 1);
  assert.match(out, /✖ a group › fails \(.*mixed\.test\.mjs:6:3, \d+ ms\)/);
  assert.match(out, /\+ {3}color: 'red'\n.*- {3}color: 'green'/);
  assert.match(out, /printed:\n {2}seed 7: a random test\n[\s\S]*printed:\n {2}ℹ 12 commands/);
  assert.match(out, /\nfailed: 1\n {2}a group › fails \(/);
});

test('a skipped test is named with its reason, and the last lines are the totals', (t) => {
  const { out } = reported(t, { 'mixed.test.mjs': mixed });
  assert.match(out, /\nskipped: 1\n {2}needs a disk: no disk here\n/);
  const totals =
    /\nℹ tests 3\nℹ suites 1\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\nℹ duration_ms [\d.]+\n$/;
  assert.match(out, totals);
});

test('a test that --test-name-pattern leaves out is not listed as skipped', (t) => {
  const { out, status } = reported(t, { 'mixed.test.mjs': mixed }, ['--test-name-pattern=passes']);
  assert.equal(status, 0);
  assert.doesNotMatch(out, /skipped:|needs a disk/);
});

test('a test that a second file defines is named after its group, and shows what the first printed', (t) => {
  const { out } = reported(t, {
    'first.test.mjs': `import { describe } from 'node:test';
      import { define } from './second.mjs';
      console.log('seed 9: first');
      describe('a client', define);`,
    'second.mjs': `import { test } from 'node:test';
      export const define = () => { test('answers', () => { throw new Error('it did not'); }); };`,
  });
  assert.match(out, /✖ a client › answers \(.*second\.mjs:/);
  assert.match(out, /first\.test\.mjs printed:\n {2}seed 9: first\n/);
});

test('a file that ends in the middle of a test fails with its exit code and its last words', (t) => {
  const text = `import { test } from 'node:test';
    test('ends', () => { console.log('last words'); process.exit(3); });`;
  const { out, status } = reported(t, { 'ends.test.mjs': text });
  assert.equal(status, 1);
  assert.match(out, /✖ .*ends\.test\.mjs[\s\S]*exitCode: 3[\s\S]*printed:\n {2}last words/);
});

test('six hundred passing tests take two lines, and what their file printed is not among them', (t) => {
  const text = `import { test } from 'node:test';
    console.log('seed 8: unremarkable');
    for (let n = 0; n < 600; n += 1) test('test ' + n, () => {});`;
  const { out, status } = reported(t, { 'many.test.mjs': text });
  assert.equal(status, 0);
  const lines = out.split('\n').filter((line) => / tests, 0 failed, 0 skipped; /.test(line));
  assert.deepEqual(
    lines.map((line) => line.split(',')[0]),
    ['250 tests', '500 tests'],
  );
  assert.doesNotMatch(out, /seed 8|test 17/);
});

test('with --no-install nothing is installed, and the skipped tests name what is missing', (t) => {
  if (process.platform === 'darwin') return t.skip('a Chrome in /Applications is always found');
  const empty = folderOf(t, {});
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['.build/scripts/test.js', '--no-install', 'test/console/queue-page.test'],
    // No browser can be found here.
    { encoding: 'utf8', env: { PATH: empty, HOME: empty, PLAYWRIGHT_BROWSERS_PATH: empty } },
  );
  assert.equal(status, 0, stdout);
  assert.match(
    stderr,
    /^oncemq: not installing chromium-headless-shell into .+: .+ need a browser$/m,
  );
  assert.match(
    stderr,
    /^chromium: not available: .*ONCEMQ_NO_INSTALL forbids to install chromium/m,
  );
  assert.match(stdout, /\nskipped: \d+\n {2}.*: no Chromium is at hand/);
});

function reported(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  options: readonly string[] = [],
) {
  const folder = folderOf(t, files);
  // A test runner started by a test must not take itself for a part of this run.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const tests = Object.keys(files).filter((name) => name.includes('.test.'));
  const names = tests.map((name) => join(folder, name));
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--test', '--test-reporter=./.build/scripts/test-reporter.js', ...options, ...names],
    { encoding: 'utf8', env },
  );
  return { out: stdout, status };
}

function folderOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-reporter-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}
