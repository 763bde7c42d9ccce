/**
 * A journal in memory for real writers that work at the same time: transactions that lock owners, wait for them or pass over
 * them, and end with a commit, a refusal or an answer that is lost. Every step waits until the test lets it go on, so the
 * test decides how the writers' steps interleave.
 */

import assert from 'node:assert/strict';
import { Unavailable } from '../../../src/storage/backend.ts';
import {
  type Appended,
  type Begun,
  catalogNumber,
  type Journal,
  type JournalRow,
  type Known,
  type Loaded,
  type LockRequest,
} from '../../../src/storage/postgres/journal.ts';
import { NotCommitted } from '../../../src/storage/postgres/postgres-journal.ts';
import { type KeptOwner, SharedJournal } from './shared-journal.ts';

/** Records of one part, so few that most owners are loaded in parts. */
const partLength = 4;

export type Fault = 'none' | 'refused' | 'lost before' | 'lost after';

export interface Surroundings {
  now(): number;
  /** Resolves when the test lets this step go on. */
  turn(): Promise<void>;
  /** What becomes of the next commit. */
  fault(): Fault;
}

/**
 * How a transaction ended, and its place among all: where it read the catalog, since it may have found that something is not
 * there, which nobody can lock; or, if it changed the catalog, where it was committed, since nobody saw that before.
 */
export interface Ending {
  readonly order: number;
  readonly isCommitted: boolean;
}

export class ConcurrentJournal {
  readonly kept: SharedJournal = new SharedJournal();
  readonly around: Surroundings;
  readonly #holders: Map<number, NodeJournal> = new Map();
  #order = 0;

  constructor(around: Surroundings) {
    this.around = around;
  }

  /** Whether it is locked now, by whom asked or because it was free. */
  lock(number: number, node: NodeJournal): boolean {
    if (!this.kept.owners.has(number)) return false;
    const holder = this.#holders.get(number) ?? node;
    if (holder === node) this.#holders.set(number, node);
    return holder === node;
  }

  isLocked(number: number, node: NodeJournal): boolean {
    return this.#holders.get(number) === node;
  }

  /** Releases what the node holds. */
  release(node: NodeJournal): void {
    for (const [number, holder] of this.#holders) if (holder === node) this.#holders.delete(number);
  }

  nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }
}

export class NodeJournal implements Journal {
  readonly #journal: ConcurrentJournal;
  /** Of the latest transaction; undefined while it is under way. */
  ending: Ending | undefined;
  /** Its time. */
  now = 0;
  onBegin: () => void = () => {};
  #readAt = 0;

  constructor(journal: ConcurrentJournal) {
    this.#journal = journal;
  }

  async begin({ owners, catalog, waits }: LockRequest): Promise<Begun> {
    const { kept, around } = this.#journal;
    this.onBegin();
    this.ending = undefined;
    await around.turn();
    const numbers: number[] = [];
    for (const { number } of owners) {
      while (kept.owners.has(number) && !this.#journal.lock(number, this) && waits) {
        await around.turn();
      }
      if (this.#journal.lock(number, this)) numbers.push(number);
    }
    await around.turn();
    const locked = numbers.map((number) => {
      const { version, tail } = kept.owners.get(number) as KeptOwner;
      return { number, version, tail, time: 0, isGone: false, waitingUntil: 0 };
    });
    const { version, tail } = kept.owners.get(catalogNumber) as KeptOwner;
    this.#readAt = this.#journal.nextOrder();
    const rows = kept.rowsOf([{ number: catalogNumber, version: catalog }, ...owners]);
    this.now = around.now();
    return { locked, rows, catalog: { version, tail }, now: this.now };
  }

  async rowsOf(owners: readonly Known[]): Promise<readonly JournalRow[]> {
    await this.#journal.around.turn();
    return this.#journal.kept.rowsOf(owners);
  }

  async commit(appended: readonly Appended[]): Promise<void> {
    const { kept, around } = this.#journal;
    await around.turn();
    const fault = around.fault();
    const isCommitted = fault === 'none' || fault === 'lost after';
    if (isCommitted) {
      for (const { number, name, isNew } of appended) {
        const isOurs = isNew || this.#journal.isLocked(number, this);
        assert.ok(isOurs, `${name} was written without its lock`);
      }
      kept.appendRows(appended);
    }
    this.#journal.release(this);
    const changesCatalog = appended.some(({ number }) => number === catalogNumber);
    const order = changesCatalog ? this.#journal.nextOrder() : this.#readAt;
    this.ending = { order, isCommitted };
    await around.turn();
    if (fault === 'lost before' || fault === 'lost after') throw new Unavailable('nobody knows');
    if (fault === 'refused') throw new NotCommitted('others were first');
  }

  async rollback(): Promise<void> {
    this.#journal.release(this);
    this.ending ??= { order: this.#readAt, isCommitted: false };
    await this.#journal.around.turn();
  }

  /** It never refuses. */
  async tryAppend(): Promise<void> {}

  /** It never fails over to a standby. */
  async lost(): Promise<readonly Known[]> {
    return [];
  }

  async load(number: number): Promise<Loaded | undefined> {
    const { kept, around } = this.#journal;
    await around.turn();
    const loaded = kept.load(number);
    if (loaded === undefined) return undefined;
    const { records, state } = loaded;
    async function* parts(): AsyncGenerator<readonly Buffer[]> {
      for (let at = 0; at <= records.length; at += partLength) {
        await around.turn();
        yield records.slice(at, at + partLength);
      }
    }
    return { ...state, records: parts() };
  }
}
