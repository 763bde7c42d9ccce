/**
 * Verifies the data of a stopped server: every record must be readable, and the records must be consistent. The messages,
 * contents and deliveries of a queue are stored in the same order, so they are read in parallel, and none has to be held in
 * memory, however many there are.
 */

import { createHash } from 'node:crypto';
import type { KeptDelivery, WindowDigests } from '../../../core/changes.ts';
import { rowFamilies, rowKinds } from '../../record-families.ts';
import { readContent, readDelivery } from '../../records/delivery-record.ts';
import { jsonIn } from '../../records/json-record.ts';
import {
  blockOf,
  GroupTexts,
  type LoadedWindowEntry,
  readBlock,
  slotOf,
} from '../records/block.ts';
import { contentIn, slotsIn } from '../records/content-pack.ts';
import { Damage } from '../records/damage.ts';
import { idIn, type Kind, keyOf, keyText, rangeOf, textIn } from '../records/keys.ts';
import { type Catalog, latestTimeIn, loadCatalog, strayKeys } from '../records/loading.ts';
import {
  Block,
  emptyHead,
  type Head,
  type OwnerRecords,
  readHead,
} from '../records/owner-records.ts';
import { reading } from './data-error.ts';
import { Environment } from './environment.ts';
import { knownFormat } from './format.ts';
import type { Entry } from './lmdb-file.ts';

export interface CheckedQueue {
  readonly name: string;
  readonly messages: number;
  /** Of these, how many were received at least once. */
  readonly received: number;
  readonly windowEntries: number;
  readonly bodyBytes: number;
}

export interface CheckedTopic {
  readonly name: string;
  readonly subscriptions: number;
  readonly windowEntries: number;
  readonly archived: number;
  /** Calls of HTTP endpoints that are still to be made. */
  readonly posts: number;
}

export interface CheckReport {
  readonly format: number;
  readonly records: number;
  readonly fileBytes: number;
  readonly queues: readonly CheckedQueue[];
  readonly topics: readonly CheckedTopic[];
  /** Contents of purged and deleted queues that are still to be cleared away. */
  readonly abandoned: number;
  /** What is damaged or inconsistent, the first hundred. */
  readonly problems: readonly string[];
  /** What is missing without any damage: commits that no client was told are durable. */
  readonly notes: readonly string[];
}

const problemsMax = 100;

export interface FoundOnOpening {
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/** Opens the data in the directory for reading, and verifies it. */
export async function checkDirectory(directory: string): Promise<CheckReport> {
  const [problems, notes]: [string[], string[]] = [[], []];
  const environment = await Environment.open({
    directory,
    isReadOnly: true,
    isAlone: true,
    onDamage: (what) => problems.push(what),
    onNotice: (text) => notes.push(text),
  });
  try {
    return reading(environment.directory, () => checkData(environment, { problems, notes }));
  } finally {
    await environment.close();
  }
}

export function checkData(
  environment: Environment,
  found: FoundOnOpening = { problems: [], notes: [] },
): CheckReport {
  const problems = [...found.problems];
  const report = (text: string): void => {
    if (problems.length < problemsMax) problems.push(text);
  };
  const format = knownFormat(environment) ?? 0;
  const damage = new Damage();
  const catalog = loadCatalog(environment, damage);
  for (const what of damage.told) report(what);
  checkNumbers(environment, catalog, report);
  attempt(report, 'the time of the last commit', () => latestTimeIn(environment));
  const queues: CheckedQueue[] = [];
  const topics: CheckedTopic[] = [];
  for (const owner of catalog.owners) {
    const check = new OwnerCheck(environment, owner, report);
    check.run();
    if (owner.kind === 'queue') queues.push(check.queue());
    else topics.push(check.topic());
  }
  const { records, fileBytes } = environment.usage();
  const { notes } = found;
  const abandoned = catalog.abandoned.length;
  return { format, records, fileBytes, queues, topics, abandoned, problems, notes };
}

type Report = (text: string) => void;

/** Undefined if it cannot be read, which is reported. */
function attempt<T>(report: Report, what: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    report(`${what}: ${(error as Error).message}`);
    return undefined;
  }
}

/** Every number of contents must belong to one queue or topic, or be abandoned. */
function checkNumbers(environment: Environment, catalog: Catalog, report: Report): void {
  const owners = new Map<number, string>(catalog.abandoned.map((number) => [number, 'nobody']));
  for (const { id, numbers } of catalog.owners) {
    for (const number of numbers) {
      const other = owners.get(number);
      if (other !== undefined) report(`${id} has the contents of ${other}`);
      owners.set(number, id);
    }
  }
  for (const key of strayKeys(environment, catalog))
    report(`${keyText(key)} belongs to no queue or topic`);
}

/** The kinds whose records are JSON. */
const jsonKinds = rowKinds.filter((kind) => kind !== 'delivery');

class OwnerCheck {
  readonly #environment: Environment;
  readonly #owner: OwnerRecords;
  readonly #contents: number;
  readonly #report: Report;
  readonly #contentsLeft: Walk<Buffer>;
  /** The messages whose contents share a record, as far as they were read, and those of them that are not removed. */
  #sharing: number[] = [];
  #sharingLive: number[] = [];
  readonly #deliveriesLeft: Walk<KeptDelivery>;
  #counter = 0;
  #windowFrom = 0;
  #messages = 0;
  #received = 0;
  #windowEntries = 0;
  #bodyBytes = 0;
  #sentAt = 0;
  readonly #found: Map<Kind, number> = new Map();

  constructor(environment: Environment, owner: OwnerRecords, report: Report) {
    this.#environment = environment;
    this.#owner = owner;
    this.#contents = owner.contents;
    this.#report = (text) => report(`${owner.id}: ${text}`);
    this.#contentsLeft = this.#walk('content', (value) => value);
    this.#deliveriesLeft = this.#walk('delivery', readDelivery);
  }

  run(): void {
    const head = attempt(this.#report, 'head', () => {
      const bytes = this.#environment.get(keyOf('head', this.#contents, 0));
      return bytes === undefined ? emptyHead : readHead(bytes);
    });
    this.#checkBlocks(head);
    for (const kind of jsonKinds) this.#found.set(kind, this.#checkJson(kind));
  }

  queue(): CheckedQueue {
    return {
      name: this.#owner.name,
      messages: this.#messages,
      received: this.#received,
      windowEntries: this.#windowEntries,
      bodyBytes: this.#bodyBytes,
    };
  }

  topic(): CheckedTopic {
    return {
      name: this.#owner.name,
      subscriptions: this.#found.get('subscription') ?? 0,
      windowEntries: this.#windowEntries,
      archived: this.#found.get('archived') ?? 0,
      posts: this.#found.get('post') ?? 0,
    };
  }

  /** If the head cannot be read, what is found is not compared with it. */
  #checkBlocks(head: Head | undefined): void {
    this.#counter = head?.counter ?? Number.POSITIVE_INFINITY;
    this.#windowFrom = head?.windowFrom ?? 0;
    for (const { key, value } of this.#range('block', this.#contents)) {
      this.#checkBlock(idIn(key), value);
    }
    for (const id of this.#contentsLeft.upTo(Number.POSITIVE_INFINITY)) {
      this.#report(`content ${id} belongs to no message`);
    }
    for (const id of this.#deliveriesLeft.upTo(Number.POSITIVE_INFINITY)) {
      this.#report(`delivery ${id} belongs to no message`);
    }
    if (head === undefined) return;
    this.#compare('messages', head.messages, this.#messages);
    this.#compare('window entries', head.windowEntries, this.#windowEntries);
  }

  /** Returns how many there are. */
  #checkJson(kind: (typeof jsonKinds)[number]): number {
    let count = 0;
    for (const number of this.#owner.numbers) {
      for (const { key, value } of this.#range(kind, number)) {
        const id = rowFamilies[kind].key === 'text' ? textIn(key) : idIn(key);
        attempt(this.#report, `${kind} ${id}`, () => jsonIn(value, 'record'));
        count += 1;
      }
    }
    return count;
  }

  #compare(what: string, noted: number, found: number): void {
    if (noted !== found) this.#report(`${found} ${what} found, ${noted} expected`);
  }

  #checkBlock(number: number, bytes: Buffer): void {
    const block = new Block(number);
    attempt(this.#report, `removed ${number}`, () => {
      const removed = this.#environment.get(keyOf('removed', this.#contents, number));
      if (removed !== undefined) block.setRemoved(removed);
    });
    attempt(this.#report, `block ${number}`, () =>
      readBlock({ owner: this.#owner, number, bytes }, new GroupTexts(), {
        message: (id, { sentAt, deadLetterSource }, isFirst) => {
          if (blockOf(id) !== number)
            this.#report(`message ${id} is in the wrong block, ${number}`);
          if (isFirst) this.#checkContents();
          this.#sharing.push(id);
          if (block.isRemoved(id)) return;
          this.#sharingLive.push(id);
          this.#checkMessage(id, sentAt, deadLetterSource !== undefined);
        },
        windowEntry: (id, entry, digests) => this.#checkWindowEntry(id, entry, digests),
      }),
    );
    this.#checkContents();
  }

  #checkMessage(id: number, sentAt: number, isDeadLetter: boolean): void {
    this.#messages += 1;
    if (id > this.#counter) this.#report(`message ${id} is above the counter ${this.#counter}`);
    // Dead letters of a standard queue keep their send time.
    if (!isDeadLetter && sentAt < this.#sentAt) this.#report(`message ${id} is out of order`);
    if (!isDeadLetter) this.#sentAt = sentAt;
    for (const other of this.#deliveriesLeft.upTo(id)) {
      this.#report(`delivery ${other} belongs to no message`);
    }
    const delivery = this.#deliveriesLeft.take(id);
    if (delivery === undefined) return;
    this.#received += 1;
    if (Math.max(delivery.stamp, delivery.receipt) > this.#counter) {
      this.#report(`delivery ${id} is above the counter ${this.#counter}`);
    }
  }

  /**
   * Called once all messages that share a record of contents are known. A record whose messages are all gone is found later.
   */
  #checkContents(): void {
    const [key = 0] = this.#sharing;
    const slots = new Set(this.#sharing.map(slotOf));
    const live = this.#sharingLive;
    this.#sharing = [];
    this.#sharingLive = [];
    if (live.length === 0) return;
    for (const other of this.#contentsLeft.upTo(key)) {
      this.#report(`content ${other} belongs to no message`);
    }
    const record = this.#contentsLeft.take(key);
    if (record === undefined) {
      for (const id of live) this.#report(`message ${id} has no content`);
      return;
    }
    const found = attempt(this.#report, `content ${key}`, () => slotsIn(record, key));
    for (const slot of found ?? []) {
      if (!slots.has(slot)) this.#report(`content ${key} has a part that belongs to no message`);
    }
    for (const id of live) this.#checkContent(id, record);
  }

  #checkContent(id: number, record: Buffer): void {
    attempt(this.#report, `content ${id}`, () => {
      const { body, bodyMd5 } = readContent(contentIn(record, id));
      const actualMd5 = createHash('md5').update(body, 'utf8').digest('hex');
      if (bodyMd5 !== actualMd5) this.#report(`the body of message ${id} does not match its MD5`);
      this.#bodyBytes += Buffer.byteLength(body);
    });
  }

  #checkWindowEntry(id: number, entry: LoadedWindowEntry, digests: WindowDigests): void {
    if (id < this.#windowFrom) return;
    this.#windowEntries += 1;
    if (id > this.#counter)
      this.#report(`window entry ${id} is above the counter ${this.#counter}`);
    const expected = this.#owner.digester.of(entry);
    const isSame = (Object.keys(expected) as (keyof WindowDigests)[]).every(
      (word) => expected[word] === digests[word],
    );
    if (!isSame) this.#report(`window entry ${id} is stored under a wrong id`);
  }

  #range(kind: Kind, number: number): Iterable<Entry> {
    return this.#environment.range(rangeOf(kind, number), (key) =>
      this.#report(`${keyText(key)} does not match its checksum`),
    );
  }

  #walk<T>(kind: 'content' | 'delivery', read: (value: Buffer) => T): Walk<T> {
    return new Walk(this.#range(kind, this.#contents), (value, id) =>
      attempt(this.#report, `${kind} ${id}`, () => read(value)),
    );
  }
}

/** Records in order of their sequence, consumed by a caller that goes in the same order. */
class Walk<T> {
  readonly #records: Iterator<{ key: Buffer; value: Buffer }>;
  readonly #read: (value: Buffer, id: number) => T | undefined;
  #next: { readonly id: number; readonly value: Buffer } | undefined;

  constructor(
    records: Iterable<{ key: Buffer; value: Buffer }>,
    read: (value: Buffer, id: number) => T | undefined,
  ) {
    this.#records = records[Symbol.iterator]();
    this.#read = read;
    this.#advance();
  }

  /** Skips the records before the sequence and yields their ids. */
  *upTo(sequence: number): Generator<number> {
    while (this.#next !== undefined && this.#next.id < sequence) {
      yield this.#next.id;
      this.#advance();
    }
  }

  take(sequence: number): T | undefined {
    const next = this.#next;
    if (next?.id !== sequence) return undefined;
    this.#advance();
    return this.#read(next.value, sequence);
  }

  #advance(): void {
    const { value, done } = this.#records.next();
    this.#next = done === true ? undefined : { id: idIn(value.key), value: value.value };
  }
}
