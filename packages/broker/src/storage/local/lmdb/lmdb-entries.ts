/**
 * Entries in an LMDB file: answered means kept. Changes of all commands of one turn of the event loop become one
 * transaction, written by LMDB's own thread; while it runs, the next turns' changes gather for the next one. So the
 * number of commits follows the disk, and their size the load.
 *
 * Memory holds no bodies: content is encoded as it comes and read again when it is delivered. Until its commit is over
 * it is also at hand here, because a receive can come sooner.
 *
 * When a commit fails, what it held and what has gathered since is lost, and said to be. The queues concerned are read
 * again from the file and given back to the engine; nothing is changed until a commit succeeds, which is tried by
 * itself. Looking goes on; what it makes expire gathers and is written then.
 */

import type {
  Change,
  KeptMessage,
  KeptWindowEntry,
  MessageContent,
} from '../../../core/changes.ts';
import { digestsOf } from '../../../core/queue/deduplication-window.ts';
import { Unavailable } from '../../backend.ts';
import type { Entries, EntriesUser } from '../entries.ts';
import { blockOf, GroupTexts, readBlock } from './block.ts';
import { ByteWriter } from './bytes.ts';
import { reading, readingError } from './data-error.ts';
import type { Environment } from './environment.ts';
import { attemptKeyOf, contentKinds, keyOf, nameKeyOf, rangeOf } from './keys.ts';
import { loadQueue, loadStore } from './loading.ts';
import { type Block, QueueRecords } from './queue-records.ts';
import { readContent, writeContent, writeDelivery } from './records.ts';

/** Keys cleared away with one commit, so that clearing never holds up anybody. */
const sweptKeysMax = 1000;
const retryMs = 1000;
const probeBytesMin = 64 * 1024;

export class LmdbEntries implements Entries {
  readonly kind = 'lmdb';
  readonly #environment: Environment;
  readonly #user: EntriesUser;
  /** Of batches that are done, for the next ones. */
  readonly #writers: ByteWriter[] = [];
  readonly #queues: Map<string, QueueRecords> = new Map();
  readonly #names: Set<string> = new Set();
  /** Numbers of contents that are to be cleared away. */
  readonly #givenUp: number[] = [];
  #contentsMax = 0;
  #gathering: Batch = new Batch(new ByteWriter());
  #writing: Batch | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #unavailable: string | undefined;
  #isClosing = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(environment: Environment, user: EntriesUser) {
    this.#environment = environment;
    this.#user = user;
  }

  apply(changes: readonly Change[]): void {
    if (changes.length === 0) return;
    for (const change of changes) {
      this.#gathering.queues.add(change.queue);
      this.#applyOne(change);
    }
    this.#schedule();
  }

  kept(): Promise<void> | undefined {
    if (this.#unavailable !== undefined) return undefined;
    if (this.#gathering.isEmpty) return this.#writing?.done();
    this.#schedule();
    return this.#gathering.done();
  }

  unavailable(): string | undefined {
    return this.#unavailable;
  }

  content(queue: string, sequence: number): MessageContent | undefined {
    const records = this.#queues.get(queue);
    if (records === undefined) return undefined;
    const fresh = records.fresh.get(sequence);
    if (fresh !== undefined) return fresh;
    const bytes = this.#environment.get(keyOf('content', records.contents, sequence));
    return bytes && reading(this.#environment.directory, () => readContent(bytes));
  }

  windowEntry(queue: string, sequence: number): KeptWindowEntry | undefined {
    const records = this.#queues.get(queue);
    const block = records?.blocks.get(blockOf(sequence));
    if (records === undefined || block === undefined) return undefined;
    const bytes =
      block.growing?.bytes() ??
      this.#environment.get(keyOf('block', records.contents, block.number));
    let found: KeptWindowEntry | undefined;
    readBlock(block.number, bytes ?? Buffer.alloc(0), new GroupTexts(), {
      message: () => {},
      windowEntry: (id, entry) => {
        if (id === sequence) found = entry.whole();
      },
    });
    return found;
  }

  *load(): Generator<readonly Change[]> {
    try {
      yield* this.#loadAll();
    } catch (error) {
      throw readingError(this.#environment.directory, error);
    }
  }

  *#loadAll(): Generator<readonly Change[]> {
    const store = loadStore(this.#environment);
    for (const { name, time } of store.names) {
      this.#names.add(name);
      yield [{ kind: 'name', queue: name, value: time }];
    }
    this.#givenUp.push(...store.givenUp);
    const numbers = [...store.givenUp, ...store.queues.map(({ contents }) => contents)];
    this.#contentsMax = numbers.reduce((most, number) => Math.max(most, number), 0);
    for (const { name, kept, contents } of store.queues) {
      yield* this.#loadQueue(new QueueRecords(name, kept, contents));
    }
    this.#sweep();
  }

  clear(): void {
    for (const queue of [...this.#queues.keys()]) {
      this.apply([{ kind: 'queue', queue, value: null }]);
    }
    for (const queue of [...this.#names]) this.apply([{ kind: 'name', queue, value: null }]);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#retry);
    for (let kept = this.kept(); kept !== undefined; kept = this.kept()) await kept.catch(() => {});
    clearImmediate(this.#scheduled);
    await this.#environment.close();
  }

  *#loadQueue(records: QueueRecords): Generator<readonly Change[]> {
    this.#queues.set(records.name, records);
    yield* loadQueue(this.#environment, records, this.#user.now());
    for (const block of records.blocks.values()) {
      if (block.isOver) this.#gathering.blocks.set(block, records);
    }
  }

  #applyOne(change: Change): void {
    if (change.kind === 'name') {
      this.#setName(change.queue, change.value);
      return;
    }
    if (change.kind === 'queue') {
      if (change.value === null) this.#deleteQueue(change.queue);
      else this.#putQueue(change.queue, change.value);
      return;
    }
    const records = this.#recordsOf(change.queue);
    switch (change.kind) {
      case 'counter':
        records.counter = change.value;
        this.#gathering.heads.add(records);
        break;
      case 'message':
        if (change.value === null) this.#removeMessage(records, change.id);
        else this.#addMessage(records, change.id, change.value);
        break;
      case 'delivery': {
        const { value } = change;
        const bytes = value && writeDelivery(this.#gathering.writer, value);
        this.#gathering.write('delivery', records.contents, change.id, bytes);
        break;
      }
      case 'window':
        if (change.value === null) this.#removeWindowEntry(records, change.id);
        else this.#addWindowEntry(records, change.id, change);
        break;
      case 'attempt': {
        const key = attemptKeyOf(records.contents, change.id);
        this.#gathering.writeKey(key, change.value && jsonOf(change.value));
        break;
      }
      case 'task':
        if (change.value === null) records.tasks.delete(change.id);
        else records.tasks.add(change.id);
        this.#gathering.writeKey(
          nameKeyOf('task', `${records.name} ${change.id}`),
          change.value && jsonOf(change.value),
        );
        break;
      case 'cleared':
        if (change.what === 'contents') this.#clearContents(records);
        else this.#clearWindow(records);
        break;
    }
  }

  #recordsOf(queue: string): QueueRecords {
    const records = this.#queues.get(queue);
    if (records === undefined)
      throw new Error(`a change came for queue ${queue}, which is not kept`);
    return records;
  }

  #setName(name: string, time: number | null): void {
    if (time === null) this.#names.delete(name);
    else this.#names.add(name);
    this.#gathering.writeKey(nameKeyOf('name', name), time === null ? null : jsonOf(time));
  }

  #putQueue(name: string, kept: QueueRecords['kept']): void {
    const known = this.#queues.get(name);
    const records = known ?? new QueueRecords(name, kept, this.#newContents());
    records.kept = kept;
    this.#queues.set(name, records);
    this.#writeQueue(records);
  }

  #writeQueue({ name, kept, contents }: QueueRecords): void {
    this.#gathering.writeKey(nameKeyOf('queue', name), jsonOf({ kept, contents }));
  }

  #deleteQueue(name: string): void {
    const records = this.#recordsOf(name);
    records.isGone = true;
    this.#queues.delete(name);
    this.#gathering.writeKey(nameKeyOf('queue', name), null);
    for (const id of records.tasks) {
      this.#gathering.writeKey(nameKeyOf('task', `${name} ${id}`), null);
    }
    this.#giveUp(records.contents);
  }

  #clearContents(records: QueueRecords): void {
    this.#giveUp(records.contents);
    records.startAnew(this.#newContents());
    this.#writeQueue(records);
    this.#gathering.heads.add(records);
  }

  #clearWindow(records: QueueRecords): void {
    records.windowFrom = records.lastSequence + 1;
    records.windowEntries = 0;
    this.#gathering.heads.add(records);
    for (const block of records.blocks.values()) {
      block.windowEntries = 0;
      if (block.isOver) this.#gathering.blocks.set(block, records);
    }
  }

  #newContents(): number {
    this.#contentsMax += 1;
    return this.#contentsMax;
  }

  #giveUp(contents: number): void {
    this.#givenUp.push(contents);
    this.#gathering.write('given-up', contents, 0, Buffer.alloc(1));
  }

  #addMessage(records: QueueRecords, sequence: number, message: KeptMessage): void {
    const content = 'from' in message.content ? this.#moved(message.content.from) : message.content;
    const block = records.growing(blockOf(sequence));
    block.growing.addMessage(sequence, message);
    block.live += 1;
    block.hasGrown = true;
    records.messages += 1;
    records.lastSequence = sequence;
    records.fresh.set(sequence, content);
    this.#gathering.blocks.set(block, records);
    this.#gathering.fresh.push({ records, sequence });
    const bytes = writeContent(this.#gathering.writer, content);
    this.#gathering.write('content', records.contents, sequence, bytes);
  }

  #moved({
    queue,
    sequence,
  }: {
    readonly queue: string;
    readonly sequence: number;
  }): MessageContent {
    const content = this.content(queue, sequence);
    if (content !== undefined) return content;
    throw new Error(`a message moved from ${queue} ${sequence}, which is not kept`);
  }

  #removeMessage(records: QueueRecords, sequence: number): void {
    const block = records.blocks.get(blockOf(sequence)) as Block;
    block.remove(sequence);
    records.messages -= 1;
    this.#gathering.heads.add(records);
    records.fresh.delete(sequence);
    this.#gathering.blocks.set(block, records);
    this.#gathering.write('content', records.contents, sequence, null);
  }

  #addWindowEntry(
    records: QueueRecords,
    sequence: number,
    { value, digests }: Extract<Change, { kind: 'window' }>,
  ): void {
    const entry = value as KeptWindowEntry;
    const block = records.growing(blockOf(sequence));
    block.growing.addWindowEntry(sequence, entry, digests ?? digestsOf(entry));
    block.windowEntries += 1;
    block.hasGrown = true;
    records.windowEntries += 1;
    records.lastSequence = sequence;
    this.#gathering.blocks.set(block, records);
  }

  #removeWindowEntry(records: QueueRecords, sequence: number): void {
    const block = records.blocks.get(blockOf(sequence)) as Block;
    block.windowEntries -= 1;
    records.windowEntries -= 1;
    records.windowFrom = sequence + 1;
    this.#gathering.heads.add(records);
    if (block.isOver) this.#gathering.blocks.set(block, records);
  }

  #schedule(): void {
    const isBusy = this.#writing !== undefined || this.#scheduled !== undefined;
    if (isBusy || this.#unavailable !== undefined) return;
    this.#scheduled = setImmediate(() => {
      this.#scheduled = undefined;
      this.#commit();
    });
  }

  #commit(): void {
    const batch = this.#gathering;
    this.#gathering = this.#newBatch();
    this.#writing = batch;
    this.#complete(batch);
    this.#environment
      .write((put) => batch.writeAll(put))
      .then(
        () => this.#committed(batch),
        (error: Error) => this.#failed(error.message, batch),
      );
  }

  #newBatch(): Batch {
    return new Batch(this.#writers.pop() ?? new ByteWriter());
  }

  /** Adds what is written once for all changes of the batch. */
  #complete(batch: Batch): void {
    for (const [block, records] of batch.blocks) {
      if (!records.isGone && records.blocks.get(block.number) === block) {
        this.#completeBlock(batch, block, records);
      }
    }
    for (const records of batch.heads) {
      if (!records.isGone) batch.write('head', records.contents, 0, records.headBytes());
    }
    batch.writeKey(nameKeyOf('store', 'time'), jsonOf(this.#user.now()));
  }

  #completeBlock(batch: Batch, block: Block, records: QueueRecords): void {
    const { contents } = records;
    if (block.isOver) {
      records.dropBlock(block);
      if (!block.isInFile) return;
      batch.write('block', contents, block.number, null);
      if (block.hasRemoved) batch.write('removed', contents, block.number, null);
      return;
    }
    if (block.hasGrown && block.growing !== undefined) {
      batch.write('block', contents, block.number, block.growing.bytes());
      block.hasGrown = false;
      block.isInFile = true;
    }
    if (block.hasRemoved) batch.write('removed', contents, block.number, block.removedBytes());
  }

  #committed(batch: Batch): void {
    this.#writing = undefined;
    for (const { records, sequence } of batch.fresh) records.fresh.delete(sequence);
    for (const [block, records] of batch.blocks) {
      const isDone = !records.isLast(block) && !this.#gathering.blocks.has(block);
      if (isDone) block.growing = undefined;
    }
    batch.writer.reset();
    this.#writers.push(batch.writer);
    batch.succeed();
    this.#sweep();
    if (!this.#gathering.isEmpty) this.#commit();
  }

  /** Clears away a part of what was given up; the rest follows with the next commit. */
  #sweep(): void {
    const contents = this.#givenUp[0];
    if (contents === undefined || this.#unavailable !== undefined || this.#isClosing) return;
    let room = sweptKeysMax;
    for (const kind of contentKinds) {
      for (const key of this.#environment.keys(rangeOf(kind, contents), room)) {
        this.#gathering.writeKey(Buffer.from(key), null);
        room -= 1;
      }
      if (room === 0) break;
    }
    if (room > 0) {
      this.#givenUp.shift();
      this.#gathering.write('given-up', contents, 0, null);
    }
    this.#schedule();
  }

  #failed(reason: string, batch: Batch): void {
    const lost = this.#gathering;
    const queues = new Set([...batch.queues, ...lost.queues]);
    this.#unavailable = reason;
    this.#writing = undefined;
    this.#gathering = this.#newBatch();
    this.#givenUp.length = 0;
    for (const queue of queues) {
      this.#queues.delete(queue);
      this.#names.delete(queue);
    }
    try {
      this.#user.takeBack(queues, this.#reload(queues));
    } catch (error) {
      this.#unavailable = String(readingError(this.#environment.directory, error));
    }
    const error = new Unavailable(reason);
    batch.fail(error);
    lost.fail(error);
    const bytes = Math.max(batch.bytes + lost.bytes, probeBytesMin);
    this.#retry = setInterval(() => this.#tryAgain(bytes), retryMs);
    this.#retry.unref();
  }

  /** What the file says of these names. */
  *#reload(names: ReadonlySet<string>): Generator<readonly Change[]> {
    const store = loadStore(this.#environment);
    this.#givenUp.push(...store.givenUp);
    for (const { name, time } of store.names) {
      if (!names.has(name)) continue;
      this.#names.add(name);
      yield [{ kind: 'name', queue: name, value: time }];
    }
    for (const { name, kept, contents } of store.queues) {
      if (names.has(name)) yield* this.#loadQueue(new QueueRecords(name, kept, contents));
    }
  }

  /** Writes as much as was lost, to see whether it would be lost again; then all goes on. */
  #tryAgain(bytes: number): void {
    if (this.#writing !== undefined || !this.#environment.hasRoom(2 * bytes)) return;
    const probe = this.#newBatch();
    probe.writeKey(nameKeyOf('store', 'probe'), Buffer.alloc(bytes));
    this.#writing = probe;
    this.#environment
      .write((put) => probe.writeAll(put))
      .then(
        () => this.#resume(),
        (error: Error) => {
          this.#writing = undefined;
          this.#unavailable = error.message;
        },
      );
  }

  #resume(): void {
    clearInterval(this.#retry);
    this.#writing = undefined;
    this.#unavailable = undefined;
    this.#gathering.writeKey(nameKeyOf('store', 'probe'), null);
    this.#sweep();
    this.#schedule();
    this.#user.resume();
  }
}

interface Written {
  readonly key: Buffer | undefined;
  readonly kind: Parameters<typeof keyOf>[0];
  readonly contents: number;
  readonly id: number;
  readonly value: Buffer | null;
}

/** What one commit will hold, and who waits for it. */
class Batch {
  readonly blocks: Map<Block, QueueRecords> = new Map();
  readonly heads: Set<QueueRecords> = new Set();
  readonly queues: Set<string> = new Set();
  readonly fresh: { readonly records: QueueRecords; readonly sequence: number }[] = [];
  /** Holds its records until it is written. */
  readonly writer: ByteWriter;
  bytes = 0;
  readonly #writes: Written[] = [];
  #done: Promise<void> | undefined;
  #resolve: (() => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(writer: ByteWriter) {
    this.writer = writer;
  }

  get isEmpty(): boolean {
    return this.#writes.length === 0 && this.blocks.size === 0 && this.heads.size === 0;
  }

  write(kind: Written['kind'], contents: number, id: number, value: Buffer | null): void {
    this.bytes += value?.length ?? 0;
    this.#writes.push({ key: undefined, kind, contents, id, value });
  }

  writeKey(key: Buffer, value: Buffer | null): void {
    this.bytes += value?.length ?? 0;
    this.#writes.push({ key, kind: 'store', contents: 0, id: 0, value });
  }

  writeAll(put: (key: Buffer, value: Buffer | null) => void): void {
    for (const { key, kind, contents, id, value } of this.#writes) {
      put(key ?? keyOf(kind, contents, id), value);
    }
  }

  done(): Promise<void> {
    this.#done ??= new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    return this.#done;
  }

  succeed(): void {
    this.#resolve?.();
  }

  fail(error: Error): void {
    this.#reject?.(error);
  }
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8');
}
