/**
 * Verifies a program in any language by what it sends. It runs three times with the same input: first; again within the
 * window, in an environment that differs in everything that must not matter; and once after the window, in the first
 * environment. If what it sends depends on the environment, it runs once more with each difference alone, and the report
 * names those that changed something. If it does not, and its input is a list of events, it also gets generated ones, to
 * see whether two of them get one key. The gate also runs it once, to compare what it sends with what it sent before.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  ambiguousProgramKeys,
  bindingOf,
  type CheckResult,
  type Contract,
  type Finding,
  judgeRuns,
  type ObservedRun,
  type RegisteredProducer,
  sentDifference,
} from '@oncemq/toolkit';
import { deduplicationSecondsDefault } from '../../core/limits.ts';
import { UsageError } from '../usage.ts';
import {
  anotherProcess,
  type Difference,
  differences,
  Environments,
  environmentCheck,
  environmentFinding,
  fragile,
} from './environments.ts';
import { type InputEvents, inputEvents } from './input-events.ts';
import { reversedInput } from './reversed-input.ts';
import { runProgram } from './run-program.ts';
import type { WithBodies } from './shared-keys.ts';
import { type Observed, VerifyServer } from './verify-server.ts';

export interface ProgramUnderTest
  extends Pick<RegisteredProducer, 'name' | 'command' | 'queue' | 'topic' | 'input'> {
  /** Where the program runs; the input is relative to it. */
  readonly folder: string;
}

export interface ProgramRules {
  readonly contract: Contract;
  /** Seconds for a run. */
  readonly secondsMax: number;
}

/** Rejects with an error of exit code 2 if the program fails. */
export function verifyProgram(
  program: ProgramUnderTest,
  { contract, secondsMax }: ProgramRules,
): Promise<WithBodies> {
  const { name, queue, topic } = program;
  return withRuns(program, secondsMax, async (runs, server) => {
    const { first, replay } = await runs.runTwice();
    await server.advance(deduplicationSecondsDefault);
    const afterWindow = await runs.run([]);
    const isTopic = (target: string): boolean =>
      target === topic || first.get(target)?.isTopic === true;
    // Other queues and topics of the program count, too.
    const targets = new Set([queue ?? topic ?? '', ...first.keys(), ...replay.keys()]);
    const results = [...targets].map((target) => {
      const [a, b, c] = [first, replay, afterWindow].map((run) => run.get(target) ?? nothing);
      const judged = { first: a ?? nothing, replay: b ?? nothing, afterWindow: c ?? nothing };
      const prefix = targets.size === 1 ? '' : `${target}: `;
      const binding = bindingOf(isTopic(target) ? contract.topics : contract.queues, target);
      return judgeRuns(judged, { contract, binding }).map((result) => prefixed(result, prefix));
    });
    const environment = environmentCheck(
      await environmentFindings(runs, { first, replay, afterWindow }),
    );
    const escaping = environment.findings.length > 0 ? [] : await escapingChecks(runs);
    const checks = [...merged(results), ...escaping, environment];
    const bodies = [...first.values()].flatMap((run) => run.messages.map(({ body }) => body));
    return { subject: name, checks, notes: runs.notes, bodies };
  });
}

/** The bodies that the program sends to its queue or topic in one run. Rejects as `verifyProgram` does. */
export function bodiesOf(program: ProgramUnderTest, secondsMax: number): Promise<string[]> {
  return withRuns(program, secondsMax, async (runs) => {
    const observed = await runs.run([]);
    const { messages } = observed.get(program.queue ?? program.topic ?? '') ?? nothing;
    return messages.map(({ body }) => body);
  });
}

async function withRuns<T>(
  program: ProgramUnderTest,
  secondsMax: number,
  work: (runs: ProgramRuns, server: VerifyServer) => Promise<T>,
): Promise<T> {
  const { queue, topic } = program;
  const server = await VerifyServer.start();
  const runs = new ProgramRuns(program, server, secondsMax * 1000);
  try {
    runs.prepare({
      ...(queue === undefined ? {} : { QUEUE_URL: await server.createQueue(queue) }),
      ...(topic === undefined ? {} : { TOPIC_ARN: await server.createTopic(topic) }),
    });
    return await work(runs, server);
  } finally {
    runs.close();
    await server.close();
  }
}

const nothing: ObservedRun = { messages: [], duplicates: [] };

/** The runs of one program, each in an environment of its own. */
class ProgramRuns {
  readonly notes: string[] = [];
  readonly #program: ProgramUnderTest;
  readonly #server: VerifyServer;
  readonly #msMax: number;
  readonly #environments: Environments;
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'oncemq-verify-'));
  #variables: Readonly<Record<string, string>> = {};
  #reversed: string | undefined;
  #left: readonly Difference[] = [];

  constructor(program: ProgramUnderTest, server: VerifyServer, msMax: number) {
    this.#program = program;
    this.#server = server;
    this.#msMax = msMax;
    this.#environments = new Environments(program.folder, 'programs');
  }

  prepare(variables: Readonly<Record<string, string>>): void {
    this.notes.push(...this.#environments.programNotes());
    // Removes the caller's own AWS settings: nothing may be sent to Amazon.
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_'));
    this.#variables = {
      ...(Object.fromEntries(own) as Record<string, string>),
      AWS_ENDPOINT_URL: this.#server.url,
      AWS_REGION: 'us-east-1',
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_EC2_METADATA_DISABLED: 'true',
      ...variables,
    };
    const input = this.#input;
    if (input === undefined) return;
    if (!existsSync(input)) throw new UsageError(`There is no file ${this.#program.input}.`);
    const reversed = reversedInput(readFileSync(input, 'utf8'));
    if (reversed === undefined) return;
    this.#reversed = join(this.#folder, 'input');
    writeFileSync(this.#reversed, reversed);
  }

  /** The differences that the runs have. */
  get differences(): Difference[] {
    return differences.filter(
      (name) =>
        !this.#left.includes(name) &&
        (name !== 'another order of members' || this.#reversed !== undefined),
    );
  }

  async run(named: readonly Difference[]): Promise<Observed> {
    const failure = await this.#try(named);
    if (failure !== undefined) throw new UsageError(`The program failed: ${failure}`);
    return this.#server.observe();
  }

  /**
   * Runs it as it is and then with all differences. If it fails with them, both are repeated without those that a program
   * need not survive and that it does not survive; the failed attempts may have sent something, and so are left behind.
   */
  async runTwice(): Promise<Record<'first' | 'replay', Observed>> {
    const first = await this.run([]);
    if ((await this.#try(this.differences)) === undefined) {
      return { first, replay: this.#server.observe() };
    }
    const failing: Difference[] = [];
    for (const name of fragile) {
      if ((await this.#try([name])) !== undefined) failing.push(name);
    }
    this.#left = failing;
    const areEnough = failing.length > 0 && (await this.#try(this.differences)) === undefined;
    // Some fail only together.
    if (!areEnough) this.#left = fragile;
    this.notes.push(`Not varied, because the program then fails: ${this.#left.join(', ')}.`);
    return { first: await this.runAgain(), replay: await this.run(this.differences) };
  }

  /** The events of the input; undefined if there are none that can be read. */
  get events(): InputEvents | undefined {
    const input = this.#input;
    return input === undefined ? undefined : inputEvents(readFileSync(input, 'utf8'));
  }

  /** The bodies that it sends for another input, in order; undefined if it fails. */
  async bodiesFor(input: string): Promise<readonly string[] | undefined> {
    await this.#startOver();
    const inputFile = join(this.#folder, 'generated');
    writeFileSync(inputFile, input);
    const failure = await this.#try([], inputFile);
    const { queue, topic } = this.#program;
    const { bodies = [] } = this.#server.observe().get(queue ?? topic ?? '') ?? {};
    return failure === undefined ? bodies : undefined;
  }

  /** Runs it with one difference, after the window of the runs before. */
  async runWith(name: Difference): Promise<Observed> {
    await this.#startOver();
    return this.run([name]);
  }

  close(): void {
    this.#environments.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #input(): string | undefined {
    const { input, folder } = this.#program;
    return input === undefined ? undefined : resolve(folder, input);
  }

  /** Runs it as it was run first, after the window of the runs before. */
  async runAgain(): Promise<Observed> {
    await this.#startOver();
    return this.run([]);
  }

  /** Leaves the window of what was sent so far, and forgets it. */
  async #startOver(): Promise<void> {
    await this.#server.advance(deduplicationSecondsDefault);
    this.#server.observe();
  }

  #try(named: readonly Difference[], given?: string): Promise<string | undefined> {
    const environment = this.#environments.with(this.#variables, named);
    const { command } = this.#program;
    const own = environment.areMembersReversed ? this.#reversed : this.#input;
    const inputFile = given ?? own;
    return runProgram({ command, environment, inputFile, msMax: this.#msMax });
  }
}

/** The check whose title producer modules have, too; none where it could not be made, which a note tells. */
async function escapingChecks(runs: ProgramRuns): Promise<CheckResult[]> {
  const { events } = runs;
  const result =
    events === undefined
      ? { untried: 'its input is not a list of JSON objects' }
      : await ambiguousProgramKeys(events.events, (some) => runs.bodiesFor(events.write(some)));
  if ('findings' in result) {
    const title =
      'no two events get the same key because characters shift from one value into the next';
    return [{ check: 'escaping', title, findings: result.findings }];
  }
  runs.notes.push(`Keys were not compared with those of similar events: ${result.untried}.`);
  return [];
}

async function environmentFindings(
  runs: ProgramRuns,
  { first, replay, afterWindow }: Readonly<Record<'first' | 'replay' | 'afterWindow', Observed>>,
): Promise<Finding[]> {
  const changed = differenceOf(first, replay);
  const ofProcess = differenceOf(first, afterWindow);
  if (ofProcess !== undefined) return [environmentFinding(anotherProcess, ofProcess)];
  if (changed === undefined) return [];
  const findings: Finding[] = [];
  for (const name of runs.differences) {
    const change = differenceOf(first, await runs.runWith(name));
    if (change !== undefined) findings.push(environmentFinding(name, change));
  }
  if (findings.length === 0) return [environmentFinding('a combination of differences', changed)];
  // Meanwhile a minute or a day may have begun, which then looks like the work of every difference.
  const meanwhile = differenceOf(first, await runs.runAgain());
  return meanwhile === undefined ? findings : [environmentFinding(anotherProcess, meanwhile)];
}

function differenceOf(first: Observed, second: Observed): string | undefined {
  for (const [target, run] of second) {
    const change = sentDifference(first.get(target) ?? nothing, run);
    if (change !== undefined) return change;
  }
  return undefined;
}

function prefixed({ findings, ...rest }: CheckResult, prefix: string): CheckResult {
  return {
    ...rest,
    findings: findings.map((each) => ({ ...each, text: `${prefix}${each.text}` })),
  };
}

/** The checks of several queues, as one list. */
function merged(results: readonly (readonly CheckResult[])[]): CheckResult[] {
  const all = new Map<string, CheckResult>();
  for (const result of results.flat()) {
    const before = all.get(result.check)?.findings ?? [];
    all.set(result.check, { ...result, findings: [...before, ...result.findings] });
  }
  return [...all.values()];
}
