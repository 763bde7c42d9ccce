// Runs the tests: every compiled *.test.js of the packages and of the root, in Node's test runner.
//
// Node 20's `node --test` takes files, not patterns, so this script lists them. Arguments select
// files by part of their path (`npm test -- deduplication`); options are passed on to node
// (`npm test -- --test-name-pattern=window`). Lint and the examples are tests like all others, so
// one summary and one exit code cover everything.
//
// The console is tested in a real browser, which is installed first if there is none.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const testFolders = ['.build/test', 'packages/broker/dist/test', 'packages/toolkit/dist/test'];

const browserTests = join('test', 'console');

const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith('-'));
const words = args.filter((arg) => !arg.startsWith('-'));

const files = testFolders
  .flatMap(testFilesUnder)
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)));

if (files.length === 0) {
  console.error(`No test file has ${words.join(' or ')} in its path.`);
  process.exitCode = 1;
} else {
  if (files.some((file) => file.includes(browserTests))) {
    const browser = [join('.build', 'scripts', 'chromium.js')];
    spawnSync(process.execPath, browser, { stdio: ['ignore', process.stderr.fd, 'inherit'] });
  }
  const { status } = spawnSync(
    process.execPath,
    ['--enable-source-maps', '--test', '--test-reporter=spec', ...options, ...files],
    { stdio: 'inherit' },
  );
  process.exitCode = status ?? 1;
}

function testFilesUnder(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .sort()
    .map((name) => join(folder, name));
}
