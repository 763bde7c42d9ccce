/**
 * `npm run test:mutants [-- NAME…]`: shows that the tests can fail. Each mutant breaks the compiled engine in one named
 * way, in a copy of the build; the simulation and the engine's own tests must then fail. A mutant that survives, or
 * whose text is no longer found in the engine, fails this run.
 *
 * Cheapest first: the simulation with few commands, then the behaviour tests. Two mutants run at a time.
 */

import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { mutants, type Mutant } from './mutant-list.ts';

const build = resolve('packages/broker/dist');
const asked = process.argv.slice(2);
const waiting = mutants.filter(({ name }) => asked.length === 0 || asked.includes(name));
const total = waiting.length;
const survivors: string[] = [];

await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
const caught = total - survivors.length;
process.stdout.write(`\n${caught} of ${total} mutants caught\n`);
for (const survivor of survivors) process.stdout.write(`not caught: ${survivor}\n`);
process.stdout.write(`mutants: ${caught} passed, ${survivors.length} failed\n`);
process.exitCode = survivors.length === 0 && total > 0 ? 0 : 1;

async function work(): Promise<void> {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const killer = await killerOf(mutant);
    if (killer === undefined) survivors.push(mutant.name);
    process.stdout.write(`${killer === undefined ? 'SURVIVED' : 'caught  '} ${mutant.name}${killer === undefined ? '' : `  (${killer})`}\n`);
  }
}

/** Which part of the suite fails on the broken engine; undefined if none does. */
async function killerOf(mutant: Mutant): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-mutant-'));
  try {
    const copy = join(folder, 'dist');
    cpSync(build, copy, { recursive: true });
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'dir');
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    mutate(join(copy, 'src/core', mutant.file), mutant);
    const simulation = join(copy, 'test/simulation');
    if (await fails(testsIn(simulation), 20_000)) return 'simulation';
    if (await fails(testsIn(join(copy, 'test/core')), 0)) return 'behaviour tests';
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function mutate(file: string, { name, find, replace }: Mutant): void {
  const source = readFileSync(file, 'utf8');
  if (source.split(find).length !== 2) {
    throw new Error(`mutant ${name}: its text must stand in ${file} exactly once; mend scripts/mutant-list.ts`);
  }
  writeFileSync(file, source.replace(find, () => replace));
}

function testsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join(folder, file));
}

function fails(files: readonly string[], commands: number): Promise<boolean> {
  const env = { ...process.env, ONCEMQ_SIMULATION_COMMANDS: String(commands), NODE_TEST_CONTEXT: '' };
  const child = spawn(process.execPath, ['--test', ...files], { stdio: 'ignore', env });
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('exit', (code) => done(code !== 0));
  });
}
