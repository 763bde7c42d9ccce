/**
 * Maps changes to records of a batch, and reads records back. An owner is a queue or a topic (`ownerOf`); both have a counter,
 * a window in blocks, and contents under a number.
 */

import { Buffer } from 'node:buffer';
import {
  type Change,
  type ContentFrom,
  type KeptMessage,
  type KeptPost,
  type KeptWindowEntry,
  type MessageContent,
  ownerOf,
  type Publication,
  topicOwner,
} from '../../../core/changes.ts';
import { setOrDelete } from '../../../core/structures/set-or-delete.ts';
import { type ChangeOf, isOf } from '../../record-families.ts';
import { DamagedError } from '../../records/bytes.ts';
import { readContent, writeDelivery } from '../../records/delivery-record.ts';
import { jsonIn, jsonOf } from '../../records/json-record.ts';
import type { StoreUser } from '../../store.ts';
import type { Batch } from '../commit/batch.ts';
import {
  addWindowEntry,
  clearWindow,
  completeBlock,
  growingBlock,
  removeMessage,
  removeWindowEntry,
} from '../commit/block-changes.ts';
import { Unwritten } from '../commit/unwritten.ts';
import { reading } from '../file/data-error.ts';
import type { Environment } from '../file/environment.ts';
import { blockOf, GroupTexts, readBlock } from './block.ts';
import { contentIn } from './content-pack.ts';
import { Damage, refuseDamage } from './damage.ts';
import {
  contentKinds,
  contentsIn,
  hasNumber,
  keyOf,
  keyText,
  nameKeyOf,
  numberOf,
  rangeOf,
  textKeyOf,
} from './keys.ts';
import { type Catalog, loadCatalog, loadOwner, strayKeys } from './loading.ts';
import { OwnerRecords } from './owner-records.ts';

/**
 * How many keys of abandoned contents one commit removes, so that this never delays a request; fewer while there is other work.
 */
const sweptKeysMax = 1000;
const sweptKeysBusyMax = 50;

/** What loading asks of the writer. */
type LoadingUser = Pick<StoreUser, 'windowExpiredUntil' | 'reserve'>;

export class RecordMapper {
  readonly #environment: Environment;
  readonly #user: LoadingUser;
  readonly #owners: Map<string, OwnerRecords> = new Map();
  readonly #names: Set<string> = new Set();
  /** Numbers of contents that are in the file and to be cleared away. */
  readonly #abandoned: number[] = [];
  #contentsMax = 0;

  constructor(environment: Environment, user: LoadingUser) {
    this.#environment = environment;
    // Methods become functions, which loading.ts takes apart.
    this.#user = {
      windowExpiredUntil: (owner) => user.windowExpiredUntil(owner),
      reserve: (queue, size) => user.reserve(queue, size),
    };
  }

  content(queue: string, sequence: number): MessageContent | undefined {
    const records = this.#owners.get(queue);
    if (records === undefined) return undefined;
    const uncommitted = records.uncommitted.get(sequence) as MessageContent | Buffer | undefined;
    if (uncommitted !== undefined && !Buffer.isBuffer(uncommitted)) return uncommitted;
    return reading(this.#environment.directory, () => {
      const bytes = uncommitted ?? this.#contentInFile(records, sequence);
      return bytes && readContent(bytes);
    });
  }

  /** Neighbors share a block, which is read once for all of them. */
  windowEntries(owner: string, sequences: readonly number[]): (KeptWindowEntry | undefined)[] {
    const records = this.#owners.get(owner);
    const wanted = new Set(sequences);
    const found = new Map<number, KeptWindowEntry>();
    for (const number of new Set(sequences.map(blockOf))) {
      const block = records?.blocks.get(number);
      if (records === undefined || block === undefined) continue;
      const bytes =
        block.growing?.bytes() ??
        this.#environment.get(keyOf('block', records.contents, number)) ??
        Buffer.alloc(0);
      readBlock({ owner: records, number, bytes }, new GroupTexts(), {
        message: () => {},
        windowEntry: (id, entry) => {
          if (wanted.has(id)) found.set(id, entry.whole());
        },
      });
    }
    return sequences.map((sequence) => found.get(sequence));
  }

  archived(topic: string, sequence: number): Publication | undefined {
    return this.#find(topicOwner(topic), sequence, 'archived', (bytes) =>
      jsonIn<Publication>(bytes, 'publication'),
    );
  }

  post(topic: string, id: number): KeptPost | undefined {
    return this.#find(topicOwner(topic), id, 'post', (bytes) => jsonIn<KeptPost>(bytes, 'post'));
  }

  apply(change: Change, batch: Batch): void {
    if (isOf('name', change)) this.#setName(change, batch);
    else if (isOf('settings', change)) this.#setSettings(change, batch);
    else this.#applyTo(this.#recordsOf(change, batch), change, batch);
  }

  /** Adds the records that are written once for all changes of the batch. */
  complete(batch: Batch): void {
    for (const { uncommitted } of batch.touched) uncommitted.age();
    for (const [block, records] of batch.blocks) {
      if (!records.isGone && records.blocks.get(block.number) === block) {
        completeBlock(batch, block, records);
      }
    }
    for (const records of batch.heads) {
      if (records.isGone) continue;
      records.writeHead(batch.writer);
      batch.writeRecord('head', records.contents, 0);
    }
  }

  /** The batch is in the file; `gathering` is the next one. */
  committed(batch: Batch, gathering: Batch): void {
    this.#abandoned.push(...batch.abandoned);
    for (const { uncommitted } of batch.touched) uncommitted.forget();
    for (const [block, records] of batch.blocks) {
      if (records.last !== block && !gathering.blocks.has(block)) block.growing = undefined;
    }
  }

  /** Adds the removal of everything to the batch. */
  clear(batch: Batch): void {
    for (const { kind, name } of [...this.#owners.values()]) {
      if (kind === 'queue') this.apply({ kind, queue: name, value: null }, batch);
      else this.apply({ kind, topic: name, value: null }, batch);
    }
    for (const queue of [...this.#names]) this.apply({ kind: 'name', queue, value: null }, batch);
  }

  /** Drops the state of these owners; `load` reads it again from the file. */
  forget(owners: ReadonlySet<string>): void {
    this.#abandoned.length = 0;
    for (const owner of owners) {
      this.#owners.delete(owner);
      this.#names.delete(owner);
    }
  }

  /** Loads these owners, or all, from the file; the removal of what has expired goes into the batch. */
  *load(batch: Batch, damage: Damage, owners?: ReadonlySet<string>): Generator<readonly Change[]> {
    const environment = this.#environment;
    const catalog = loadCatalog(environment, damage);
    if (owners === undefined) this.#noteStrays(catalog, batch, damage);
    this.#abandoned.push(...catalog.abandoned);
    for (const number of [
      ...catalog.abandoned,
      ...catalog.owners.flatMap(({ numbers }) => numbers),
    ]) {
      this.#contentsMax = Math.max(this.#contentsMax, number);
    }
    for (const { name, time } of catalog.names) {
      if (owners?.has(name) === false) continue;
      this.#names.add(name);
      yield [{ kind: 'name', queue: name, value: time }];
    }
    for (const records of catalog.owners) {
      if (owners?.has(records.id) === false) continue;
      this.#owners.set(records.id, records);
      const before = damage.count;
      yield* loadOwner({ ...this.#user, reader: environment, records, damage });
      if (damage.count > before) noteAll(records, batch);
      const over = [...records.blocks.values()].filter(({ isOver }) => isOver);
      if (over.length === 0 && !records.hasMovedWindow) continue;
      batch.touch(records);
      batch.heads.add(records);
      for (const block of over) batch.note(block, records);
    }
  }

  /**
   * Everything applied to these owners so far, from the file and from the `batches` on their way there, the oldest first.
   * The state of the owners here does not change, so expired entries are included: their removal comes later.
   */
  *applied(owners: ReadonlySet<string>, batches: readonly Batch[]): Generator<readonly Change[]> {
    const unwritten = new Unwritten(this.#environment, batches);
    const damage = new Damage();
    for (const owner of owners) {
      const taken = unwritten.get(nameKeyOf('name', owner));
      if (taken !== undefined) {
        yield [{ kind: 'name', queue: owner, value: jsonIn<number>(taken, 'name') }];
      }
      const records = this.#owners.get(owner);
      if (records === undefined) continue;
      unwritten.addNoted(records);
      const copy = new OwnerRecords(records.kind, records.name, records);
      const windowExpiredUntil = (): number => Number.NEGATIVE_INFINITY;
      yield* loadOwner({
        ...this.#user,
        reader: unwritten,
        records: copy,
        windowExpiredUntil,
        damage,
      });
    }
    refuseDamage(this.#environment.directory, damage);
  }

  /** Adds the removal of some abandoned records to the batch; later batches remove the rest. */
  sweep(batch: Batch): void {
    const contents = this.#abandoned[0];
    if (contents === undefined) return;
    // In the journal, reads would skip the removals again and again until they are checkpointed.
    batch.isDirect = true;
    let room = batch.isEmpty ? sweptKeysMax : sweptKeysBusyMax;
    for (const kind of contentKinds) {
      for (const key of this.#environment.keys(rangeOf(kind, contents), room)) {
        batch.writeKey(Buffer.from(key), null);
        room -= 1;
      }
      if (room === 0) return;
    }
    this.#abandoned.shift();
    batch.write('abandoned', contents, 0, null);
  }

  /** If the loss is accepted, records without an owner are abandoned or removed. Their numbers are not used again. */
  #noteStrays(catalog: Catalog, batch: Batch, damage: Damage): void {
    const owned = new Set([
      ...catalog.abandoned,
      ...catalog.owners.flatMap(({ numbers }) => numbers),
    ]);
    const numbers = new Set<number>();
    for (const key of strayKeys(this.#environment, catalog)) {
      damage.note('', `${keyText(key)} belongs to no queue or topic`);
      damage.hasLostOwner = true;
      if (hasNumber(key) && !owned.has(contentsIn(key))) numbers.add(contentsIn(key));
      else damage.remove(key);
    }
    for (const number of numbers) {
      this.#contentsMax = Math.max(this.#contentsMax, number);
      abandon(number, batch);
    }
  }

  #find<T>(
    owner: string,
    id: number,
    kind: 'archived' | 'post',
    read: (bytes: Buffer) => T,
  ): T | undefined {
    const records = this.#owners.get(owner);
    if (records === undefined) return undefined;
    const uncommitted = records.uncommitted.get(id) as T | undefined;
    if (uncommitted !== undefined) return uncommitted;
    const number = records[numberOf(kind)];
    const bytes = this.#environment.get(keyOf(kind, number, id));
    return bytes && reading(this.#environment.directory, () => read(bytes));
  }

  #applyTo(
    records: OwnerRecords,
    change: Exclude<Change, ChangeOf<'name' | 'settings'>>,
    batch: Batch,
  ): void {
    if (isOf('message', change)) {
      if (change.value === null) removeMessage(records, change.id, batch);
      else this.#addMessage(records, change.id, change.value, batch);
    } else if (isOf('window', change)) {
      if (change.value === null) removeWindowEntry(records, change.id, batch);
      else addWindowEntry(records, change.id, change.value, change.digests, batch);
    } else if (isOf('counter', change)) {
      records.counter = change.value;
      batch.heads.add(records);
    } else if (isOf('row', change)) writeRow(records, change, batch);
    else this.#clear(records, change.what, batch);
  }

  #clear(records: OwnerRecords, what: ChangeOf<'cleared'>['what'], batch: Batch): void {
    if (what === 'window') {
      clearWindow(records, batch);
      return;
    }
    if (what === 'archive') {
      abandon(records.other, batch);
      records.other = this.#newContents();
    } else {
      abandon(records.contents, batch);
      records.startAnew(this.#newContents());
      batch.heads.add(records);
    }
    writeOwner(records, batch);
  }

  #setName({ queue, value }: ChangeOf<'name'>, batch: Batch): void {
    batch.owners.add(queue);
    if (value === null) this.#names.delete(queue);
    else this.#names.add(queue);
    batch.writeKey(nameKeyOf('name', queue), value === null ? null : jsonOf(value));
  }

  /** The records of the queue or topic that a change belongs to. */
  #recordsOf(change: Change, batch: Batch): OwnerRecords {
    const owner = ownerOf(change);
    const records = this.#owners.get(owner);
    if (records === undefined) {
      throw new Error(`a ${change.kind} came for ${owner}, which is not kept`);
    }
    batch.touch(records);
    return records;
  }

  #setSettings(change: ChangeOf<'settings'>, batch: Batch): void {
    const owner = ownerOf(change);
    const known = this.#owners.get(owner);
    batch.owners.add(owner);
    if (change.value !== null) {
      const name = change.kind === 'queue' ? change.queue : change.topic;
      const records = known ?? this.#newRecords(change.kind, name, change.value);
      records.kept = change.value;
      this.#owners.set(owner, records);
      writeOwner(records, batch);
    } else if (known !== undefined) {
      known.isGone = true;
      this.#owners.delete(owner);
      batch.writeKey(nameKeyOf(known.kind, known.name), null);
      for (const number of known.numbers) abandon(number, batch);
    }
  }

  #newRecords(kind: OwnerRecords['kind'], name: string, kept: OwnerRecords['kept']): OwnerRecords {
    const [contents, other] = [this.#newContents(), this.#newContents()];
    return new OwnerRecords(kind, name, { kept, contents, other });
  }

  #newContents(): number {
    this.#contentsMax += 1;
    return this.#contentsMax;
  }

  #addMessage(records: OwnerRecords, id: number, message: KeptMessage, batch: Batch): void {
    const content = 'from' in message.content ? this.#moved(message.content.from) : message.content;
    const block = growingBlock(records, id, batch);
    const isFirst = batch.writeContent(records, id, content);
    block.growing.addMessage(id, message, isFirst);
    block.add(id, isFirst);
    records.messages += 1;
    if (content === undefined) return;
    records.uncommitted.set(id, content);
  }

  /**
   * The content of a message that moves, as bytes if the file has it. A content that cannot be read moves too, so that its
   * message reaches a dead-letter queue like any other that nobody can handle.
   */
  #moved({ queue, sequence }: ContentFrom['from']): MessageContent | Buffer | undefined {
    const records = this.#owners.get(queue);
    if (records === undefined) throw new Error(`a message moved from ${queue}, which is not kept`);
    const uncommitted = records.uncommitted.get(sequence) as MessageContent | Buffer | undefined;
    if (uncommitted !== undefined) return uncommitted;
    try {
      const bytes = this.#contentInFile(records, sequence);
      // A copy, since the next `get` overwrites it.
      return bytes && Buffer.from(bytes);
    } catch (error) {
      if (error instanceof DamagedError) return unreadable;
      throw error;
    }
  }

  /** Valid until the next `get`. */
  #contentInFile(records: OwnerRecords, sequence: number): Buffer | undefined {
    const key = records.blocks.get(blockOf(sequence))?.contentKey(sequence);
    if (key === undefined) return undefined;
    const record = this.#environment.get(keyOf('content', records.contents, key));
    return record && contentIn(record, sequence);
  }
}

/** Stands for a content that was lost: reading it fails like reading the original. */
const unreadable: Buffer = Buffer.alloc(0);

function writeOwner(records: OwnerRecords, batch: Batch): void {
  const { kind, name, kept, contents, other } = records;
  batch.writeKey(nameKeyOf(kind, name), jsonOf({ kept, contents, other }));
}

function writeRow(records: OwnerRecords, change: ChangeOf<'row'>, batch: Batch): void {
  const { kind, id, value } = change;
  const number = records[numberOf(kind)];
  if (kind === 'archived' || kind === 'post') setOrDelete(records.uncommitted, id, value);
  if (typeof id === 'string') {
    batch.writeKey(textKeyOf(kind, number, id), value && jsonOf(value));
  } else if (kind === 'delivery' && value !== null) {
    writeDelivery(batch.writer, value);
    batch.writeRecord(kind, number, id);
  } else batch.write(kind, number, id, value && jsonOf(value));
}

/** After a loss, heads and removed messages are written as they were loaded. */
function noteAll(records: OwnerRecords, batch: Batch): void {
  batch.touch(records);
  batch.heads.add(records);
  for (const block of records.blocks.values()) if (block.hasRemoved) batch.note(block, records);
}

function abandon(contents: number, batch: Batch): void {
  batch.abandoned.push(contents);
  batch.write('abandoned', contents, 0, Buffer.alloc(1));
}
