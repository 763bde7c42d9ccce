/**
 * What one node holds in memory: an engine, and how far it knows each owner's journal. All nodes know the whole catalog;
 * of an owner that a node does not use it has the settings and nothing else.
 *
 * Modes of an owner here:
 *
 *   settings   its settings follow the catalog; contents are not here.
 *   loading    its records are being read; settings follow the catalog still, since others may ask for them.
 *   loaded     its state is that of a version of its own journal, settings included. Settings are never taken from the
 *              catalog then, since its own earlier rows may depend on those it had; the catalog only tells how far it
 *              must be caught up (`lagging`).
 *
 * Synchronous, like the engine: what is read and when it is kept is the writer's business.
 */

import { type Change, catalog, isSetting, type OwnerId, ownerOf } from '../../core/changes.ts';
import type { Command } from '../../core/commands.ts';
import { type Applied, Drifted, type Engine } from '../../core/engine.ts';
import type { Context } from '../../core/transaction.ts';
import { ByteReader } from '../records/bytes.ts';
import { readChanges } from './change-codec.ts';
import { catalogNumber, type JournalRow, type Known, type LoadedState } from './journal.ts';
import { type CatalogEntry, latestFormat, readCatalogRow, readRow } from './journal-row.ts';

/** Owners that one batch can create: numbers are made from the catalog's version and these. */
export const createdPerBatchMax = 4096;

export interface ReplicaOwner extends Known {
  readonly name: OwnerId;
  readonly number: number;
  version: number;
  /** The id of the row of this version. */
  tail: number;
  mode: 'settings' | 'loading' | 'loaded';
  /** What the catalog says of later versions of it. */
  ahead: readonly CatalogEntry[];
  /** When a command touched it last, in real time. */
  usedAt: number;
}

/** What the commands of a batch have changed in one owner. */
export interface Pending {
  readonly owner: ReplicaOwner;
  readonly changes: Change[];
  readonly isNew: boolean;
  isGone: boolean;
}

/** What commands have changed, by owner, and the settings among it for the catalog. */
export interface Taken {
  readonly pending: readonly Pending[];
  readonly entries: readonly CatalogEntry[];
}

export class Replica {
  readonly #newEngine: () => Engine;
  readonly #onAbsorbed: (changes: readonly Change[]) => void;
  readonly #reads: number;
  #engine: Engine;
  #owners: Map<OwnerId, ReplicaOwner> = new Map();
  #byNumber: Map<number, ReplicaOwner> = new Map();
  #catalogVersion = 0;
  #catalogTail = 0;
  #lagging: Set<ReplicaOwner> = new Set();
  #pending: Map<number, Pending> = new Map();
  #entries: CatalogEntry[] = [];
  /** Names whose owner this batch has removed: whatever comes next with such a name has to wait for the next batch. */
  #removed: Set<OwnerId> = new Set();
  #created = 0;

  constructor(
    newEngine: () => Engine,
    onAbsorbed: (changes: readonly Change[]) => void = () => {},
    reads: number = latestFormat,
  ) {
    this.#newEngine = newEngine;
    this.#onAbsorbed = onAbsorbed;
    this.#reads = reads;
    this.#engine = newEngine();
  }

  get engine(): Engine {
    return this.#engine;
  }

  get catalog(): { readonly version: number; readonly tail: number } {
    return { version: this.#catalogVersion, tail: this.#catalogTail };
  }

  get(owner: OwnerId): ReplicaOwner | undefined {
    return this.#owners.get(owner);
  }

  byNumber(number: number): ReplicaOwner | undefined {
    return this.#byNumber.get(number);
  }

  all(): Iterable<ReplicaOwner> {
    return this.#owners.values();
  }

  /** Loaded owners whose settings are older than the catalog's: to be caught up before anything is applied. */
  get lagging(): readonly ReplicaOwner[] {
    return [...this.#lagging];
  }

  /** Whether the batch has removed the owner of this name. */
  hasRemoved(owner: OwnerId): boolean {
    return this.#removed.has(owner);
  }

  /** Whether the batch has created it. */
  hasCreated(owner: OwnerId): boolean {
    const known = this.#owners.get(owner);
    return known !== undefined && this.#pending.get(known.number)?.isNew === true;
  }

  /** Takes over rows that other nodes, or this one, appended; those that are known already are passed over. */
  absorb(rows: readonly JournalRow[]): void {
    // Settings of owners that are loaded must not be ahead of their own rows, so the order does not matter to them; and
    // what the catalog says is gone or new must be known before its rows come.
    for (const row of rows) if (row.number === catalogNumber) this.#absorbCatalogRow(row);
    for (const row of rows) if (row.number !== catalogNumber) this.#absorbRow(row);
  }

  /** Loads the catalog; before anything else. */
  loadCatalog(records: Iterable<Buffer>, { rows, version, tail }: LoadedState, now: number): void {
    this.#engine = this.#newEngine();
    this.#owners = new Map();
    this.#byNumber = new Map();
    this.#lagging = new Set();
    this.#forgetPending();
    for (const record of records) {
      const entry = JSON.parse(record.toString('utf8')) as CatalogEntry;
      this.#learn(entry, now);
    }
    const first = rows[0];
    this.#catalogVersion = (first?.version ?? version + 1) - 1;
    this.#catalogTail = first === undefined ? tail : readCatalogRow(first, this.#reads).previous;
    this.absorb(rows);
    if (this.#catalogVersion !== version || this.#catalogTail !== tail) {
      throw new Drifted(catalog, `it ends at ${this.#catalogVersion} instead of ${version}`);
    }
  }

  /** Its records are on their way. */
  beginLoad(owner: ReplicaOwner): void {
    owner.mode = 'loading';
  }

  /** Whether this is still the owner that was to be loaded. */
  isLoading(owner: ReplicaOwner): boolean {
    return owner.mode === 'loading' && this.#owners.get(owner.name) === owner;
  }

  /** Takes in a part of an owner's records; nothing falls due there yet. */
  loadPart(
    owner: ReplicaOwner,
    records: Iterable<Buffer>,
    { rows: [first] }: LoadedState,
    now: number,
  ): void {
    const contents = function* (): Generator<Change> {
      for (const record of records) yield* readChanges(new ByteReader(record), owner.name);
    };
    // Rows are absorbed at their own times; what was there before them is not to be later than they are.
    const at = first === undefined ? now : readRow(first, owner.name, this.#reads).now;
    this.#engine.absorbPart(contents(), at);
  }

  /**
   * All records are taken in; the rows follow them. Settings up to the records are the catalog's, which must be known as far
   * as it was when the records were read; those since then are in the rows.
   */
  endLoad(owner: ReplicaOwner, { rows, version, tail }: LoadedState): void {
    const [first] = rows;
    const recorded = (first?.version ?? version + 1) - 1;
    this.#engine.reschedule(owner.name);
    owner.version = recorded;
    owner.tail = first === undefined ? tail : readRow(first, owner.name, this.#reads).previous;
    owner.mode = 'loaded';
    for (const row of rows) this.#absorbRow(row);
    if (owner.version !== version || owner.tail !== tail) {
      throw new Drifted(owner.name, `it ends at ${owner.version} instead of ${version}`);
    }
    this.#noteLag(owner);
  }

  /** Forgets the contents of an owner. */
  unload(owner: ReplicaOwner, now: number): void {
    if (owner.mode === 'settings' || this.#owners.get(owner.name) !== owner) return;
    this.#engine.unload(owner.name);
    owner.mode = 'settings';
    this.#engine.learn(
      owner.ahead.map(({ change }) => change),
      now,
    );
    owner.ahead = [];
    this.#lagging.delete(owner);
  }

  apply<C extends Command>(command: C, context: Context): Applied<C['type']> {
    const applied = this.#engine.apply(command, context);
    for (const change of applied.changes) this.#note(change);
    return applied;
  }

  /** What was applied since the last time. */
  take(): Taken {
    const taken = { pending: [...this.#pending.values()], entries: this.#entries };
    this.#forgetPending();
    return taken;
  }

  /** The rows of this batch are the owners' last now. */
  appended({ pending, entries }: Taken, id: number): void {
    for (const { owner } of pending) {
      owner.version += 1;
      owner.tail = id;
    }
    if (entries.length === 0) return;
    this.#catalogVersion += 1;
    this.#catalogTail = id;
  }

  #absorbCatalogRow(row: JournalRow): void {
    if (row.version <= this.#catalogVersion) return;
    const { now, previous, entries } = readCatalogRow(row, this.#reads);
    if (row.version !== this.#catalogVersion + 1 || previous !== this.#catalogTail) {
      throw new Drifted(catalog, `version ${row.version} does not follow ${this.#catalogVersion}`);
    }
    for (const entry of entries) this.#learn(entry, now);
    this.#catalogVersion = row.version;
    this.#catalogTail = row.id;
  }

  #learn(entry: CatalogEntry, now: number): void {
    const { owner: name, number, change } = entry;
    if (change.kind === 'name') {
      this.#engine.learn([change], now);
      return;
    }
    const isEnd = (change.kind === 'queue' || change.kind === 'topic') && change.value === null;
    const known = this.#owners.get(name);
    if (isEnd) {
      if (known?.number === number) this.#forget(known, change, now);
      return;
    }
    if (known !== undefined && known.mode !== 'settings') known.ahead = [...known.ahead, entry];
    if (known?.mode === 'loaded') {
      this.#noteLag(known);
      return;
    }
    if (known === undefined) this.#add(name, number, 'settings');
    this.#engine.learn([change], now);
  }

  #forget(owner: ReplicaOwner, end: Change, now: number): void {
    this.#engine.learn([end], now);
    this.#owners.delete(owner.name);
    this.#byNumber.delete(owner.number);
    this.#lagging.delete(owner);
    this.#onAbsorbed([end]);
  }

  #absorbRow(row: JournalRow): void {
    const owner = this.#byNumber.get(row.number);
    if (owner?.mode !== 'loaded' || row.version <= owner.version) return;
    const { now, previous, changes } = readRow(row, owner.name, this.#reads);
    if (row.version !== owner.version + 1 || previous !== owner.tail) {
      throw new Drifted(owner.name, `version ${row.version} does not follow ${owner.version}`);
    }
    const absorbed = [...changes];
    this.#engine.absorb(absorbed, now);
    owner.version = row.version;
    owner.tail = row.id;
    this.#noteLag(owner);
    this.#onAbsorbed(absorbed);
  }

  #noteLag(owner: ReplicaOwner): void {
    if (owner.mode !== 'loaded') return;
    if (owner.ahead.length > 0)
      owner.ahead = owner.ahead.filter((at) => at.version > owner.version);
    if (owner.ahead.length > 0) this.#lagging.add(owner);
    else this.#lagging.delete(owner);
  }

  #note(change: Change): void {
    if (change.kind === 'name') {
      this.#entries.push({ owner: change.queue, number: 0, version: 0, change });
      return;
    }
    const name = ownerOf(change);
    let owner = this.#owners.get(name);
    const isNew = owner === undefined;
    if (owner === undefined) {
      this.#created += 1;
      const number = (this.#catalogVersion + 1) * createdPerBatchMax + this.#created - 1;
      owner = this.#add(name, number, 'loaded');
    }
    let pending = this.#pending.get(owner.number);
    if (pending === undefined) {
      pending = { owner, changes: [], isNew, isGone: false };
      this.#pending.set(owner.number, pending);
    }
    pending.changes.push(change);
    if (!isSetting(change)) return;
    const { number } = owner;
    this.#entries.push({ owner: name, number, version: owner.version + 1, change });
    const isEnd = (change.kind === 'queue' || change.kind === 'topic') && change.value === null;
    if (!isEnd) return;
    pending.isGone = true;
    this.#removed.add(name);
    this.#owners.delete(name);
    this.#byNumber.delete(number);
    this.#lagging.delete(owner);
  }

  #add(name: OwnerId, number: number, mode: ReplicaOwner['mode']): ReplicaOwner {
    const owner = { name, number, version: 0, tail: 0, mode, ahead: [], usedAt: 0 };
    this.#owners.set(name, owner);
    this.#byNumber.set(number, owner);
    return owner;
  }

  #forgetPending(): void {
    this.#pending = new Map();
    this.#entries = [];
    this.#removed = new Set();
    this.#created = 0;
  }
}
