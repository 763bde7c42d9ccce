/**
 * `npm run test:mutants [-- NAME…]`: shows that the tests can fail. Each mutant breaks the compiled engine or store in one
 * named way, in a copy of the build; the tests of that part must then fail. A mutant that survives, or whose text is no
 * longer found, fails this run.
 *
 * For the engine, the simulation runs first, with few commands, since it catches most mutants in a second or two; then the
 * behavior tests. For the store, its own tests run first, then the crash tests. Two mutants run at a time.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Mutant, mutants } from './mutant-list.ts';

const engineSuites = [
  { folder: 'simulation', isSeeded: true },
  { folder: 'core', isSeeded: false },
  { folder: 'core/topic', isSeeded: false },
];
const storeSuites = [
  { folder: 'storage', isSeeded: false },
  { folder: 'crash', isSeeded: false },
];
const commandsPerFile = 20_000;
const testMsMax = 180_000;
const build = resolve('packages/broker/dist');
const asked = process.argv.slice(2);
const waiting = mutants.filter(({ name }) => asked.length === 0 || asked.includes(name));
const total = waiting.length;
const survivors: string[] = [];

// The tests must pass on the unbroken build, or catching a mutant would mean nothing.
const failing = await killerOf(undefined, [...engineSuites, ...storeSuites]);
if (failing !== undefined) throw new Error(`the ${failing} tests fail on the unbroken build`);
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
const caught = total - survivors.length;
process.stdout.write(`\n${caught} of ${total} mutants caught\n`);
for (const survivor of survivors) process.stdout.write(`not caught: ${survivor}\n`);
process.stdout.write(`mutants: ${caught} passed, ${survivors.length} failed\n`);
process.exitCode = survivors.length === 0 && total > 0 ? 0 : 1;

async function work(): Promise<void> {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const isOfStore = mutant.file.startsWith('storage/');
    const killer = await killerOf(mutant, isOfStore ? storeSuites : engineSuites);
    if (killer === undefined) survivors.push(mutant.name);
    process.stdout.write(
      `${killer === undefined ? 'SURVIVED' : 'caught  '} ${mutant.name}${killer === undefined ? '' : `  (${killer})`}\n`,
    );
  }
}

/** The first suite that fails on the build with the mutant (or without one); undefined if none does. */
async function killerOf(
  mutant: Mutant | undefined,
  suites: readonly { readonly folder: string; readonly isSeeded: boolean }[],
): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-mutant-'));
  try {
    const copy = join(folder, 'dist');
    cpSync(build, copy, { recursive: true });
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'dir');
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    if (mutant !== undefined) mutate(join(copy, 'src', mutant.file), mutant);
    for (const suite of suites) {
      if (mutant?.suite !== undefined && mutant.suite !== suite.folder) continue;
      const files = testsIn(join(copy, 'test', suite.folder));
      if (await fails(suite.isSeeded ? seeded(files) : [['--test', ...files]])) return suite.folder;
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

function testsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join(folder, file));
}

/** One process per file, since node's test runner does not pass flags on to the file. */
function seeded(files: readonly string[]): string[][] {
  return files.map((file) => [file, '--commands', String(commandsPerFile)]);
}

async function fails(runs: readonly (readonly string[])[]): Promise<boolean> {
  for (const args of runs) {
    // A test that hangs has caught the mutant too.
    const child = spawn(process.execPath, args, { stdio: 'ignore', timeout: testMsMax });
    const [code] = await once(child, 'exit');
    if (code !== 0) return true;
  }
  return false;
}
