/**
 * Random tests that can be repeated: takes the seed from the command line or makes one up, prints it at the start, and
 * turns a failure into a text with the shortest case found and the one command that repeats it.
 */

import type { TestContext } from 'node:test';
import { parseArgs } from 'node:util';
import fc from 'fast-check';

export interface SeededRun {
  readonly seed: number;
  /** Leads fast-check straight to a shrunk case; from an earlier failure's text. */
  readonly path: string | undefined;
  /** How many commands to run in all. */
  readonly commands: number | undefined;
}

/** `--seed`, `--path` and `--commands` of this process; a new seed if none is given. */
export function seededRun(): SeededRun {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      path: { type: 'string' },
      commands: { type: 'string' },
    },
    strict: false,
  });
  const numberOf = (text: unknown) => (typeof text === 'string' ? Number(text) : undefined);
  return {
    seed: numberOf(values['seed']) ?? Math.floor(Math.random() * 0x7fff_ffff),
    path: typeof values['path'] === 'string' ? values['path'] : undefined,
    commands: numberOf(values['commands']),
  };
}

export interface SeededCheck<T> {
  readonly test: TestContext;
  /** The command that repeats a run, without its flags. */
  readonly command: string;
  readonly arbitrary: fc.Arbitrary<T>;
  /** Tries one case; throws if it fails, else returns how many commands it ran. */
  readonly attempt: (value: T) => number;
  /** The shortest failing case, for people. */
  readonly describe: (value: T) => string;
  /** How many commands to run when the command line does not say. */
  readonly commands: number;
}

const casesPerSeed = 50;

/** Runs cases until enough commands were tried, fifty a seed, then the next seed. */
export function checkSeeded<T>(check: SeededCheck<T>): void {
  const run = seededRun();
  const enough = run.commands ?? check.commands;
  // Not as a diagnostic, which the runner shows only at the end: a crash must not take the seed with it.
  console.log(`seed ${run.seed}: ${check.test.name}`);
  let done = 0;
  for (let seed = run.seed; done < enough; seed += 1) {
    const property = fc.property(check.arbitrary, (value) => {
      done += check.attempt(value);
    });
    const options = run.path === undefined ? {} : { path: run.path };
    const details = fc.check(property, { seed, numRuns: casesPerSeed, ...options });
    if (details.failed) throw new Error(failureText(check, details));
    if (run.path !== undefined) break;
  }
  check.test.diagnostic(`${done} commands`);
}

function failureText<T>(check: SeededCheck<T>, details: fc.RunDetails<[T]>): string {
  const { seed, counterexample, counterexamplePath, errorInstance } = details;
  const error = errorInstance instanceof Error ? errorInstance : undefined;
  const places = error?.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return [
    error?.message ?? String(errorInstance),
    `Again: ${check.command} --seed ${seed} --path ${counterexamplePath}`,
    counterexample === null ? '' : check.describe(counterexample[0]),
    ...places,
  ].join('\n');
}
