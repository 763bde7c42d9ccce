/**
 * The store in an LMDB file: an answer leaves only after its commit is on disk. The changes of all commands that arrive
 * together become one transaction, written by LMDB's own thread; meanwhile further changes gather for the next one. So the
 * disk determines the number of commits, and the load their size. At most one commit is in flight: if it fails, nothing that
 * depends on it may be kept.
 *
 * Memory holds no bodies: a content is encoded on arrival and read again for its delivery. Until its commit is done it is also
 * held in memory (record-mapper.ts), because a receive can come sooner.
 *
 * When a commit fails, its changes and those gathered since are lost, and their requests get an error. The queues and topics
 * concerned are loaded again from the file into the engine. Test commits are retried until writes succeed (recovery.ts).
 * Read-only commands are answered all the while; their expiry gathers and is written later. If loading fails too, the
 * in-memory state may no longer match the disk, and nothing is answered until a restart (`abandon`).
 */

import {
  type Change,
  type KeptPost,
  type KeptWindowEntry,
  type MessageContent,
  type OwnerId,
  ownerOf,
  type Publication,
} from '../../core/changes.ts';
import { Unavailable } from '../backend.ts';
import { ByteWriter } from '../records/bytes.ts';
import { jsonOf } from '../records/json-record.ts';
import { preparedNow } from '../running/prepared-answers.ts';
import type { Store, StoreUser } from '../store.ts';
import { Batch } from './commit/batch.ts';
import { type Attempt, Recovery } from './commit/recovery.ts';
import { readingError } from './file/data-error.ts';
import type { Environment } from './file/environment.ts';
import { diskIsFull, type Put } from './file/lmdb-file.ts';
import { Damage, refuseDamage } from './records/damage.ts';
import { nameKeyOf, probeKeyOf } from './records/keys.ts';
import { timeKey } from './records/loading.ts';
import { RecordMapper } from './records/record-mapper.ts';

/** How many turns of the event loop a commit waits for further changes, as long as each turn brings many. */
const gatheringTurnsMax = 8;
/** How long a commit waits for the clients that were just answered, as a part of the time that the previous one took. */
const awaitedShare = 0.25;
/** A commit that took longer was stalled, and says nothing about the next one. */
const commitMsMax = 20;
const retryMs = 1000;

const probeRecordBytes = 1000;
const probeRecordsMax = 1000;
const probeKeys = { start: probeKeyOf(''), end: nameKeyOf('store', 'probf') };

const cannotLoadAgain = 'what is kept could not be loaded again, so the server has to be restarted';

/** Called with the damage that a start found, if any; if it returns, the damaged records are removed. */
export type OnLoaded = (damage: Damage) => void;

export interface LmdbStoreOptions {
  /** Measures real time, in milliseconds: the user's clock may stand still. */
  readonly stopwatch?: () => number;
  /** Default: any damage is an error. */
  readonly onLoaded?: OnLoaded;
}

export class LmdbStore implements Store {
  readonly kind = 'lmdb';
  readonly #environment: Environment;
  readonly #user: StoreUser;
  readonly #stopwatch: () => number;
  readonly #onLoaded: OnLoaded;
  readonly #records: RecordMapper;
  /** The writers of finished batches, to be reused. */
  readonly #writers: ByteWriter[] = [];
  #gathering: Batch = this.#newBatch();
  #writing: Batch | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  /** When the last commit ended, and how long it took. */
  #committedAt = 0;
  #commitMs = 0;
  /** How many requests are expected for the next commit, and until when it waits for them. */
  #awaited = 0;
  #awaitedUntil = 0;
  readonly #recovery: Recovery = new Recovery();
  /** Why what is kept could not be loaded again. Final: no later commit ends it. */
  #abandonedFor: string | undefined;
  #isAttemptDue = false;
  #isClosing = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(
    environment: Environment,
    user: StoreUser,
    {
      stopwatch = () => performance.now(),
      onLoaded = (damage) => refuseDamage(environment.directory, damage),
    }: LmdbStoreOptions = {},
  ) {
    this.#environment = environment;
    this.#user = user;
    this.#stopwatch = stopwatch;
    this.#onLoaded = onLoaded;
    this.#records = new RecordMapper(environment, user);
  }

  apply(changes: readonly Change[]): void {
    if (changes.length === 0) return;
    try {
      for (const change of changes) this.#records.apply(change, this.#gathering);
    } catch (error) {
      // The engine has all of them, the batch a part: none of it may be kept.
      this.#gathering.flaw ??= readingError(this.#environment.directory, error) as Error;
      for (const change of changes) this.#gathering.owners.add(ownerOf(change));
    }
    this.#schedule();
  }

  noteTime(): void {
    this.#gathering.writeKey(timeKey, this.#time());
    this.#schedule();
  }

  kept(): Promise<void> | undefined {
    return this.#unkept()?.done();
  }

  answer<O, A>(outcome: O, prepare: (outcome: O) => A): Promise<A> {
    const batch = this.#unkept();
    return batch === undefined
      ? preparedNow(outcome, prepare)
      : batch.answers.add(outcome, prepare);
  }

  unavailable(): string | undefined {
    return this.#abandonedFor ?? this.#recovery.reason;
  }

  get isFrozen(): boolean {
    return this.isIncomplete || this.#recovery.isFrozen;
  }

  get isIncomplete(): boolean {
    return this.#abandonedFor !== undefined;
  }

  content(queue: string, sequence: number): MessageContent | undefined {
    return this.#records.content(queue, sequence);
  }

  windowEntries(owner: OwnerId, sequences: readonly number[]): (KeptWindowEntry | undefined)[] {
    return this.#records.windowEntries(owner, sequences);
  }

  archived(topic: string, sequence: number): Publication | undefined {
    return this.#records.archived(topic, sequence);
  }

  post(topic: string, id: number): KeptPost | undefined {
    return this.#records.post(topic, id);
  }

  fileBytes(): number {
    return this.#environment.usage().fileBytes;
  }

  *load(): Generator<readonly Change[]> {
    try {
      const damage = new Damage();
      yield* this.#records.load(this.#gathering, damage);
      this.#onLoaded(damage);
      for (const key of damage.removals) this.#gathering.writeKey(key, null);
      this.#removeProbe();
      this.#measure();
      this.#sweep();
    } catch (error) {
      throw readingError(this.#environment.directory, error);
    }
  }

  applied(owners: ReadonlySet<string>): Iterable<readonly Change[]> {
    const batches = this.#writing === undefined ? [] : [this.#writing];
    return this.#records.applied(owners, [...batches, this.#gathering]);
  }

  abandon(error: unknown): void {
    // What cannot be read is not overwritten either: the store stays frozen.
    const { message } = readingError(this.#environment.directory, error) as Error;
    const reason = `${cannotLoadAgain}: ${message}`;
    const lost = this.#gathering;
    this.#gathering = this.#newBatch();
    this.#abandonedFor = reason;
    this.#stopTrying();
    lost.fail(new Unavailable(reason));
  }

  clear(): void {
    this.#records.clear(this.#gathering);
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#retry);
    // Also if the store is frozen: an attempt may be in flight, and end that.
    await this.#writing?.done().catch(() => {});
    for (let kept = this.kept(); kept !== undefined; kept = this.kept()) await kept.catch(() => {});
    clearImmediate(this.#scheduled);
    await this.#environment.close();
  }

  /** The batch that everything applied so far is kept with; undefined if it is kept. */
  #unkept(): Batch | undefined {
    if (this.isFrozen) return undefined;
    if (this.#gathering.isEmpty) return this.#writing;
    this.#schedule();
    return this.#gathering;
  }

  #schedule(): void {
    const isBusy = this.#writing !== undefined || this.#scheduled !== undefined;
    if (isBusy || this.isFrozen || this.#gathering.isEmpty) return;
    const now = this.#stopwatch();
    const isSoon = now < this.#committedAt + this.#commitMs;
    this.#awaitedUntil = isSoon ? now + this.#commitMs * awaitedShare : now;
    this.#awaitMore(gatheringTurnsMax);
  }

  /** Commits at the end of a turn of the event loop after which it is not worth waiting for more. */
  #awaitMore(turns: number): void {
    const { parts } = this.#gathering;
    this.#scheduled = setImmediate(() => {
      this.#scheduled = undefined;
      if (this.#isMoreToCome(parts, turns)) this.#awaitMore(turns - 1);
      else this.#commit();
    });
  }

  /**
   * Clients that were answered together ask again together: if the first of them does so soon after the commit, the others are
   * awaited, for a part of the time that another commit would take. A single early request would otherwise get a commit of its
   * own while all others wait for that. At other times, a turn that added half as much again may not be the last to do so.
   */
  #isMoreToCome(partsBefore: number, turns: number): boolean {
    if (this.#isClosing) return false;
    const { parts, answers } = this.#gathering;
    if (this.#stopwatch() < this.#awaitedUntil) return answers.size < this.#awaited;
    return turns > 0 && 2 * (parts - partsBefore) >= partsBefore;
  }

  #commit(): void {
    const batch = this.#gathering;
    this.#gathering = this.#newBatch();
    this.#writing = batch;
    const startedAt = this.#stopwatch();
    this.#write(batch).then(
      () => this.#committed(batch, this.#stopwatch() - startedAt),
      (error: Error) => this.#failed(error.message, batch),
    );
    batch.answers.prepare();
  }

  #write(batch: Batch): Promise<void> {
    if (batch.flaw !== undefined) return Promise.reject(batch.flaw);
    this.#records.complete(batch);
    // LMDB would find out too, and complain to standard error in its own words.
    const room = this.unavailable() === undefined ? this.#environment.room() : undefined;
    const isTooLarge = room !== undefined && room.bytes < batch.bytes;
    return isTooLarge ? Promise.reject(new Error(diskIsFull)) : this.#writeAll(batch);
  }

  #writeAll(batch: Batch): Promise<void> {
    const writes = (put: Put): void => {
      batch.writeAll(put);
      put(timeKey, this.#time());
    };
    return this.#environment.write(writes, { isDirect: batch.isDirect });
  }

  /** The current time, written with each commit: a later start does not go back before it. */
  #time(): Buffer {
    return jsonOf(this.#user.now());
  }

  #newBatch(): Batch {
    const writer = (): ByteWriter => this.#writers.pop() ?? new ByteWriter();
    return new Batch(writer(), writer());
  }

  /** LMDB no longer reads what the batch has written. */
  #reuseWriters({ writer, contentWriter }: Batch): void {
    for (const each of [writer, contentWriter]) {
      each.reset();
      this.#writers.push(each);
    }
  }

  #committed(batch: Batch, ms: number): void {
    this.#writing = undefined;
    this.#awaited = batch.answers.size + this.#gathering.answers.size;
    this.#committedAt = this.#stopwatch();
    this.#commitMs = Math.min(ms, commitMsMax);
    // One more than the batch has: the time.
    this.#user.committed({ records: batch.records + 1, bytes: batch.bytes, ms });
    this.#records.committed(batch, this.#gathering);
    this.#reuseWriters(batch);
    batch.succeed();
    this.#recovery.committed();
    this.#measure();
    if (this.#isAttemptDue) this.#tryAgain();
    this.#sweep();
  }

  /** Not while something is written. */
  #measure(): void {
    const hasChanged = this.#recovery.measured(this.#environment.room());
    if (!hasChanged || this.#isClosing || this.isIncomplete) return;
    if (this.unavailable() === undefined) {
      this.#stopTrying();
      this.#user.resume();
    } else {
      this.#keepTrying();
      this.#user.suspend();
    }
  }

  #keepTrying(): void {
    if (this.#isClosing || this.isIncomplete) return;
    this.#retry ??= setInterval(() => this.#tryAgain(), retryMs).unref();
  }

  #stopTrying(): void {
    clearInterval(this.#retry);
    this.#retry = undefined;
  }

  /** Removes some abandoned records, unless the store is frozen or closing, and commits what has gathered. */
  #sweep(): void {
    if (!this.isFrozen && !this.#isClosing) this.#records.sweep(this.#gathering);
    this.#schedule();
  }

  #failed(reason: string, batch: Batch): void {
    const lost = this.#gathering;
    const owners = new Set([...batch.owners, ...lost.owners]);
    this.#recovery.failed(reason, batch.bytes + lost.bytes);
    this.#writing = undefined;
    this.#gathering = this.#newBatch();
    this.#records.forget(owners);
    this.#keepTrying();
    try {
      const damage = new Damage();
      const kept = this.#records.load(this.#gathering, damage, owners);
      this.#user.takeBack(owners, kept);
      refuseDamage(this.#environment.directory, damage);
    } catch (error) {
      this.abandon(error);
    }
    this.#user.suspend();
    const error = new Unavailable(reason);
    batch.fail(error);
    lost.fail(error);
  }

  /** Tries a commit, after the one that is in flight. */
  #tryAgain(): void {
    this.#isAttemptDue = this.#writing !== undefined || this.#scheduled !== undefined;
    if (this.#isAttemptDue || this.#isClosing || this.isIncomplete) return;
    this.#measure();
    if (this.unavailable() === undefined) return;
    const hasRoom = (bytes: number): boolean => this.#environment.hasRoom(bytes);
    const attempt = this.#recovery.next(hasRoom, this.#environment.room());
    if (attempt === undefined) return;
    const batch = this.#newBatch();
    if (attempt === 'add') writeProbe(batch, this.#recovery.attemptBytes);
    batch.isDirect = attempt === 'add';
    this.#writing = batch;
    const checkpointed = attempt === 'add' ? this.#environment.checkpoint() : Promise.resolve();
    checkpointed
      .then(() => this.#writeAll(batch))
      .then(
        () => this.#recovered(attempt),
        (error: Error) => {
          this.#writing = undefined;
          this.#recovery.attemptFailed(attempt, error.message);
          this.#schedule();
        },
      )
      .finally(() => {
        this.#reuseWriters(batch);
        batch.succeed();
      });
  }

  #recovered(attempt: Attempt): void {
    this.#writing = undefined;
    this.#recovery.succeeded(attempt);
    if (attempt === 'add') {
      this.#stopTrying();
      this.#removeProbe();
    }
    this.#sweep();
    if (!this.#isClosing && !this.isIncomplete) this.#user.resume();
  }

  /** Also at a start: a server that was killed may have left it. */
  #removeProbe(): void {
    for (const key of this.#environment.keys(probeKeys, probeRecordsMax)) {
      this.#gathering.writeKey(Buffer.from(key), null);
    }
  }
}

/** As records of the size of a small message: they need no pages side by side, as one large record would. */
function writeProbe(batch: Batch, bytes: number): void {
  const records = Math.min(Math.ceil(bytes / probeRecordBytes), probeRecordsMax);
  for (let number = 0; number < records; number += 1) {
    batch.writeKey(probeKeyOf(` ${number}`), Buffer.alloc(probeRecordBytes));
  }
}
