/**
 * Compares what producers send with what they sent at the base, for samples that are still the same: a changed key or body
 * means that consumers no longer recognize a replay. A program runs twice, in the files of the base and in those of the
 * branch, with the input that both have in common.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CheckResult, type Finding, finding, type RegisteredProducer } from '@oncemq/toolkit';
import { UsageError } from '../usage.ts';
import type { Verified } from '../verify/report.ts';
import { bodiesOf } from '../verify/verify-program.ts';
import type { BaseTree } from './base-tree.ts';
import type { ContractChange } from './contract-change.ts';
import { changesOfRuns, changesOfSamples } from './message-changes.ts';
import { sampleMessages } from './sample-messages.ts';

export interface Compared {
  readonly root: string;
  readonly base: BaseTree;
  readonly contract: ContractChange;
  readonly secondsMax: number;
}

/** Producer modules of the branch that the base has, too. */
export function compareModules(files: readonly string[], compared: Compared): Verified[] {
  const { root, base, contract, secondsMax } = compared;
  const common = files.filter((file) => existsSync(join(base.folder, file)));
  const before = sampleMessages(common, base.folder, secondsMax);
  const after = sampleMessages(common, root, secondsMax);
  if (before === undefined || after === undefined) {
    return common.map((file) =>
      notCompared(file, file, 'the modules of the base cannot be loaded'),
    );
  }
  return before.flatMap(({ file, name, bodies }) => {
    const now = after.find((each) => each.file === file && each.name === name);
    // A producer that is gone sends nothing.
    if (now === undefined) return [];
    const checks = [
      unchanged(changesOfSamples(bodies, now.bodies), contract.breakingWord()),
      tests(fewer('different samples', bodies.size, now.bodies.size)),
    ];
    return [{ subject: `${file}: ${name}`, file, checks }];
  });
}

/** A registered program, if the base has it. */
export async function compareProgram(
  program: RegisteredProducer,
  { root, base, contract, secondsMax }: Compared,
): Promise<Verified[]> {
  const earlier = contract.earlier(program);
  if (earlier === undefined) return [];
  const inputs = [
    inputOf(earlier, join(base.folder, contract.folder)),
    inputOf(program, join(root, contract.folder)),
  ] as const;
  const file = contract.file === undefined ? {} : { file: contract.file };
  const lines = inputs.map((text) => linesOf(text).length);
  const kept = tests(fewer('lines of input', lines[0] ?? 0, lines[1] ?? 0));
  const common = commonInput(...inputs);
  const subject = `${program.name}: compared`;
  if (common === undefined) {
    const { checks } = notCompared(subject, subject, 'no sample of its input is still the same');
    return [{ subject, ...file, checks: [...checks, kept] }];
  }
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-input-'));
  try {
    const input = join(folder, 'input');
    writeFileSync(input, common);
    const run = (from: RegisteredProducer, tree: string): Promise<string[]> =>
      bodiesOf({ ...from, input, folder: join(tree, contract.folder) }, secondsMax);
    const before = await run(earlier, base.folder);
    const after = await run(program, root);
    const changes = unchanged(changesOfRuns(before, after), contract.breakingWord(program));
    return [{ subject, ...file, checks: [changes, kept] }];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { checks } = notCompared(subject, subject, 'it cannot be run as it was at the base');
    return [{ subject, ...file, checks: [...checks, kept] }];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function inputOf({ input }: RegisteredProducer, folder: string): string {
  const path = input === undefined ? undefined : join(folder, input);
  return path === undefined || !existsSync(path) ? '' : readFileSync(path, 'utf8');
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

/** The whole input, or those lines of JSON that both have; undefined if nothing is the same. */
function commonInput(before: string, after: string): string | undefined {
  if (before === after) return before;
  const isJsonLines = [...linesOf(before), ...linesOf(after)].every(isJson);
  const now = new Set(linesOf(after));
  const same = linesOf(before).filter((line) => now.has(line));
  return isJsonLines && same.length > 0 ? `${same.join('\n')}\n` : undefined;
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** A changed message is a finding, unless the contract file has a new word about it. */
function unchanged(changes: readonly Finding[], word: string | undefined): CheckResult {
  const isExcused = changes.length > 0 && word !== undefined;
  return {
    check: 'unchanged',
    title: isExcused
      ? `${changes.length} messages of the same samples change: ${word}`
      : 'messages of the same samples are those of the base',
    findings: isExcused ? [] : changes,
  };
}

function notCompared(subject: string, file: string, reason: string): Verified {
  const title = `not compared with the base: ${reason}`;
  return { subject, file, checks: [{ check: 'unchanged', title, findings: [] }] };
}

export function tests(what: string | undefined): CheckResult {
  return {
    check: 'tests',
    title: 'no test of the base is gone',
    findings: what === undefined ? [] : [finding('tests-deleted', { what })],
  };
}

function fewer(what: string, before: number, after: number): string | undefined {
  return after < before ? `${before} ${what} at the base, ${after} now` : undefined;
}
