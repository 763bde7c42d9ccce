/**
 * Producers that lost their tests: a test file of theirs was deleted and none is left, or they are no longer registered
 * although their files still exist. A test belongs to a producer that it imports, that is named like it, or whose paths it
 * is in.
 */

import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { finding } from '@oncemq/toolkit';
import { producerForm } from '../verify/producer-modules.ts';
import type { Verified } from '../verify/report.ts';
import { localImports } from './affected-producers.ts';
import type { BaseTree } from './base-tree.ts';
import { tests } from './compare-with-base.ts';
import type { ContractChange } from './contract-change.ts';
import { isTest } from './scan/find-senders.ts';

export interface Tree {
  readonly root: string;
  /** All files of the branch. */
  readonly files: readonly string[];
  readonly changed: readonly string[];
}

export function deletedTests(
  { root, files, changed }: Tree,
  base: BaseTree,
  contract: ContractChange,
): Verified[] {
  const isThere = (file: string): boolean => existsSync(join(root, file));
  const left = files.filter((file) => isTest(file) && isThere(file));
  const gone = changed.filter((file) => isTest(file) && !isThere(file) && !isMoved(file, left));
  if (gone.length === 0) return [];
  const known = new Set([...files, ...changed]);
  const belongs = (folder: string, test: string, file: string): boolean =>
    stemOf(test) === stemOf(file) || localImports(folder, test, known).includes(file);
  const ofModules = files
    .filter((file) => producerForm.test(file) && isThere(file))
    .flatMap((file) => {
      if (left.some((test) => belongs(root, test, file))) return [];
      const lost = gone.filter((test) => belongs(base.folder, test, file));
      return lost.length === 0 ? [] : [{ subject: file, file, checks: [tests(deleted(lost))] }];
    });
  const ofPrograms = contract.producers.flatMap((producer) => {
    const own = files.filter((file) => contract.owns(producer, file) && isThere(file));
    const tested = (test: string): boolean =>
      contract.owns(producer, test) || own.some((file) => stemOf(test) === stemOf(file));
    const lost = gone.filter(tested);
    if (lost.length === 0 || left.some(tested)) return [];
    const file = contract.file === undefined ? {} : { file: contract.file };
    return [{ subject: producer.name, ...file, checks: [tests(deleted(lost))] }];
  });
  return [...ofModules, ...ofPrograms];
}

/** Producers that the base registers and the branch does not, although files of theirs still exist. */
export function unregistered({ root, files }: Tree, contract: ContractChange): Verified[] {
  const names = new Set(contract.producers.map(({ name }) => name));
  const lost = (contract.before?.producers ?? []).filter(({ name }) => !names.has(name));
  return lost.flatMap((producer) => {
    const own = files.filter(
      (file) => contract.owns(producer, file) && existsSync(join(root, file)),
    );
    // Renamed, or taken over by another entry.
    if (own.length === 0 || own.every((file) => contract.ownerOf(file) !== undefined)) return [];
    const findings = [finding('producer-unregistered', { name: producer.name })];
    const title = 'every producer of the base is still registered';
    const file = contract.file === undefined ? {} : { file: contract.file };
    return [
      { subject: producer.name, ...file, checks: [{ check: 'registered', title, findings }] },
    ];
  });
}

function deleted(files: readonly string[]): string {
  return `${files.join(', ')} ${files.length === 1 ? 'was' : 'were'} deleted, and no other is left`;
}

function isMoved(file: string, left: readonly string[]): boolean {
  return left.some((other) => posix.basename(other) === posix.basename(file));
}

/** `test_orders.py`, `orders_test.go`, `OrdersTest.java` and `orders.producer.test.ts` are tests of `orders`. */
function stemOf(file: string): string {
  const name = posix.basename(file).replace(/\.[^.]*$/, '');
  return name
    .replace(/[._-](?:test|spec)$|^test[._-]|(?:Tests?|IT|Spec)$/, '')
    .replace(/\.producer$/, '')
    .toLowerCase();
}
