/**
 * `npm run test:mutants [-- NAME…]`: shows that the tests can fail. Each mutant breaks the compiled engine or store in one
 * named way, in a copy of the build; the tests of that room (mutant-suites.ts) must then fail. A mutant that survives, or
 * whose text is no longer found, fails this run. Two mutants run at a time.
 *
 * A suite that takes far longer than on the unbroken build counts as hanging, and so as failing; it is reported as such.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Mutant, mutants } from './mutant-list.ts';
import { filesOf, type Suite, suitesOf } from './mutant-suites.ts';
import { startTestDatabase } from './test-database.ts';

const commandsPerFile = 20_000;
/** Of how long a suite takes on the unbroken build, and for a suite that takes next to nothing. */
const hangFactor = 5;
const hangMsMin = 60_000;
const build = resolve('packages/broker/dist');
/** What the tests and the server look for beside the build. */
const linked = [
  'node_modules',
  '.build',
  'packages/broker/migrations',
  'packages/broker/package.json',
];
const asked = process.argv.slice(2);
const waiting = mutants.filter(({ name }) => asked.length === 0 || asked.includes(name));
const total = waiting.length;
const survivors: string[] = [];
const msMax: Map<Suite, number> = new Map();

// The tests must pass on the unbroken build, or catching a mutant would mean nothing.
const stopDatabase = await startTestDatabase();
const failing = await killerOf(undefined, [...new Set(waiting.flatMap(suitesOf))]);
if (failing !== undefined) throw new Error(`the ${failing} tests fail on the unbroken build`);
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
stopDatabase();
const caught = total - survivors.length;
process.stdout.write(`\n${caught} of ${total} mutants caught\n`);
for (const survivor of survivors) process.stdout.write(`not caught: ${survivor}\n`);
process.stdout.write(`mutants: ${caught} passed, ${survivors.length} failed\n`);
process.exitCode = survivors.length === 0 && total > 0 ? 0 : 1;

async function work(): Promise<void> {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const killer = await killerOf(mutant, suitesOf(mutant));
    if (killer === undefined) survivors.push(mutant.name);
    process.stdout.write(
      `${killer === undefined ? 'SURVIVED' : 'caught  '} ${mutant.name}${killer === undefined ? '' : `  (${killer})`}\n`,
    );
  }
}

/** The first suite that fails on the build with the mutant (or without one); undefined if none does. */
async function killerOf(
  mutant: Mutant | undefined,
  suites: readonly Suite[],
): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-mutant-'));
  try {
    const copy = join(folder, 'packages', 'broker', 'dist');
    cpSync(build, copy, { recursive: true });
    // Tests start programs of the repository, by their path from here.
    for (const name of linked) symlinkSync(resolve(name), join(folder, name));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    if (mutant !== undefined) mutate(join(copy, 'src', mutant.file), mutant);
    for (const suite of suites) {
      const files = filesOf(suite, join(copy, 'test'));
      const begunAt = performance.now();
      const onFailure = (title: string): void => {
        if (mutant === undefined) process.stderr.write(`fails: ${title}\n`);
      };
      const verdict = await verdictOf(runsOf(suite, files), msMax.get(suite), onFailure);
      if (verdict !== 'pass') return verdict === 'hang' ? `${suite.folder}, hanging` : suite.folder;
      if (mutant !== undefined) continue;
      const ms = performance.now() - begunAt;
      msMax.set(suite, Math.max(Math.ceil(hangFactor * ms), hangMsMin));
      const seconds = Math.ceil(ms / 1000);
      process.stdout.write(`unbroken, ${suite.folder} passes in ${seconds} s\n`);
    }
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function mutate(file: string, { name, find, replace }: Mutant): void {
  const source = readFileSync(file, 'utf8');
  if (source.split(find).length !== 2) {
    throw new Error(
      `mutant ${name}: its text must occur in ${file} exactly once; fix scripts/mutant-list.ts`,
    );
  }
  writeFileSync(
    file,
    source.replace(find, () => replace),
  );
}

function runsOf({ isSeeded, isTogether, pattern }: Suite, files: readonly string[]): string[][] {
  // One process per file, since node's test runner does not pass flags on to the file.
  if (isSeeded === true) return files.map((file) => [file, '--commands', String(commandsPerFile)]);
  const options = pattern === undefined ? [] : [`--test-name-pattern=${pattern}`];
  if (isTogether !== true) return [['--test', ...options, ...files]];
  const imports = files.map((file) => `await import(${JSON.stringify(pathToFileURL(file))});`);
  return [[...options, '--input-type=module', '--eval', imports.join('\n')]];
}

type Verdict = 'pass' | 'fail' | 'hang';

async function verdictOf(
  runs: readonly (readonly string[])[],
  ms: number | undefined,
  onFailure: (title: string) => void,
): Promise<Verdict> {
  const signal = ms === undefined ? undefined : AbortSignal.timeout(ms);
  for (const args of runs) {
    const verdict = await runOf(args, signal, onFailure);
    if (verdict !== 'pass') return verdict;
  }
  return 'pass';
}

/** The first failure is enough: the tests that are still running are ended. */
async function runOf(
  args: readonly string[],
  signal: AbortSignal | undefined,
  onFailure: (title: string) => void,
): Promise<Verdict> {
  // In a group of its own: what the tests have started ends with them.
  const child = spawn(process.execPath, ['--test-reporter=tap', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const end = (): void => {
    if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGKILL');
  };
  signal?.addEventListener('abort', end, { once: true });
  child.stdout.setEncoding('utf8');
  let rest = '';
  let hasFailed = false;
  child.stdout.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() as string;
    const failed = lines.find((line) => /^\s*not ok /.test(line));
    if (failed === undefined || hasFailed) return;
    hasFailed = true;
    onFailure(failed.trim());
    end();
  });
  const [code] = await once(child, 'exit');
  signal?.removeEventListener('abort', end);
  if (code === 0) return 'pass';
  return signal?.aborted === true && !hasFailed ? 'hang' : 'fail';
}
