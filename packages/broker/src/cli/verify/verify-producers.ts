/**
 * Verifies producer modules in two processes: one runs the compliance tests, the other builds the same messages in an
 * environment that differs in everything that must not matter. Where the two differ, the modules concerned are built
 * again with each difference alone, and the report names those that changed something.
 */

import { resolve } from 'node:path';
import { builtDifference, type Finding } from '@oncemq/toolkit';
import {
  anotherProcess,
  type Difference,
  differences,
  type Environment,
  Environments,
  environmentCheck,
  environmentFinding,
} from './environments.ts';
import { type ModuleProcess, verifyInProcess } from './module-process.ts';
import type { WithBodies } from './shared-keys.ts';
import type { VerifiedProducer } from './verify-modules.ts';

/** Processes that look for the difference to blame, at the same time. */
const processesMax = 2;

/** Rejects with an error of exit code 2 if a module takes longer than this to load or to be tested. */
export async function verifyProducers(
  files: readonly string[],
  secondsMax: number,
  contractFile: string | undefined,
): Promise<WithBodies[]> {
  if (files.length === 0) return [];
  const environments = new Environments(process.cwd(), 'modules');
  const own = process.env as Record<string, string>;
  const inProcess = (
    task: ModuleProcess['task'],
    named: readonly Difference[],
    only: readonly string[],
  ): Promise<VerifiedProducer[]> => {
    const environment: Environment = environments.with(own, named);
    return verifyInProcess({ task, files: only, environment, contractFile, secondsMax });
  };
  // Where the working directory differs, only absolute paths lead to the modules.
  const build: Build = (named, only) =>
    inProcess(
      'build',
      named,
      only.map((file) => resolve(file)),
    );
  try {
    // One after the other: a module that never ends is killed once.
    const all = await inProcess('check', [], files);
    const elsewhere = await build(differences, files);
    const found = await blamed(all, elsewhere, build);
    const notes = environments.folderNotes();
    return all.map((each) => reported(each, found.get(idOf(each)) ?? [], notes));
  } finally {
    environments.close();
  }
}

type Build = (
  named: readonly Difference[],
  files: readonly string[],
) => Promise<readonly VerifiedProducer[]>;

/** The findings about the environment, by producer. */
async function blamed(
  all: readonly VerifiedProducer[],
  elsewhere: readonly VerifiedProducer[],
  build: Build,
): Promise<Map<string, Finding[]>> {
  const found = new Map<string, Finding[]>();
  const add = (id: string, what: string, change: string): void => {
    found.set(id, [...(found.get(id) ?? []), environmentFinding(what, change)]);
  };
  const changes = changesIn(all, elsewhere);
  if (changes.size === 0) return found;
  const suspects = all.filter((each) => changes.has(idOf(each)));
  const filesOf = (some: readonly VerifiedProducer[]): string[] => [
    ...new Set(some.map(({ file }) => file)),
  ];
  const again = changesIn(suspects, await build([], filesOf(suspects)));
  for (const [id, change] of again) add(id, anotherProcess, change);
  const rest = suspects.filter((each) => !again.has(idOf(each)));
  for (let at = 0; at < differences.length && rest.length > 0; at += processesMax) {
    const some = differences.slice(at, at + processesMax);
    const built = await Promise.all(some.map((name) => build([name], filesOf(rest))));
    for (const [index, name] of some.entries()) {
      for (const [id, change] of changesIn(rest, built[index] ?? [])) add(id, name, change);
    }
  }
  // Meanwhile a minute or a day may have begun, which then looks like the work of every difference.
  const meanwhile =
    rest.length === 0 ? new Map<string, string>() : changesIn(rest, await build([], filesOf(rest)));
  for (const [id, change] of meanwhile) found.set(id, [environmentFinding(anotherProcess, change)]);
  for (const each of rest) {
    const id = idOf(each);
    if (!found.has(id)) add(id, 'a combination of differences', changes.get(id) as string);
  }
  return found;
}

/** How each producer's messages differ from those that another process built, where they do. */
function changesIn(
  all: readonly VerifiedProducer[],
  others: readonly VerifiedProducer[],
): Map<string, string> {
  const byId = new Map(others.map((each) => [idOf(each), each]));
  const changes = new Map<string, string>();
  for (const each of all) {
    if (each.built === undefined) continue;
    const other = byId.get(idOf(each))?.built;
    const change =
      other === undefined
        ? `what the module exports: ${reasonOf(others, each.file)}`
        : builtDifference(each.built, other);
    if (change !== undefined) changes.set(idOf(each), change);
  }
  return changes;
}

function reasonOf(others: readonly VerifiedProducer[], file: string): string {
  const same = others.filter((each) => resolve(each.file) === resolve(file));
  const [reason] = same.flatMap(({ checks }) => checks.flatMap(({ findings }) => findings));
  return reason?.text ?? 'the producer is missing';
}

function idOf({ file, subject }: VerifiedProducer): string {
  return `${resolve(file)} ${subject}`;
}

function reported(
  { built, ...verified }: VerifiedProducer,
  findings: readonly Finding[],
  notes: readonly string[],
): WithBodies {
  if (built === undefined || built.length === 0) return { ...verified, bodies: [] };
  const checks = [...verified.checks, environmentCheck(findings)];
  return { ...verified, checks, notes, bodies: built.flatMap(({ body }) => body ?? []) };
}
