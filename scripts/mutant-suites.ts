/**
 * Which tests must notice a mutant, by the room that it breaks; the first suite that fails has caught it. The tests of
 * conformance come first, on the store that the mutant concerns, since they catch most in seconds. A rule that is broken is
 * broken on every backend, so for the engine memory is enough.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutant-list.ts';

export interface Suite {
  /** Below packages/broker/test. */
  readonly folder: string;
  /** Parts of paths that are left out. */
  readonly without?: readonly string[];
  /** Its files take flags, and print a seed. */
  readonly isSeeded?: boolean;
  /** All its files run in one process: to start one for each takes far longer than their tests. */
  readonly isTogether?: boolean;
  /** The titles of the tests that run. */
  readonly pattern?: string;
}

const onMemory: Suite = { folder: 'conformance', isTogether: true, pattern: '[(]memory[)]$' };
const onLmdb: Suite = { folder: 'conformance', isTogether: true, pattern: '[(]lmdb[)]$' };

const engineSuites: readonly Suite[] = [
  onMemory,
  { folder: 'core', isTogether: true },
  { folder: 'simulation', isSeeded: true },
];
const memorySuites: readonly Suite[] = [onMemory, { folder: 'storage/memory' }];
const postgresSuites: readonly Suite[] = [{ folder: 'storage/postgres' }];
/** A mutant of this process's stores breaks nothing in PostgreSQL's. */
const withoutPostgres = '^(?!.*[(]postgres[)]$)';
const storeSuites: readonly Suite[] = [
  onLmdb,
  { folder: 'storage', without: [join('storage', 'postgres')], pattern: withoutPostgres },
  { folder: 'crash', without: ['nodes.test'] },
];

/** The first that fits. */
const rooms: readonly (readonly [string, readonly Suite[]])[] = [
  ['storage/memory/', memorySuites],
  ['storage/postgres/', postgresSuites],
  ['storage/', storeSuites],
  ['core/', engineSuites],
];

export function suitesOf({ file, suite }: Mutant): readonly Suite[] {
  const suites = rooms.find(([room]) => file.startsWith(room))?.[1] ?? [];
  return suite === undefined ? suites : suites.filter(({ folder }) => folder === suite);
}

/** The compiled test files of the suite, in this build's folder of tests. */
export function filesOf({ folder, without = [] }: Suite, tests: string): string[] {
  const root = join(tests, folder);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join(root, file))
    .filter((file) => !without.some((part) => file.slice(tests.length).includes(part)));
}
