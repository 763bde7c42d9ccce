/**
 * A journal in memory that several replicas share, and a node that works over it as the writer does over PostgreSQL: lock,
 * catch up, look again at what is touched, apply, append. One command a batch and one node at a time, so that everything
 * can be compared with one engine; what really happens at the same time is tested with a database.
 */

import { catalog, isSetting, type OwnerId, ownerOf } from '../../../src/core/changes.ts';
import type { Command } from '../../../src/core/commands.ts';
import type { Applied, Context, Engine } from '../../../src/core/engine.ts';
import { checkpointOf, type RowWithContents } from '../../../src/storage/postgres/checkpoint.ts';
import type { Content, ContentKind } from '../../../src/storage/postgres/content-codec.ts';
import {
  type Appended,
  catalogNumber,
  type JournalRow,
  type Known,
  type LoadedState,
} from '../../../src/storage/postgres/journal.ts';
import { writtenCatalogRow, writtenRow } from '../../../src/storage/postgres/journal-row.ts';
import { contentByte, contentsFrom, keyOf } from '../../../src/storage/postgres/record-keys.ts';
import { Replica, type ReplicaOwner } from '../../../src/storage/postgres/replica.ts';

export interface KeptOwner {
  readonly name: OwnerId;
  version: number;
  tail: number;
  dueAt: number | undefined;
  rows: RowWithContents[];
  /** The version that the records are of, and that of the oldest row that is still there, less one. */
  checkpointed: number;
  trimmed: number;
  readonly records: Map<string, { readonly key: Buffer; readonly value: Buffer }>;
}

export class SharedJournal {
  readonly owners: Map<number, KeptOwner> = new Map();
  #batches = 0;

  constructor() {
    this.#add(catalogNumber, catalog);
  }

  rowsOf(known: readonly Known[]): JournalRow[] {
    return known.flatMap(({ number, version }) =>
      (this.owners.get(number)?.rows ?? [])
        .map(({ row }) => row)
        .filter((row) => row.version > version),
    );
  }

  load(number: number): { readonly records: Buffer[]; readonly state: LoadedState } | undefined {
    const kept = this.owners.get(number);
    if (kept === undefined) return undefined;
    const records = [...kept.records.values()]
      .filter(({ key }) => number === catalogNumber || key.compare(contentsFrom) < 0)
      .sort((one, other) => one.key.compare(other.key))
      .map(({ value }) => value);
    const rows = kept.rows
      .map(({ row }) => row)
      .filter(({ version }) => version > kept.checkpointed);
    const { version, tail } = kept;
    const catalogVersion = this.owners.get(catalogNumber)?.version as number;
    return { records, state: { rows, version, tail, catalogVersion } };
  }

  append(replica: Replica, now: number): void {
    const { version, tail } = replica.catalog;
    const taken = replica.take();
    if (taken.pending.length === 0 && taken.entries.length === 0) return;
    this.#batches += 1;
    const id = this.#batches;
    for (const { owner, changes, isNew, isGone } of taken.pending) {
      if (isNew) this.#add(owner.number, owner.name);
      const bytes = writtenRow({ now, previous: owner.tail }, changes);
      this.#append({ number: owner.number, version: owner.version + 1, id, changes: bytes });
      (this.owners.get(owner.number) as KeptOwner).dueAt = replica.engine.dueAt(owner.name);
      if (isGone) this.owners.delete(owner.number);
    }
    if (taken.entries.length > 0) {
      const bytes = writtenCatalogRow({ now, previous: tail }, taken.entries);
      this.#append({ number: catalogNumber, version: version + 1, id, changes: bytes });
    }
    replica.appended(taken, id);
  }

  /** What a writer's batch appends. */
  appendRows(appended: readonly Appended[]): void {
    for (const { name, previous, isNew, isGone, contents, dueAt, ...row } of appended) {
      if (isNew) this.#add(row.number, name);
      this.#append(row, contents);
      (this.owners.get(row.number) as KeptOwner).dueAt = dueAt;
      if (isGone) this.owners.delete(row.number);
    }
  }

  /** What a sender wrote, from rows or records. */
  content(name: OwnerId, kind: ContentKind, id: number): Buffer | undefined {
    const owner = [...this.owners.values()].find((other) => other.name === name);
    const written = owner?.rows.flatMap(({ contents }) => [...contents]);
    return (
      written?.find((content) => content.kind === kind && content.id === id)?.bytes ??
      owner?.records.get(keyOf(contentByte(kind), id).toString('latin1'))?.value
    );
  }

  /** Turns the owner's rows into records; keeps `kept` of them as rows. */
  checkpoint(number: number, kept: number): void {
    const owner = this.owners.get(number);
    if (owner === undefined) return;
    const rows = owner.rows.filter(({ row }) => row.version > owner.checkpointed);
    const { ranges, removed, written } = checkpointOf(owner.name, rows);
    for (const { start, end } of ranges) {
      for (const [at, { key }] of owner.records) {
        if (key.compare(start) >= 0 && key.compare(end) < 0) owner.records.delete(at);
      }
    }
    for (const key of removed) owner.records.delete(key.toString('latin1'));
    for (const record of written) owner.records.set(record.key.toString('latin1'), record);
    owner.checkpointed = owner.version;
    owner.trimmed = Math.max(owner.trimmed, owner.version - kept);
    owner.rows = owner.rows.filter(({ row }) => row.version > owner.trimmed);
  }

  #append(row: JournalRow, contents: readonly Content[] = []): void {
    const owner = this.owners.get(row.number) as KeptOwner;
    if (row.version !== owner.version + 1) {
      throw new Error(`${owner.name}: version ${row.version} after ${owner.version}`);
    }
    owner.version = row.version;
    owner.tail = row.id;
    owner.rows.push({ row, contents });
  }

  #add(number: number, name: OwnerId): void {
    if (this.owners.has(number)) throw new Error(`the number ${number} is given out twice`);
    this.owners.set(number, {
      name,
      version: 0,
      tail: 0,
      dueAt: undefined,
      rows: [],
      checkpointed: 0,
      trimmed: 0,
      records: new Map(),
    });
  }
}

const roundsMax = 20;

export class JournalNode {
  readonly #journal: SharedJournal;
  readonly #replica: Replica;

  constructor(journal: SharedJournal, newEngine: () => Engine) {
    this.#journal = journal;
    this.#replica = new Replica(newEngine);
    this.#loadCatalog(0);
  }

  /** Forgets an owner's contents. */
  unload(owner: OwnerId, now: number): void {
    const known = this.#replica.get(owner);
    if (known !== undefined) this.#replica.unload(known, now);
  }

  step<C extends Command>(command: C, context: Context): Applied<C['type']> {
    const replica = this.#replica;
    const { now } = context;
    if (command.type === 'tick') this.#loadDue(now);
    let known: readonly ReplicaOwner[] = [];
    for (let round = 0; round < roundsMax; round += 1) {
      this.#catchUp(known, now);
      const touched = replica.engine.touches(command, now);
      const owners = touched.flatMap((owner) => replica.get(owner) ?? []);
      const isReady = owners.every((owner) => owner.mode === 'loaded' && known.includes(owner));
      if (isReady) {
        const applied = replica.apply(command, context);
        this.#checkTouched(command, applied, touched);
        this.#journal.append(replica, now);
        return applied;
      }
      for (const owner of owners) this.#load(owner, now);
      known = owners;
    }
    throw new Error(`${command.type} touches something else each time`);
  }

  /** What a node learns in its transaction: the catalog first, then the owners asked for and those that lag behind. */
  #catchUp(owners: readonly ReplicaOwner[], now: number): void {
    const replica = this.#replica;
    const { version } = replica.catalog;
    const end = this.#journal.owners.get(catalogNumber)?.version;
    const news = this.#journal.rowsOf([{ number: catalogNumber, version }]);
    // Too far behind for what is left of the catalog's rows.
    if (news.length !== (end ?? 0) - version) {
      this.#loadCatalog(now);
    } else replica.absorb(news);
    for (const owner of [...owners, ...replica.lagging]) this.#absorb(owner, now);
  }

  #absorb(owner: ReplicaOwner, now: number): void {
    const kept = this.#journal.owners.get(owner.number);
    if (kept === undefined || this.#replica.get(owner.name) !== owner) return;
    const rows = this.#journal.rowsOf([owner]);
    if (owner.mode === 'loaded' && rows.length !== kept.version - owner.version) {
      this.#replica.unload(owner, now);
    } else this.#replica.absorb(rows);
  }

  #load(owner: ReplicaOwner, now: number): void {
    if (owner.mode === 'loaded') return;
    this.#replica.beginLoad(owner);
    const loaded = this.#journal.load(owner.number);
    if (loaded === undefined) return;
    this.#replica.loadPart(owner, loaded.records, loaded.state, now);
    this.#replica.endLoad(owner, loaded.state);
  }

  #loadCatalog(now: number): void {
    const loaded = this.#journal.load(catalogNumber);
    if (loaded !== undefined) this.#replica.loadCatalog(loaded.records, loaded.state, now);
  }

  #loadDue(now: number): void {
    this.#catchUp([], now);
    for (const [number, { dueAt }] of this.#journal.owners) {
      const owner = this.#replica.byNumber(number);
      if (owner === undefined || dueAt === undefined || dueAt > now) continue;
      this.#absorb(owner, now);
      this.#load(owner, now);
    }
  }

  #checkTouched(
    command: Command,
    { changes }: Applied<Command['type']>,
    touched: readonly OwnerId[],
  ): void {
    const changed = [...changes.map(ownerOf), ...(changes.some(isSetting) ? [catalog] : [])];
    const other = changed.find((owner) => !touched.includes(owner));
    if (other !== undefined) throw new Error(`${command.type} changed ${other}: ${touched}`);
  }
}
