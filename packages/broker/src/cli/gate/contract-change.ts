/**
 * The contract file of the branch beside that of the base: which producers are registered, which of them a change affects,
 * and whether a word about a breaking change is new. A word that the base already has excuses nothing.
 */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, posix, relative, sep } from 'node:path';
import {
  type Contract,
  defaultContract,
  type RegisteredProducer,
  readContract,
} from '@oncemq/toolkit';
import { patternForm } from '../verify/producer-modules.ts';
import type { BaseTree } from './base-tree.ts';

export class ContractChange {
  readonly contract: Contract;
  /** Undefined if the base has none that can be read, or if the file is not part of the repository. */
  readonly before: Contract | undefined;
  /** The file, from the root of the repository; undefined if there is none in it. */
  readonly file: string | undefined;
  /** The folder that paths in the file are relative to, from the root of the repository. */
  readonly folder: string;
  /** Rules for messages changed, so every producer is affected. */
  readonly areRulesChanged: boolean;

  constructor(
    root: string,
    path: string | undefined,
    changed: readonly string[],
    base: Pick<BaseTree, 'folder'>,
  ) {
    this.contract = path === undefined ? defaultContract : readContract(path);
    const inRoot = path === undefined ? undefined : relative(root, path).split(sep).join('/');
    const isInside = inRoot !== undefined && !inRoot.startsWith('../') && !isAbsolute(inRoot);
    this.file = isInside ? inRoot : undefined;
    this.folder = inRoot === undefined ? '' : dirname(inRoot).replace(/^\.$/, '');
    if (this.file === undefined || path === undefined) {
      this.before = path === undefined ? defaultContract : undefined;
      this.areRulesChanged = false;
    } else if (changed.includes(this.file)) {
      const old = join(base.folder, this.file);
      this.before = contractIn(old);
      this.areRulesChanged = rulesIn(old) !== rulesIn(path);
    } else {
      this.before = this.contract;
      this.areRulesChanged = schemaFiles(path, this.folder).some((file) => changed.includes(file));
    }
  }

  get producers(): readonly RegisteredProducer[] {
    return this.contract.producers;
  }

  /** The entry of the same name in the base. */
  earlier({ name }: RegisteredProducer): RegisteredProducer | undefined {
    return this.before?.producers.find((each) => each.name === name);
  }

  /** The producer that a file, named from the root, is a part of. */
  ownerOf(file: string): RegisteredProducer | undefined {
    return this.producers.find((producer) => this.owns(producer, file));
  }

  owns({ paths, input }: RegisteredProducer, file: string): boolean {
    const own = this.folder === '' ? file : relative(this.folder, file).split(sep).join('/');
    return [...paths, ...(input === undefined ? [] : [input])].some((path) => {
      const pattern = path.replace(/^\.\//, '').replace(/\/$/, '');
      return own === pattern || own.startsWith(`${pattern}/`) || patternForm(pattern).test(own);
    });
  }

  /** Registered producers that the changed files are a part of, or whose entry changed. */
  affected(changed: readonly string[]): RegisteredProducer[] {
    return this.producers.filter((producer) => {
      const { breaking: _, ...entry } = producer;
      const { breaking: __, ...earlier } = this.earlier(producer) ?? {};
      const isSame = JSON.stringify(entry) === JSON.stringify(earlier);
      return this.areRulesChanged || !isSame || changed.some((file) => this.owns(producer, file));
    });
  }

  /** Why a registered producer, or without one the modules, may send other messages than before. */
  breakingWord(producer?: RegisteredProducer): string | undefined {
    const now = (producer ?? this.contract).breaking;
    const before = (producer === undefined ? this.before : this.earlier(producer))?.breaking;
    return now === before ? undefined : now;
  }
}

function contractIn(file: string): Contract | undefined {
  try {
    return readContract(file);
  } catch {
    // Missing, or of an older form: everything in the new one counts as new.
    return undefined;
  }
}

/** The schemas that a contract file names, from the root of the repository. */
function schemaFiles(file: string, folder: string): string[] {
  const { queues = [], topics = [] } = JSON.parse(readFileSync(file, 'utf8')) as Partial<
    Record<'queues' | 'topics', readonly { readonly schema?: unknown }[]>
  >;
  return [...queues, ...topics].flatMap(({ schema }) =>
    typeof schema === 'string' ? [posix.join(folder, schema)] : [],
  );
}

/** What a contract file says about messages, as a text. */
function rulesIn(file: string): string {
  if (!existsSync(file)) return '{}';
  try {
    const { $schema, producers, breaking, ...rules } = JSON.parse(readFileSync(file, 'utf8'));
    return JSON.stringify(rules);
  } catch {
    return '';
  }
}
