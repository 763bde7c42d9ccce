/**
 * The writer of one of many nodes. All waiting commands of all owners go into one batch: lock what they touch, absorb what
 * other nodes have appended, look again at what they touch, apply, append, commit. A command that touches what is not locked
 * or not loaded waits for the next batch, and so do the commands behind it that touch the same. An answer leaves after the
 * COMMIT.
 *
 * The engine has no undo. When a batch is not committed, the owners it changed are forgotten and loaded again; commands that
 * are known not to be committed are tried again until their time is over.
 */

import { randomInt } from 'node:crypto';
import {
  type Change,
  type ContentFrom,
  catalog,
  type OwnerId,
  ownerOf,
} from '../../core/changes.ts';
import type { Command, CommandOf } from '../../core/commands.ts';
import { type Applied, CommandFailed, Drifted, type Engine, type Ids } from '../../core/engine.ts';
import { Unavailable } from '../backend.ts';
import type { Clock } from '../clock.ts';
import { DamagedError } from '../records/bytes.ts';
import { preparedNow } from '../running/prepared-answers.ts';
import type { Writer, WriterUser } from '../running/writer.ts';
import { isFromServer } from './connection.ts';
import type { ContentCache } from './content-cache.ts';
import { type Content, type ContentKind, contentBytes, isContentKind } from './content-codec.ts';
import {
  type Appended,
  type Begun,
  catalogNumber,
  type Journal,
  type JournalRow,
  type Known,
  type LockedOwner,
} from './journal.ts';
import { UnknownFormat, writtenCatalogRow, writtenRow } from './journal-row.ts';
import { NotCommitted } from './postgres-journal.ts';
import type { PostgresStore } from './postgres-store.ts';
import { type Pending, Replica, type ReplicaOwner } from './replica.ts';

export interface PostgresWriterOptions {
  readonly newEngine: () => Engine;
  readonly ids: Ids;
  readonly user: WriterUser;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly store: () => PostgresStore;
  readonly cache: ContentCache;
  /** Tells receivers at other nodes that these owners have something new. */
  readonly notify: (numbers: readonly number[]) => void;
  /** A receiver waits for this owner. */
  readonly noteWaiting: (owner: ReplicaOwner, until: number) => void;
  /** Keeps the time of a clock that is shared. */
  readonly keepTime: (() => Promise<void>) | undefined;
  /** Numbers and versions of owners with something due by this time. */
  readonly dueBy: (time: number) => Promise<readonly Known[]>;
  /** The formats of journal rows: the latest that this node reads, and the latest that all nodes read. */
  readonly formats: { readonly reads: number; readonly writes: () => number };
  /** Told when the database no longer has what was committed, as after a failover to a standby that was behind. */
  readonly onLost: (text: string) => void;
  /** Removes everything; resolves when the database is empty. */
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** How many commands one batch carries, how many due owners one tick, and how long a command waits for the database. */
const batchCommandsMax = 2_000;
const tickOwnersMax = 100;
const waitMsMax = 10_000;
const waitingMax = 100_000;
const probeMs = 500;
/** A connection that broke is made anew at once; if that does not help, the database is away. */
const failuresMax = 2;
const failedPauseMs = 20;
/** Due work of an owner that another node used last is left to it for this long; and what is locked is tried again after. */
const othersDueMs = 1_500;
const skippedDueMs = 50;
/** What cannot be read is tried again after this long. */
const unreadableMs = 5_000;

interface Waiting {
  command: Command;
  readonly now: number;
  /** In real time. */
  readonly until: number;
  resolve(applied: Applied<Command['type']>): void;
  reject(error: unknown): void;
}

interface Done {
  readonly waiting: Waiting;
  readonly applied: Applied<Command['type']>;
}

export class PostgresWriter implements Writer {
  readonly kind = 'postgres';
  readonly replica: Replica;
  readonly #options: PostgresWriterOptions;
  #waiting: Waiting[] = [];
  #working: Promise<void> | undefined;
  readonly #loads: Map<OwnerId, Promise<void>> = new Map();
  #away: string | undefined = 'the database has not been reached yet';
  #probe: NodeJS.Timeout | undefined;
  #isClosed = false;
  #lastNow = 0;
  /** How far the clock here is ahead of the database's. */
  #lead = 0;
  #timeKept: Promise<void> | undefined;
  #absorbed: Change[] = [];
  /** What the batch is writing, for the case that it fails. */
  #taken: ReturnType<Replica['take']> = { pending: [], entries: [] };
  /** A whole batch was skipped, since others had locked everything: the next one waits for its first command's owners. */
  #mustWait = false;
  /** An owner was not there when it was to be loaded: the catalog has news. */
  #hasMissed = false;
  /** Queues and topics that this version cannot read, why, and until when that is taken for granted. */
  readonly #unreadable: Map<OwnerId, { readonly error: Error; readonly until: number }> = new Map();
  /** Batches in a row that failed. */
  #failures = 0;

  constructor(options: PostgresWriterOptions) {
    this.#options = options;
    const { newEngine, formats } = options;
    const onAbsorbed = (changes: readonly Change[]): void => this.#noteAbsorbed(changes);
    this.replica = new Replica(newEngine, onAbsorbed, formats.reads);
  }

  get isFrozen(): boolean {
    return this.#away !== undefined;
  }

  get isIncomplete(): boolean {
    return this.#away !== undefined;
  }

  unavailable(): string | undefined {
    return this.#away;
  }

  async load(onProgress: (changes: number) => void): Promise<void> {
    await this.#loadCatalog();
    onProgress(0);
    this.#away = undefined;
  }

  step<C extends Command>(command: C, now: number): Promise<Applied<C['type']>> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed || this.#waiting.length >= waitingMax) {
        reject(new Unavailable(this.#isClosed ? 'the server is stopping' : 'too much is waiting'));
        return;
      }
      const until = performance.now() + waitMsMax;
      this.#waiting.push({ command, now, until, resolve: resolve as Waiting['resolve'], reject });
      this.#start();
    });
  }

  /** A step resolves only once its changes are committed. */
  kept(): undefined {
    return undefined;
  }

  async answer<O, A>(outcome: O, prepare: (outcome: O) => A): Promise<A> {
    await this.#timeKept;
    return preparedNow(outcome, prepare);
  }

  noteTime(): void {
    this.#timeKept = this.#options.keepTime?.();
    this.#timeKept?.catch(() => {});
  }

  nextDueAt(): number | undefined {
    const due = this.replica.engine.nextDueAt();
    return due === undefined ? undefined : due + this.#lead;
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

  /** Loads owners with something due that this node does not have, or not in its latest state. */
  async loadDue(until: number): Promise<void> {
    for (const { number, version } of await this.#options.dueBy(until)) {
      const owner = this.replica.byNumber(number);
      if (owner === undefined || (owner.mode === 'loaded' && owner.version >= version)) continue;
      if (this.#problemIn([owner.name]) !== undefined) continue;
      await this.#working;
      this.replica.unload(owner, this.#lastNow);
      await this.#load(owner);
    }
  }

  /** Others have written to these owners: receivers here may find something. */
  hear(numbers: readonly number[]): void {
    const queues = numbers.flatMap((number) => this.replica.byNumber(number)?.name ?? []);
    this.#options.user.stirred(queues);
  }

  /** Something may have fallen due. */
  timeMoved(): void {
    this.#options.user.stirred([]);
  }

  /** Forgets the contents of owners that no command has touched since then, in the process's own time. */
  forgetUnused(since: number): void {
    if (this.#working !== undefined) return;
    for (const owner of this.replica.all()) {
      if (owner.mode === 'loaded' && owner.usedAt < since)
        this.replica.unload(owner, this.#lastNow);
    }
  }

  async reset(): Promise<void> {
    await this.#working;
    await this.#options.clear();
    this.#options.cache.clear();
    await this.#loadCatalog();
  }

  fileBytes(): undefined {
    return undefined;
  }

  async close(): Promise<void> {
    await this.#working;
    this.#isClosed = true;
    clearTimeout(this.#probe);
    await Promise.allSettled(this.#loads.values());
    await this.#options.close();
  }

  #start(): void {
    if (this.#working !== undefined || this.#isClosed) return;
    this.#working = this.#work().finally(() => {
      this.#working = undefined;
      if (this.#waiting.length > 0 && this.#away === undefined) this.#start();
    });
  }

  async #work(): Promise<void> {
    // Everything that comes in this turn of the event loop shares the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      try {
        await this.#batch();
        this.#isBack();
      } catch (error) {
        this.#isAway(error);
        return;
      }
      this.#giveUpLate();
    }
  }

  /** One transaction; or, if nothing can be done before something is loaded, the wait for that. */
  async #batch(): Promise<void> {
    const chosen = this.#choose();
    if (chosen === undefined) {
      await Promise.race(this.#loads.values());
      return;
    }
    const { candidates, owners } = chosen;
    const { journal } = this.#options;
    const waits = this.#mustWait || owners.length <= 1;
    this.#mustWait = false;
    this.#hasMissed = false;
    const replica = this.replica;
    let done: Done[] = [];
    try {
      const begun = await journal.begin({
        owners: [...owners].sort((one, other) => one.number - other.number),
        catalog: replica.catalog.version,
        waits,
      });
      const now = await this.#catchUp(begun);
      const locked = this.#usable(begun);
      done = this.#apply(candidates, locked, now);
      if (done.length === 0 && candidates.length > 0 && !waits) this.#mustWait = true;
      const appended = await this.#written(now);
      if (appended.length === 0) await journal.rollback();
      else {
        const began = performance.now();
        await journal.commit(appended, now);
        this.#tellCommitted(appended, performance.now() - began);
      }
      this.#notifyWaiting(begun, appended);
    } catch (error) {
      await this.#failed(error, done);
      return;
    }
    this.#failures = 0;
    this.#answerAll(done);
  }

  /** Commands for the next batch, in order; those that have to wait make those behind them wait that touch the same. */
  #choose():
    | { readonly candidates: readonly Waiting[]; readonly owners: readonly ReplicaOwner[] }
    | undefined {
    const candidates: Waiting[] = [];
    const owners = new Set<ReplicaOwner>();
    const blocked = new Set<OwnerId>();
    for (const waiting of this.#waiting) {
      if (candidates.length >= batchCommandsMax) break;
      const touched = this.#touched(waiting);
      const problem = this.#problemIn(touched);
      if (problem !== undefined) {
        this.#reject([waiting], new Unavailable(problem.message, { cause: problem }));
        continue;
      }
      const known = touched.flatMap((name) => this.replica.get(name) ?? []);
      const missing = known.filter(({ mode }) => mode !== 'loaded');
      for (const owner of missing) this.#load(owner).catch(() => {});
      if (missing.length > 0 || touched.some((name) => blocked.has(name))) {
        for (const name of touched) blocked.add(name);
        continue;
      }
      candidates.push(waiting);
      for (const owner of known) owners.add(owner);
      if (touched.includes(catalog)) owners.add(catalogOwner);
      if (this.#mustWait) break;
    }
    return candidates.length === 0 && this.#loads.size > 0 && !this.#hasMissed
      ? undefined
      : { candidates, owners: [...owners] };
  }

  /** Why one of these cannot be used here; the others can. */
  #problemIn(owners: readonly OwnerId[]): Error | undefined {
    if (this.#unreadable.size === 0) return undefined;
    const now = performance.now();
    for (const [owner, { until }] of this.#unreadable) {
      if (until < now) this.#unreadable.delete(owner);
    }
    return owners.map((owner) => this.#unreadable.get(owner)?.error).find(Boolean);
  }

  #cannotRead(owner: OwnerId, error: Error): void {
    this.#unreadable.set(owner, { error, until: performance.now() + unreadableMs });
  }

  #touched(waiting: Waiting): readonly OwnerId[] {
    const { engine } = this.replica;
    const { command } = waiting;
    if (command.type !== 'tick') return engine.touches(command, waiting.now);
    const due = engine.dueBy(waiting.now - this.#lead).slice(0, tickOwnersMax);
    const tick: CommandOf<'tick'> = { type: 'tick', owners: new Set(due) };
    waiting.command = tick;
    return engine.touches(tick, waiting.now);
  }

  /** Absorbs what is new. Returns the batch's time. */
  async #catchUp({ rows, now, locked, catalogVersion }: Begun): Promise<number> {
    const { replica } = this;
    const { clock, journal } = this.#options;
    this.#absorb(() => replica.absorb(rows), now);
    if (replica.catalog.version !== catalogVersion && !rows.some(isOfCatalog)) {
      this.#tellLost(replica.catalog, { name: 'the catalog', version: catalogVersion });
      throw new Drifted(catalog, `its rows do not lead to version ${catalogVersion}`);
    }
    const { lagging } = replica;
    if (lagging.length > 0) {
      const more = await journal.rowsOf(lagging);
      this.#absorb(() => replica.absorb(more), now);
      // What is left of their rows does not lead there.
      for (const owner of replica.lagging) replica.unload(owner, now);
    }
    this.#lead = clock.kind === 'real' ? Math.max(0, clock.now() - now) : 0;
    const times = locked.map(({ time }) => time);
    const latest = Math.max(now, this.#lastNow, ...times);
    this.#lastNow = latest;
    clock.notBefore(latest);
    return latest;
  }

  /** If rows do not follow what is known, the owner is loaded again; without the catalog, everything is. */
  #absorb(absorb: () => void, now: number): void {
    for (;;) {
      try {
        absorb();
        return;
      } catch (error) {
        const isAboutOwner = error instanceof Drifted || error instanceof UnknownFormat;
        if (!isAboutOwner || error.owner === catalog) throw error;
        const owner = this.replica.get(error.owner);
        if (owner === undefined) throw error;
        if (error instanceof UnknownFormat) this.#cannotRead(error.owner, error);
        this.replica.unload(owner, now);
      }
    }
  }

  /** The owners that are locked here and in the very state that was locked. */
  #usable({ locked }: Begun): ReadonlySet<OwnerId> {
    const { replica } = this;
    const usable = new Set<OwnerId>();
    for (const { number, version, tail, isGone } of locked) {
      if (number === catalogNumber) {
        const known = replica.catalog;
        if (known.version !== version || known.tail !== tail) {
          throw new Drifted(catalog, `version ${version} is not what was read`);
        }
        usable.add(catalog);
        continue;
      }
      const owner = replica.byNumber(number);
      if (owner?.mode !== 'loaded' || isGone) continue;
      if (owner.version === version && owner.tail === tail) usable.add(owner.name);
      else {
        this.#tellLost(owner, { name: owner.name, version });
        replica.unload(owner, this.#lastNow);
      }
    }
    return usable;
  }

  /** A version that is known here is one that was committed. */
  #tellLost(
    known: { readonly version: number },
    found: { readonly name: string; readonly version: number },
  ): void {
    if (known.version < found.version) return;
    this.#options.onLost(
      `the database has lost commits: ${found.name} was at version ${known.version} and is at ${found.version}; what is left is loaded again`,
    );
  }

  #apply(candidates: readonly Waiting[], locked: ReadonlySet<OwnerId>, now: number): Done[] {
    const { replica } = this;
    const { ids } = this.#options;
    const done: Done[] = [];
    const blocked = new Set<OwnerId>();
    const isFree = (name: OwnerId): boolean => {
      if (blocked.has(name) || replica.hasRemoved(name)) return false;
      const owner = replica.get(name);
      if (name !== catalog && owner === undefined) return true;
      return locked.has(name) || replica.hasCreated(name);
    };
    for (const waiting of candidates) {
      const command = this.#limited(waiting.command, now, isFree);
      const touched = replica.engine.touches(command, now);
      if (!touched.every(isFree)) {
        for (const name of touched) blocked.add(name);
        continue;
      }
      const usedAt = performance.now();
      for (const name of touched) {
        const owner = replica.get(name);
        if (owner !== undefined) owner.usedAt = usedAt;
      }
      try {
        done.push({ waiting, applied: replica.apply(command, { now, ids }) });
      } catch (error) {
        throw error instanceof CommandFailed ? new FailedInBatch(waiting, error) : error;
      }
    }
    return done;
  }

  /** A tick does what it can at the owners that are locked; the others stay due. */
  #limited(command: Command, now: number, isFree: (owner: OwnerId) => boolean): Command {
    if (command.type !== 'tick') return command;
    const { engine } = this.replica;
    // A clock that is moved by hand is not to pass over what is locked for a moment of real time.
    const isReal = this.#options.clock.kind === 'real';
    const owners = new Set<OwnerId>();
    for (const owner of command.owners ?? []) {
      const tick: CommandOf<'tick'> = { type: 'tick', owners: new Set([owner]) };
      if (engine.touches(tick, now).every(isFree)) owners.add(owner);
      else if (owner !== catalog && isReal) engine.postpone(owner, now + skippedDueMs);
    }
    return { type: 'tick', owners };
  }

  /** The rows of this batch; from here on the replica takes them for kept. */
  async #written(now: number): Promise<readonly Appended[]> {
    const { replica } = this;
    const { version, tail } = replica.catalog;
    const taken = replica.take();
    this.#taken = taken;
    if (taken.pending.length === 0 && taken.entries.length === 0) return [];
    const id = randomInt(1, 2 ** 47);
    const contents = await this.#contentsOf(taken.pending);
    const format = this.#options.formats.writes();
    const appended = taken.pending.map(
      ({ owner, changes, isNew, isGone }, index): Appended => ({
        number: owner.number,
        name: owner.name,
        version: owner.version + 1,
        id,
        changes: writtenRow({ now, previous: owner.tail }, changes, format),
        contents: contents[index] as readonly Content[],
        isNew,
        isGone,
        dueAt: replica.engine.dueAt(owner.name),
      }),
    );
    if (taken.entries.length > 0) {
      appended.push({
        number: catalogNumber,
        name: catalog,
        version: version + 1,
        id,
        changes: writtenCatalogRow({ now, previous: tail }, taken.entries, format),
        contents: [],
        isNew: false,
        isGone: false,
        dueAt: undefined,
      });
    }
    replica.appended(taken, id);
    return appended;
  }

  /** What senders wrote, for each owner; a message that moves takes along what was kept of it. */
  async #contentsOf(pending: readonly Pending[]): Promise<readonly (readonly Content[])[]> {
    const { cache, store } = this.#options;
    const fresh = new Map<string, Buffer>();
    // First, since a message may come and move on in one batch.
    for (const { owner, changes } of pending) {
      for (const change of changes) {
        const bytes = writtenContent(change);
        if (bytes === undefined) continue;
        fresh.set(`${owner.name} ${change.kind} ${(change as { id: number }).id}`, bytes);
      }
    }
    const all: Content[][] = [];
    for (const { owner, changes } of pending) {
      const contents: Content[] = [];
      for (const change of changes) {
        if (!isContentKind(change.kind)) continue;
        const { kind, id, value } = change as Change & { kind: ContentKind; id: number };
        if (value === null) continue;
        const from = movedFrom(change);
        const bytes =
          from === undefined
            ? fresh.get(`${owner.name} ${kind} ${id}`)
            : (fresh.get(`${from.queue} message ${from.sequence}`) ??
              (await store().bytes(from.queue, 'message', from.sequence)));
        // One that cannot be read moves as well: it is to reach a dead-letter queue like any other that nobody can handle.
        const content = { kind, id, bytes: bytes ?? Buffer.alloc(0) };
        contents.push(content);
        fresh.set(`${owner.name} ${kind} ${id}`, content.bytes);
        cache.set(owner.number, content);
      }
      all.push(contents);
    }
    for (const { owner, changes } of pending) {
      for (const change of changes) {
        if (change.kind === 'message' && change.value === null) {
          cache.remove(owner.number, 'message', change.id);
        }
      }
    }
    return all;
  }

  #tellCommitted(appended: readonly Appended[], ms: number): void {
    let bytes = 0;
    for (const { changes, contents } of appended) {
      bytes += changes.length;
      for (const content of contents) bytes += content.bytes.length;
    }
    this.#options.user.committed({ records: appended.length, bytes, ms });
  }

  #notifyWaiting({ locked, now }: Begun, appended: readonly Appended[]): void {
    const waited = new Map(locked.map((owner): [number, LockedOwner] => [owner.number, owner]));
    const numbers = appended
      .map(({ number }) => number)
      .filter((number) => (waited.get(number)?.waitingUntil ?? 0) > now);
    if (numbers.length > 0) this.#options.notify(numbers);
  }

  #answerAll(done: readonly Done[]): void {
    const { user } = this.#options;
    const finished = new Set(done.map(({ waiting }) => waiting));
    this.#waiting = this.#waiting.filter((waiting) => !finished.has(waiting));
    for (const { waiting, applied } of done) {
      user.applied(applied);
      waiting.resolve(applied);
    }
    const changes = [...this.#absorbed, ...done.flatMap(({ applied }) => applied.changes)];
    this.#absorbed = [];
    if (changes.length === 0) return;
    // A receiver that found nothing in this very batch is parked only after it was told so, and may have missed a change.
    setImmediate(() => user.absorbed(changes));
  }

  #noteAbsorbed(changes: readonly Change[]): void {
    this.#absorbed.push(...changes);
    if (this.#options.clock.kind !== 'real') return;
    const { engine } = this.replica;
    const now = this.#options.clock.now();
    let last: OwnerId | undefined;
    for (const change of changes) {
      const owner = ownerOf(change);
      if (owner === last) continue;
      last = owner;
      const due = engine.dueAt(owner);
      // The node that appended them does it first.
      if (due !== undefined) engine.postpone(owner, Math.max(due, now) + othersDueMs);
    }
  }

  /** Memory is ahead of what is kept, or may be: what the batch changed is forgotten. Throws if it cannot be tried again. */
  async #failed(error: unknown, done: readonly Done[]): Promise<void> {
    const { replica } = this;
    const untold = replica.take();
    const owners = [...this.#taken.pending, ...untold.pending].map(({ owner }) => owner);
    const hasSettings = this.#taken.entries.length + untold.entries.length > 0;
    this.#taken = { pending: [], entries: [] };
    const failed = error instanceof FailedInBatch ? error : undefined;
    if (failed !== undefined) this.#reject([failed.waiting], failed.failure);
    // Nobody knows what became of them. All others were not committed, and are tried again.
    const isUnknown = error instanceof Unavailable;
    if (isUnknown)
      this.#reject(
        done.map(({ waiting }) => waiting),
        error,
      );
    await this.#options.journal.rollback().catch(() => {});
    for (const owner of owners) replica.unload(owner, this.#lastNow);
    const isAllLost = error instanceof Drifted && error.owner === catalog;
    if (hasSettings || isAllLost || failed !== undefined) await this.#loadCatalog();
    if (failed !== undefined || error instanceof Drifted || error instanceof NotCommitted) return;
    this.#failures += 1;
    if (!isFromServer(error) && this.#failures >= failuresMax) throw error;
    await new Promise((resolve) => setTimeout(resolve, failedPauseMs));
  }

  #reject(waiting: readonly Waiting[], error: unknown): void {
    const rejected = new Set(waiting);
    this.#waiting = this.#waiting.filter((other) => !rejected.has(other));
    for (const { reject } of waiting) reject(error);
  }

  #giveUpLate(): void {
    const now = performance.now();
    const late = this.#waiting.filter(({ until }) => until < now);
    if (late.length === 0) return;
    this.#reject(late, new Unavailable('what the request needs is locked by another node'));
  }

  #isAway(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const wasAway = this.#away !== undefined;
    const isReached = error instanceof UnknownFormat || isFromServer(error);
    this.#away = isReached ? reason : `the database does not answer: ${reason}`;
    this.#reject(this.#waiting, new Unavailable(this.#away, { cause: error }));
    this.#loads.clear();
    if (!wasAway) this.#options.user.suspend();
    clearTimeout(this.#probe);
    if (!this.#isClosed) this.#probe = setTimeout(() => void this.#tryAgain(), probeMs);
  }

  async #tryAgain(): Promise<void> {
    try {
      await this.#loadCatalog();
      this.#isBack();
    } catch (error) {
      this.#isAway(error);
    }
  }

  #isBack(): void {
    if (this.#away === undefined) return;
    this.#away = undefined;
    this.#options.user.resume();
  }

  async #loadCatalog(): Promise<void> {
    const loaded = await this.#options.journal.load(catalogNumber);
    if (loaded === undefined) throw new Unavailable('the tables of the database are empty');
    this.#loads.clear();
    this.replica.loadCatalog(loaded, this.#options.clock.now());
  }

  /** Loads an owner's contents, once at a time. */
  #load(owner: ReplicaOwner): Promise<void> {
    const { replica } = this;
    if (owner.mode === 'loaded') return Promise.resolve();
    const known = this.#loads.get(owner.name);
    if (known !== undefined) return known;
    replica.beginLoad(owner);
    owner.usedAt = performance.now();
    const loading = this.#loadNow(owner).finally(() => {
      if (this.#loads.get(owner.name) === loading) this.#loads.delete(owner.name);
    });
    this.#loads.set(owner.name, loading);
    // Whoever waits for it is told; often nobody does.
    loading.catch(() => {});
    return loading;
  }

  async #loadNow(owner: ReplicaOwner): Promise<void> {
    const { replica } = this;
    try {
      const loaded = await this.#options.journal.load(owner.number);
      if (replica.get(owner.name) !== owner || owner.mode !== 'loading') return;
      if (loaded === undefined) {
        // It is gone; the catalog says so.
        replica.unload(owner, this.#lastNow);
        this.#hasMissed = true;
      } else replica.load(owner, loaded, this.#options.clock.now());
    } catch (error) {
      if (replica.get(owner.name) === owner) replica.unload(owner, this.#lastNow);
      if (error instanceof UnknownFormat || error instanceof DamagedError) {
        this.#cannotRead(owner.name, error);
        return;
      }
      if (!(error instanceof Drifted)) throw error;
      await this.#working;
      await this.#loadCatalog();
    }
  }
}

/** A command failed in the engine: it alone is told; the others of the batch are tried again. */
class FailedInBatch extends Error {
  readonly waiting: Waiting;
  readonly failure: CommandFailed;

  constructor(waiting: Waiting, failure: CommandFailed) {
    super(failure.message, { cause: failure });
    this.waiting = waiting;
    this.failure = failure;
  }
}

/** What the sender wrote, if the change has it. */
function writtenContent(change: Change): Buffer | undefined {
  if (!isContentKind(change.kind) || !('value' in change) || change.value === null)
    return undefined;
  if (change.kind === 'archived') return contentBytes.archived(change.value);
  if (change.kind === 'post') return contentBytes.post(change.value);
  if (change.kind !== 'message' || 'from' in change.value.content) return undefined;
  return contentBytes.message(change.value.content);
}

function movedFrom(change: Change): ContentFrom['from'] | undefined {
  if (change.kind !== 'message' || change.value === null) return undefined;
  return 'from' in change.value.content ? change.value.content.from : undefined;
}

function isOfCatalog({ number }: JournalRow): boolean {
  return number === catalogNumber;
}

/** Stands for the catalog where owners are locked. */
const catalogOwner: ReplicaOwner = {
  name: catalog,
  number: catalogNumber,
  // Its rows are asked for by the version that is known.
  version: Number.MAX_SAFE_INTEGER,
  tail: 0,
  mode: 'loaded',
  ahead: [],
  usedAt: 0,
};
