// Runs the tests: every compiled *.test.js of the packages and of the root, in Node's test runner.
//
//   npm test -- deduplication       files with this word in their path
//   npm test -- --verbose           every test by name, with all that it prints (Node's reporter "spec")
//   npm test -- --no-install        installs nothing that does not come with npm, and says what is missing
//
// Node 20's `node --test` takes files, not patterns, so this script lists them. Other options are passed on to node
// (`npm test -- --test-name-pattern=window`). Lint and the examples are tests like all others, so one summary and one exit
// code cover everything.
//
// The console is tested in a real browser, which is installed first if there is none. One PostgreSQL serves all files that
// need one.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { noInstallVariable } from './installs.ts';
import { startTestDatabase } from './test-database.ts';

const testFolders = ['.build/test', 'packages/broker/dist/test', 'packages/toolkit/dist/test'];

const browserTests = join('test', 'console');
const conformanceTests = join('test', 'conformance');
/** A file that hangs fails after this time instead of never. */
const fileMsMax = 900_000;
const ownReporter = './.build/scripts/test-reporter.js';

const args = process.argv.slice(2);
const given = args.filter((arg) => arg.startsWith('-'));
const words = args.filter((arg) => !arg.startsWith('-'));
const options = given.filter((arg) => arg !== '--verbose' && arg !== '--no-install');
if (given.includes('--no-install')) process.env[noInstallVariable] = '1';
options.unshift(`--test-timeout=${fileMsMax}`);
if (!options.some((option) => option.startsWith('--test-concurrency='))) {
  // Node leaves one core free, so on two cores the files would run one after the other; most of them wait for a process or a
  // disk half of their time.
  options.unshift(`--test-concurrency=${availableParallelism()}`);
}
if (!options.some((option) => option.startsWith('--test-reporter='))) {
  options.unshift(`--test-reporter=${given.includes('--verbose') ? 'spec' : ownReporter}`);
}

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
  const stopDatabase = files.some(needsDatabase) ? await startTestDatabase() : undefined;
  const { status } = spawnSync(
    process.execPath,
    ['--enable-source-maps', '--test', ...options, ...files],
    { stdio: 'inherit' },
  );
  process.exitCode = status ?? 1;
  stopDatabase?.();
}

/** All backends are in one module there; the other files start it themselves. */
function needsDatabase(file: string): boolean {
  return (
    file.includes(conformanceTests) || readFileSync(file, 'utf8').includes('support/postgres.')
  );
}

function testFilesUnder(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .sort()
    .map((name) => join(folder, name));
}
