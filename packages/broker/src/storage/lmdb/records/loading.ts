/**
 * Reads the file at a start: the list of queues and topics, and the records of each, as changes that bring an engine into that
 * state. Records whose checksum is wrong, or whose owner is lost, are noted as damage and left out.
 */

import type {
  Change,
  KeptAttempt,
  KeptMessage,
  KeptMoveTask,
  KeptPost,
  KeptPostAttempt,
  KeptQueue,
  KeptSubscription,
  KeptTopic,
  KeptWindowEntry,
  Publication,
  WindowDigests,
} from '../../../core/changes.ts';
import { DamagedError } from '../../records/bytes.ts';
import { readDelivery } from '../../records/delivery-record.ts';
import { jsonIn } from '../../records/json-record.ts';
import type { StoreUser } from '../../store.ts';
import type { Environment, OnDamaged } from '../file/environment.ts';
import type { Entry, KeyRange } from '../file/lmdb-file.ts';
import { type BlockVisitor, blockOf, GroupTexts, readBlock, sequencesPerBlock } from './block.ts';
import type { Damage } from './damage.ts';
import {
  contentKinds,
  contentsIn,
  idIn,
  isKeptUnder,
  isKnownKey,
  type Kind,
  keyOf,
  nameIn,
  nameKeyOf,
  rangeOf,
  textIn,
} from './keys.ts';
import {
  Block,
  emptyHead,
  type Head,
  type OwnerRecord,
  OwnerRecords,
  readHead,
} from './owner-records.ts';

/** Where the records of a queue or topic are read: the environment, or what it will have (unwritten.ts). */
export interface RecordReader {
  /** The value is valid until the next `get`. Throws DamagedError if it does not match its checksum. */
  get(key: Buffer): Buffer | undefined;
  /** Whether there is such a record, damaged or not. */
  has(key: Buffer): boolean;
  /** Leaves out what is damaged. */
  range(range: KeyRange, onDamaged?: OnDamaged): Iterable<Entry>;
  keys(range: KeyRange, limit: number): Iterable<Buffer>;
}

export interface Catalog {
  readonly owners: readonly OwnerRecords[];
  readonly names: readonly { readonly name: string; readonly time: number }[];
  readonly abandoned: readonly number[];
}

export function loadCatalog(environment: Environment, damage: Damage): Catalog {
  const lostOwner = (key: Buffer, lost: string): void => {
    damage.record('', key, lost);
    damage.hasLostOwner = true;
  };
  const ownersOf = (kind: OwnerRecords['kind']): OwnerRecords[] => {
    const lost = `the ${kind} and everything in it is lost`;
    const entries = environment.range(rangeOf(kind), (key) => lostOwner(key, lost));
    return Array.from(entries, ({ key, value }) => {
      const name = nameIn(key);
      const record = jsonIn<OwnerRecord>(value, `record of the ${kind} ${name}`);
      return new OwnerRecords(kind, name, record);
    });
  };
  const names = Array.from(
    environment.range(rangeOf('name'), (key) =>
      damage.record('', key, 'the name of a deleted queue can be used at once'),
    ),
    ({ key, value }) => ({ name: nameIn(key), time: jsonIn<number>(value, 'name') }),
  );
  const abandoned = Array.from(
    environment.range(rangeOf('abandoned'), (key) =>
      lostOwner(key, 'what was purged or deleted is looked for'),
    ),
    ({ key }) => contentsIn(key),
  );
  // Queues first: a subscription may name one.
  return { owners: [...ownersOf('queue'), ...ownersOf('topic')], names, abandoned };
}

/** How many keys of each range are checked one by one. */
const straysMax = 1000;

/** The kinds that nothing else would miss: blocks and what belongs to them are counted. */
const uncountedKinds: readonly Kind[] = contentKinds.filter(
  (kind) => kind !== 'block' && kind !== 'removed' && kind !== 'content',
);

/** Keys without an owner: a damaged byte can change one key into another. For a number without an owner, the first key of each kind. */
export function* strayKeys(
  environment: Environment,
  { owners, abandoned }: Catalog,
): Generator<Buffer> {
  for (const range of [
    rangeOf('store'),
    { start: rangeOf(lastKind).end, end: Buffer.from([0xff]) },
  ]) {
    for (const key of environment.keys(range, straysMax)) if (!isKnownKey(key)) yield key;
  }
  // Skips from each number's first key to the next number's.
  for (const kind of contentKinds) {
    const owned = new Set([...abandoned, ...numbersWith(kind, owners)]);
    const { start, end } = rangeOf(kind);
    let from: Buffer | undefined = start;
    while (from !== undefined) {
      const [key]: Buffer[] = [...environment.keys({ start: from, end }, 1)];
      if (key !== undefined && (!isKnownKey(key) || !owned.has(contentsIn(key)))) yield key;
      from = key && (isKnownKey(key) ? rangeOf(kind, contentsIn(key)).end : after(key));
    }
  }
  // Only the checksum distinguishes abandoned records from others whose damaged key now lies among them.
  for (const number of abandoned) {
    for (const kind of uncountedKinds) {
      for (const found of environment.keys(rangeOf(kind, number), straysMax)) {
        const key = Buffer.from(found);
        if (ifWhole(environment, key) === undefined) yield key;
      }
    }
  }
}

function* numbersWith(kind: Kind, owners: readonly OwnerRecords[]): Generator<number> {
  for (const owner of owners) {
    for (const number of ['contents', 'other'] as const) {
      if (isKeptUnder(number, owner.kind, kind)) yield owner[number];
    }
  }
}

const lastKind: Kind = 'post-attempt';

function after(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.alloc(1)]);
}

export const timeKey: Buffer = nameKeyOf('store', 'time');

/** The time of the last commit. */
export function latestTimeIn(environment: Environment): number {
  const value = environment.get(timeKey);
  return value === undefined ? 0 : jsonIn<number>(value, 'time');
}

export interface Loading {
  readonly reader: RecordReader;
  readonly records: OwnerRecords;
  readonly windowExpiredUntil: StoreUser['windowExpiredUntil'];
  readonly damage: Damage;
  readonly reserve: StoreUser['reserve'];
}

/** Everything of one queue or topic, piece by piece; `records` is filled in on the way. Leaves out expired window entries. */
export function* loadOwner(loading: Loading): Generator<readonly Change[]> {
  const { damage, records } = loading;
  const before = damage.count;
  yield* records.kind === 'queue' ? loadQueue(loading) : loadTopic(loading);
  if (damage.count > before) noteOrphans(loading);
}

function ownerOf({ kind, name }: OwnerRecords): string {
  return `${kind} ${name}`;
}

/** The records of a kind; a damaged one is noted with what is lost. */
function entriesOf(
  { reader, records, damage }: Loading,
  kind: Kind,
  number: number,
  lost: string,
): Iterable<Entry> {
  return reader.range(rangeOf(kind, number), (key) => damage.record(ownerOf(records), key, lost));
}

function* loadQueue(loading: Loading): Generator<readonly Change[]> {
  const { records, damage } = loading;
  const { name: queue, contents, other } = records;
  const put = { kind: 'queue', queue, value: records.kept as KeptQueue } as const;
  yield [put];
  const before = damage.count;
  const { counter: value, messages, windowEntries } = loadHead(loading);
  loading.reserve(queue, { messages, windowEntries });
  if (value > 0) yield [{ kind: 'counter', queue, value }];
  const found = yield* loadBlocks(loading, loading.windowExpiredUntil(put));
  if (value > 0) compare(loading, before, 'window entries', found, windowEntries);
  if (value > 0) compare(loading, before, 'messages', records.messages, messages);
  for (const { key, value } of entriesOf(
    loading,
    'delivery',
    contents,
    'it counts as unreceived',
  )) {
    const id = idIn(key);
    const block = records.blocks.get(blockOf(id));
    if (block?.hasMessage(id) === true) {
      yield [{ kind: 'delivery', queue, id, value: readDelivery(value) }];
    } else {
      damage.note('', `queue ${queue} has a delivery of message ${id}, but not the message`);
      damage.remove(key);
    }
  }
  for (const { key, value } of entriesOf(loading, 'attempt', contents, 'it is not repeated')) {
    const attempt = jsonIn<KeptAttempt>(value, 'attempt');
    yield [{ kind: 'attempt', queue, id: textIn(key), value: attempt }];
  }
  for (const { key, value } of entriesOf(loading, 'task', other, 'the move task is lost')) {
    const task = jsonIn<KeptMoveTask>(value, 'task');
    yield [{ kind: 'task', queue, id: textIn(key), value: task }];
  }
}

function* loadTopic(loading: Loading): Generator<readonly Change[]> {
  const { reader, records, damage } = loading;
  const { name: topic, contents, other } = records;
  const put = { kind: 'topic', topic, value: records.kept as KeptTopic } as const;
  yield [put];
  const before = damage.count;
  const { counter, windowEntries } = loadHead(loading);
  if (counter > 0) yield [{ kind: 'topic-counter', topic, value: counter }];
  for (const { key, value } of entriesOf(loading, 'subscription', contents, 'it is lost')) {
    const subscription = jsonIn<KeptSubscription>(value, 'subscription');
    yield [{ kind: 'subscription', topic, id: textIn(key), value: subscription }];
  }
  const found = yield* loadBlocks(loading, loading.windowExpiredUntil(put));
  if (counter > 0) compare(loading, before, 'window entries', found, windowEntries);
  for (const { key, value } of entriesOf(loading, 'archived', other, 'it is not replayed')) {
    const publication = jsonIn<Publication>(value, 'publication');
    yield [{ kind: 'archived', topic, id: idIn(key), value: publication }];
  }
  for (const { key, value } of entriesOf(loading, 'post', contents, 'the call is not made')) {
    yield [{ kind: 'post', topic, id: idIn(key), value: jsonIn<KeptPost>(value, 'post') }];
  }
  const lostAttempt = 'the call begins anew';
  for (const { key, value } of entriesOf(loading, 'post-attempt', contents, lostAttempt)) {
    if (damage.count > 0 && ifWhole(reader, keyOf('post', contents, idIn(key))) === undefined) {
      damage.remove(key);
      continue;
    }
    const attempt = jsonIn<KeptPostAttempt>(value, 'post attempt');
    yield [{ kind: 'post-attempt', topic, id: idIn(key), value: attempt }];
  }
}

/** Undefined if there is no such record, or it does not match its checksum. */
function ifWhole(reader: RecordReader, key: Buffer): Buffer | undefined {
  try {
    return reader.get(key);
  } catch (error) {
    if (error instanceof DamagedError) return undefined;
    throw error;
  }
}

/** A lost counter is set this far beyond the messages that are left, so that no number is used twice. */
const counterLeap = 2 ** 32;

function loadHead(loading: Loading): Head {
  const { reader, records, damage } = loading;
  const lost = 'sequence numbers continue with a leap, and a window that was cleared may be back';
  const before = damage.count;
  let head: Head | undefined;
  // The record exists, but a damaged byte of its key assigns it to another owner. Only a look at all of them finds that.
  for (const { value } of entriesOf(loading, 'head', records.contents, lost))
    head = readHead(value);
  const [block] = reader.keys(rangeOf('block', records.contents), 1);
  if (head === undefined && block !== undefined && damage.count === before) {
    damage.note(ownerOf(records), `its head is missing, so ${lost}`);
  }
  const isLost = head === undefined && (damage.count > before || damage.hasLostOwner);
  head ??= isLost ? headWithout(reader, records) : emptyHead;
  records.counter = head.counter;
  records.windowFrom = head.windowFrom;
  return head;
}

/** What a lost head is replaced by. */
function headWithout(reader: RecordReader, records: OwnerRecords): Head {
  let lastBlock = 0;
  const { start, end } = rangeOf('block', records.contents);
  for (const key of reader.keys({ start, end }, Number.MAX_SAFE_INTEGER)) lastBlock = idIn(key);
  return { ...emptyHead, counter: (lastBlock + 1) * sequencesPerBlock + counterLeap };
}

/** Returns how many window entries there are, those that have expired included. */
function* loadBlocks(loading: Loading, expiredUntil: number): Generator<readonly Change[], number> {
  const { reader, records, damage } = loading;
  const { contents } = records;
  const before = damage.count;
  const owner = ownerOf(records);
  const onDamagedRemoved = (key: Buffer): void => {
    damage.record(owner, key, `removed messages ${rangeText(idIn(key))} may be back`);
  };
  for (const { key, value } of reader.range(rangeOf('removed', contents), onDamagedRemoved)) {
    const block = new Block(idIn(key));
    block.setRemoved(value);
    records.blocks.set(block.number, block);
  }
  const groups = new GroupTexts();
  let windowEntries = 0;
  let last: { readonly block: Block; readonly bytes: Buffer } | undefined;
  const onDamagedBlock = (key: Buffer): void => {
    const what = `messages and window entries ${rangeText(idIn(key))} are lost`;
    damage.record(owner, key, what);
  };
  for (const { key, value: bytes } of reader.range(rangeOf('block', contents), onDamagedBlock)) {
    const number = idIn(key);
    const block = records.blocks.get(number) ?? new Block(number);
    block.isInFile = true;
    records.blocks.set(number, block);
    last = { block, bytes };
    const loadingBlock = new LoadingBlock(records, block, expiredUntil);
    readBlock({ owner: records, number, bytes }, groups, loadingBlock);
    windowEntries += loadingBlock.windowEntries;
    yield damage.count > 0
      ? loadingBlock.changes.filter((change) => isStillThere(loading, block, change))
      : loadingBlock.changes;
  }
  if (last !== undefined) records.goOnWith(last.block, last.bytes);
  for (const block of [...records.blocks.values()].filter(({ isInFile }) => !isInFile)) {
    damage.remove(keyOf('removed', contents, block.number));
    if (damage.count === before) damage.note(owner, `block ${block.number} is missing`);
    records.dropBlock(block);
  }
  return windowEntries;
}

/** Notes records that are missing although none is damaged. */
function compare(
  { records, damage }: Loading,
  before: number,
  what: string,
  found: number,
  expected: number,
): void {
  if (damage.count > before || found === expected) return;
  damage.note(ownerOf(records), `${found} ${what} found, ${expected} expected`);
}

function rangeText(block: number): string {
  const first = block * sequencesPerBlock;
  return `${first} to ${first + sequencesPerBlock - 1}`;
}

/** If the list of a block's removed messages may be lost, those without content count as removed. */
function isStillThere({ reader, records }: Loading, block: Block, change: Change): boolean {
  if (change.kind !== 'message') return true;
  const key = block.contentKey(change.id);
  if (key !== undefined && reader.has(keyOf('content', records.contents, key))) return true;
  block.remove(change.id);
  records.messages -= 1;
  return false;
}

/** Contents whose message was lost with a block. */
function noteOrphans({ reader, records, damage }: Loading): void {
  const range = rangeOf('content', records.contents);
  for (const key of reader.keys(range, Number.MAX_SAFE_INTEGER)) {
    const block = records.blocks.get(blockOf(idIn(key)));
    if (block === undefined || block.isOverAt(idIn(key))) damage.remove(key);
  }
}

/** Turns a block's records into changes, leaving out what was removed or has expired. */
class LoadingBlock implements BlockVisitor {
  readonly changes: Change[] = [];
  windowEntries = 0;
  readonly #records: OwnerRecords;
  readonly #block: Block;
  readonly #expiredUntil: number;

  constructor(records: OwnerRecords, block: Block, expiredUntil: number) {
    this.#records = records;
    this.#block = block;
    this.#expiredUntil = expiredUntil;
  }

  message(id: number, value: KeptMessage, isFirst: boolean): void {
    this.#records.lastSequence = id;
    this.#block.add(id, isFirst);
    if (this.#block.isRemoved(id)) return;
    this.#records.messages += 1;
    this.changes.push({ kind: 'message', queue: this.#records.name, id, value });
  }

  windowEntry(id: number, value: KeptWindowEntry, digests: WindowDigests): void {
    this.#records.lastSequence = id;
    if (id < this.#records.windowFrom) return;
    this.windowEntries += 1;
    // What has expired need not pass through an engine.
    if (value.acceptedAt <= this.#expiredUntil) {
      this.#records.windowFrom = id + 1;
      this.#records.hasMovedWindow = true;
      return;
    }
    this.#block.windowEntries += 1;
    this.#records.windowEntries += 1;
    const { kind, name } = this.#records;
    this.changes.push(
      kind === 'queue'
        ? { kind: 'window', queue: name, id, value, digests }
        : { kind: 'topic-window', topic: name, id, value, digests },
    );
  }
}
