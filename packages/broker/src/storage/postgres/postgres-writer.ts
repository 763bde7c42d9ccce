/**
 * The writer of one of many nodes. All waiting commands of all owners go into one batch: lock what they touch, absorb what
 * other nodes have appended, look again at what they touch, apply, append, commit. An answer leaves after the COMMIT.
 *
 *   waiting-commands.ts   who waits, and for how long
 *   batch-commands.ts     which of them a batch carries
 *   catch-up.ts           what others have appended
 *   batch-rows.ts         what the batch appends
 *   owner-loads.ts        what is not here
 *   reachability.ts       whether the database answers
 *
 * The engine has no undo. When a batch is not committed, the owners it changed are forgotten and loaded again; commands that
 * are known not to be committed are tried again until their time is over.
 */

import { type Change, catalog, type OwnerId } from '../../core/changes.ts';
import type { Command, QueueDescription } from '../../core/commands.ts';
import { type Applied, Drifted, type Engine, type Ids } from '../../core/engine.ts';
import { type Cluster, type Losses, Unavailable } from '../backend.ts';
import type { Clock } from '../clock.ts';
import { preparedNow } from '../running/prepared-answers.ts';
import type { Writer, WriterUser } from '../running/writer.ts';
import { BatchCommands, type Candidate, FailedInBatch } from './batch-commands.ts';
import { BatchRows, type ContentSource } from './batch-rows.ts';
import { CatchUp } from './catch-up.ts';
import { isFromServer, isLastingRefusal, NoAnswer } from './connection.ts';
import type { ContentCache } from './content-cache.ts';
import { writtenHeld } from './held.ts';
import type { Appended, Begun, Due, Journal, LockedOwner, StillDue } from './journal.ts';
import { LostCommits } from './lost-commits.ts';
import { OwnerLoads } from './owner-loads.ts';
import { NotCommitted } from './postgres-journal.ts';
import { Reachability } from './reachability.ts';
import { Replica, type ReplicaOwner, type Taken } from './replica.ts';
import { UnreadableOwners } from './unreadable-owners.ts';
import { type Done, WaitingCommands } from './waiting-commands.ts';

export interface PostgresWriterOptions {
  readonly newEngine: () => Engine;
  readonly ids: Ids;
  readonly user: WriterUser;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly store: () => ContentSource;
  readonly cache: ContentCache;
  /** The formats of journal rows: the latest that this node reads, and the latest that all nodes read. */
  readonly formats: { readonly reads: number; readonly writes: () => number };
  /** Tells receivers at other nodes that these owners have something new. */
  readonly notify: (numbers: readonly number[]) => void;
  /** A receiver waits for this owner. */
  readonly noteWaiting: (owner: ReplicaOwner, until: number) => void;
  /** Keeps the time of a clock that is shared, moved by so much, and reads what others have kept. */
  readonly keepTime: ((movedMs: number) => Promise<void>) | undefined;
  readonly readTime: (() => Promise<void>) | undefined;
  /** Numbers and versions of owners with something due by this time, a part at a time. */
  readonly dueBy: (time: number) => AsyncIterable<readonly Due[]>;
  /** Keeps what is still due at these versions. */
  readonly noteDue: (owners: readonly StillDue[]) => Promise<void>;
  /** What these queues hold by this time, where the database has it. */
  readonly held: (
    queues: readonly ReplicaOwner[],
    now: number,
  ) => Promise<ReadonlyMap<OwnerId, QueueDescription>>;
  /** Told when the database no longer has what was committed, as after a failover to a standby that was behind. */
  readonly onLost: (text: string) => void;
  /** Who shares the database, and what is known of its journal. */
  readonly cluster: () => Pick<Cluster, 'node' | 'nodes' | 'journal'>;
  /** Removes everything; resolves when the database is empty. */
  readonly clear: () => Promise<void>;
  /** How long a command waits for the database; default 10 s. */
  readonly waitMs?: number | undefined;
  readonly close: () => Promise<void>;
}

/** A connection that broke is made anew at once; if that does not help, the database is away. So it is if it refuses twice. */
const failuresMax = 2;
const failedPauseMs = 20;
/** So often a batch passes over what the oldest command touches and others have locked; then it waits for it. */
const skippedFirstMax = 3;
const nothing: Taken = { pending: [], entries: [] };

export class PostgresWriter implements Writer {
  readonly kind = 'postgres';
  readonly replica: Replica;
  readonly #options: PostgresWriterOptions;
  readonly #waiting: WaitingCommands;
  readonly #unreadable: UnreadableOwners = new UnreadableOwners();
  readonly #lost: LostCommits;
  readonly #catchUp: CatchUp;
  readonly #commands: BatchCommands;
  readonly #rows: BatchRows;
  readonly #loads: OwnerLoads;
  readonly #reachability: Reachability;
  /** One thing at a time is done with what the node knows: a batch, a reset, loading the catalog. */
  #turn: Promise<unknown> = Promise.resolve();
  #working: Promise<void> | undefined;
  #isClosed = false;
  #timeKept: Promise<void> | undefined;
  /** What the batch is writing, for the case that it fails. */
  #taken: Taken = nothing;
  /**
   * The next batch waits for the owners of its first command: others had locked everything of this one, or what its first
   * command touches several times.
   */
  #mustWait = false;
  #skippedFirst = 0;
  /** Owners that a batch left to the next one, since others had locked them. */
  #skippedLocks = 0;
  /** Batches in a row that failed. */
  #failures = 0;

  constructor(options: PostgresWriterOptions) {
    const { newEngine, user, formats } = options;
    this.#options = options;
    this.#waiting = new WaitingCommands(options.waitMs);
    const onAbsorbed = (changes: readonly Change[]): void => this.#catchUp.note(changes);
    this.replica = new Replica(newEngine, onAbsorbed, formats.reads);
    this.#lost = new LostCommits(options);
    const shared = {
      ...options,
      lost: this.#lost,
      replica: this.replica,
      waiting: this.#waiting,
      unreadable: this.#unreadable,
    };
    this.#catchUp = new CatchUp(shared);
    this.#loads = new OwnerLoads({
      ...shared,
      now: () => this.#catchUp.now,
      onReloaded: () => void setImmediate(() => user.stirred('all')),
      inTurn: (work) => this.#inTurn(work),
    });
    this.#commands = new BatchCommands({
      ...shared,
      lead: () => this.#catchUp.lead,
      load: (owner) => void this.#loads.load(owner),
    });
    this.#rows = new BatchRows(shared);
    this.#reachability = new Reachability({
      reload: () =>
        this.#inTurn(async () => {
          await options.journal.tryAppend();
          await this.#loads.catalog();
        }),
      onFailure: (refusal) => this.#waiting.rejectAll(refusal),
      onAway: () => user.suspend(),
      onBack: () => user.resume(),
    });
  }

  get isFrozen(): boolean {
    return this.#reachability.reason !== undefined;
  }

  get isIncomplete(): boolean {
    return this.isFrozen;
  }

  unavailable(): string | undefined {
    return this.#reachability.reason;
  }

  losses(): Losses {
    return this.#lost.losses;
  }

  cluster(): Cluster {
    let loadedOwners = 0;
    for (const { mode } of this.replica.all()) if (mode === 'loaded') loadedOwners += 1;
    return {
      loadedOwners,
      ...this.#options.cluster(),
      absorbedChanges: this.#catchUp.absorbedCount,
      skippedLocks: this.#skippedLocks,
    };
  }

  async load(onProgress: (changes: number) => void): Promise<void> {
    await this.#inTurn(() => this.#loads.catalog());
    onProgress(0);
    this.#reachability.begin();
  }

  step<C extends Command>(command: C, now: number): Promise<Applied<C['type']>> {
    const reason = this.#isClosed ? 'the server is stopping' : this.#reachability.reason;
    if (reason !== undefined) return Promise.reject(new Unavailable(reason));
    const applied = this.#waiting.add(command, now);
    this.#start();
    return applied;
  }

  /** A step resolves only once its changes are committed. */
  kept(): undefined {
    return undefined;
  }

  async answer<O, A>(outcome: O, prepare: (outcome: O) => A): Promise<A> {
    await this.#timeKept;
    return preparedNow(outcome, prepare);
  }

  noteTime(movedMs: number): void {
    this.#timeKept = this.#options.keepTime?.(movedMs);
    this.#timeKept?.catch(() => {});
  }

  async readTime(): Promise<void> {
    await this.#options.readTime?.();
  }

  nextDueAt(): number | undefined {
    const due = this.replica.engine.nextDueAt();
    return due === undefined ? undefined : due + this.#catchUp.lead;
  }

  isBehind(command: Command, since: number): boolean {
    return this.replica.engine.isBehind(command, since);
  }

  postpone(owner: OwnerId, until: number): void {
    this.replica.engine.postpone(owner, until);
  }

  awaited(queue: OwnerId, until: number): void {
    const owner = this.replica.get(queue);
    if (owner !== undefined) this.#options.noteWaiting(owner, until);
  }

  /**
   * Loads owners with something due that this node does not have, or not in its latest state. What has been due for less than
   * `leftMs` is left to the nodes that have the owner. Where nothing is left to do here, the database is told so.
   */
  async loadDue(until: number, leftMs = 0): Promise<void> {
    for await (const due of this.#options.dueBy(until)) {
      // Not within a batch: what that has applied may never be committed.
      const done = await this.#inTurn(async () =>
        due.flatMap((each) => this.#doneWith(each) ?? []),
      );
      if (done.length > 0) await this.#options.noteDue(done);
      const isDone = new Set(done.map(({ number }) => number));
      const late = due.filter(
        ({ number, dueAt }) => dueAt <= until - leftMs && !isDone.has(number),
      );
      await this.#inTurn(async () => {
        for (const { number, version } of late) {
          const owner = this.replica.byNumber(number);
          if (owner?.mode === 'loaded' && owner.version < version) {
            this.replica.unload(owner, this.#catchUp.now);
          }
        }
      });
      const owners = late.flatMap(({ number }) => this.replica.byNumber(number) ?? []);
      const readable = owners.filter(
        ({ name }) => this.#unreadable.problemOf([name]) === undefined,
      );
      await Promise.all(readable.map((owner) => this.#loads.load(owner)));
    }
  }

  /** What is still due, if less than the database says: the end of a visibility timeout, for example, changes nothing. */
  #doneWith({ number, version, dueAt }: Due): StillDue | undefined {
    const owner = this.replica.byNumber(number);
    if (owner?.mode !== 'loaded' || owner.version !== version) return undefined;
    const { engine } = this.replica;
    const next = engine.dueAt(owner.name);
    if (next !== undefined && next <= dueAt) return undefined;
    return { number, version, dueAt: next, held: writtenHeld(version, engine.held(owner.name)) };
  }

  /** Nobody uses a queue by looking at what it holds. If it cannot be read here, asking each of them tells why. */
  async held(queues: readonly OwnerId[]): Promise<ReadonlyMap<OwnerId, QueueDescription>> {
    const known = queues.flatMap((queue) => this.replica.get(queue) ?? []);
    if (this.isFrozen) return new Map();
    try {
      await this.readTime();
      const now = this.#options.clock.now() - this.#catchUp.lead;
      return await this.#options.held(known, now);
    } catch {
      return new Map();
    }
  }

  /** Others have written to these owners: receivers here may find something. */
  hear(numbers: readonly number[]): void {
    const queues = numbers.flatMap((number) => this.replica.byNumber(number)?.name ?? []);
    this.#options.user.stirred(queues);
  }

  /** The database did not answer to what is asked now and then, or refused it. */
  lose(error: unknown): void {
    if (this.#isClosed || this.isFrozen) return;
    if (isLastingRefusal(error) || !isFromServer(error)) this.#reachability.lose(error);
  }

  /** Something may have fallen due. */
  timeMoved(): void {
    this.#options.user.stirred([]);
  }

  /** Forgets the contents of owners that no command has touched since then, in the process's own time. */
  async forgetUnused(since: number): Promise<void> {
    await this.#inTurn(async () => {
      for (const owner of this.replica.all()) {
        if (owner.mode === 'loaded' && owner.usedAt < since)
          this.replica.unload(owner, this.#catchUp.now);
      }
    });
  }

  /** What was asked for earlier is done first: a batch begins only at the end of the event loop's turn. */
  async reset(): Promise<void> {
    await this.#waiting.ended();
    await this.#inTurn(async () => {
      await this.#options.clear();
      this.#options.cache.clear();
      await this.#loads.catalog();
    });
  }

  fileBytes(): undefined {
    return undefined;
  }

  async close(): Promise<void> {
    await this.#working;
    this.#isClosed = true;
    this.#reachability.close();
    await this.#loads.settled();
    await this.#turn;
    await this.#options.close();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  #start(): void {
    if (this.#working !== undefined || this.#isClosed) return;
    this.#working = this.#work().finally(() => {
      this.#working = undefined;
      if (this.#waiting.size > 0) this.#start();
    });
  }

  async #work(): Promise<void> {
    // Everything that comes in this turn of the event loop shares the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.size > 0) {
      try {
        const hasBatch = await this.#inTurn(() => this.#batch());
        // What comes meanwhile may need nothing that is being loaded.
        if (!hasBatch) await Promise.race([this.#loads.any(), this.#waiting.added()]);
      } catch (error) {
        this.#reachability.lose(error);
        return;
      }
    }
  }

  /** One transaction; false if nothing can be done before something is loaded. */
  async #batch(): Promise<boolean> {
    const { journal } = this.#options;
    const { candidates, owners } = this.#commands.choose(this.#mustWait);
    const hasMissed = this.#loads.takeMissed();
    if (candidates.length === 0 && this.#loads.size > 0 && !hasMissed) return false;
    const waits = this.#mustWait || owners.length <= 1;
    this.#mustWait = false;
    const { replica } = this;
    let done: Done[] = [];
    try {
      const began = performance.now();
      const begun = await journal.begin({
        owners: [...owners].sort((one, other) => one.number - other.number),
        catalog: replica.catalog.version,
        waits,
      });
      const lockMs = performance.now() - began;
      if (!waits) this.#skippedLocks += owners.length - begun.locked.length;
      const now = await this.#catchUp.take(begun);
      done = this.#commands.apply(candidates, this.#catchUp.usable(begun), now);
      if (!waits) this.#noteSkipped(candidates, done);
      this.#taken = replica.take();
      const appended = await this.#rows.of(this.#taken, now);
      if (appended.length === 0) await journal.rollback();
      else {
        const committing = performance.now();
        await journal.commit(appended, now);
        this.#rows.keep(appended, this.#taken);
        this.#tellCommitted(appended, { ms: performance.now() - committing, lockMs });
      }
      this.#notifyWaiting(begun, appended);
    } catch (error) {
      await this.#failed(error, done);
      return true;
    }
    this.#failures = 0;
    this.#answer(done);
    return true;
  }

  #noteSkipped([first]: readonly Candidate[], done: readonly Done[]): void {
    const isSkipped = first !== undefined && !done.some(({ waiting }) => waiting === first.waiting);
    this.#skippedFirst = isSkipped ? this.#skippedFirst + 1 : 0;
    this.#mustWait = isSkipped && (done.length === 0 || this.#skippedFirst >= skippedFirstMax);
    if (this.#mustWait) this.#skippedFirst = 0;
  }

  #tellCommitted(
    appended: readonly Appended[],
    took: { readonly ms: number; readonly lockMs: number },
  ): void {
    let bytes = 0;
    for (const { changes, contents } of appended) {
      bytes += changes.length;
      for (const content of contents) bytes += content.bytes.length;
    }
    this.#options.user.committed({ records: appended.length, bytes, ...took });
  }

  #notifyWaiting({ locked, now }: Begun, appended: readonly Appended[]): void {
    const waited = new Map(locked.map((owner): [number, LockedOwner] => [owner.number, owner]));
    const numbers = appended
      .map(({ number }) => number)
      .filter((number) => (waited.get(number)?.waitingUntil ?? 0) > now);
    if (numbers.length > 0) this.#options.notify(numbers);
  }

  #answer(done: readonly Done[]): void {
    const { user } = this.#options;
    this.#waiting.remove(done.map(({ waiting }) => waiting));
    for (const { waiting, applied } of done) {
      user.applied(applied);
      waiting.resolve(applied);
    }
    const absorbed = this.#catchUp.takeAbsorbed();
    const changes = [...absorbed, ...done.flatMap(({ applied }) => applied.changes)];
    if (changes.length === 0) return;
    // A receiver that found nothing in this very batch is parked only after it was told so, and may have missed a change.
    setImmediate(() => user.absorbed(changes));
  }

  /** Memory is ahead of what is kept, or may be: what the batch changed is forgotten. Throws if it cannot be tried again. */
  async #failed(error: unknown, done: readonly Done[]): Promise<void> {
    const { replica } = this;
    const untold = replica.take();
    const owners = [...this.#taken.pending, ...untold.pending].map(({ owner }) => owner);
    const hasSettings = this.#taken.entries.length + untold.entries.length > 0;
    this.#taken = nothing;
    const failed = error instanceof FailedInBatch ? error : undefined;
    if (failed !== undefined) this.#waiting.reject([failed.waiting], failed.failure);
    // Nobody knows what became of them. All others were not committed, and are tried again.
    if (error instanceof Unavailable) {
      this.#waiting.reject(
        done.map(({ waiting }) => waiting),
        error,
      );
    }
    await this.#options.journal.rollback().catch(() => {});
    for (const owner of owners) {
      this.#lost.suspect(owner);
      replica.unload(owner, this.#catchUp.now);
    }
    void this.#lost.check();
    const isAllLost = error instanceof Drifted && error.owner === catalog;
    if (hasSettings || isAllLost || failed !== undefined) await this.#loads.catalog();
    if (failed !== undefined || error instanceof Drifted) return;
    const reason = error instanceof NotCommitted ? error.cause : error;
    if (error instanceof NotCommitted && !isLastingRefusal(reason)) return;
    this.#failures += 1;
    const isAway = error instanceof NoAnswer || this.#failures >= failuresMax;
    if ((isLastingRefusal(reason) || !isFromServer(reason)) && isAway) throw reason;
    await new Promise((resolve) => setTimeout(resolve, failedPauseMs));
  }
}
