/**
 * The backend of one process: the engine, what keeps its entries, the receivers that wait, and one timer. A command is
 * applied at once, in memory; its answer leaves when everything applied so far is kept, since it may depend on any of it.
 *
 * While nothing can be added, on a full disk, commands that would do so are refused; read-only ones are answered, and so are
 * those that receive and remove, unless the store is frozen and can keep no change at all. If memory could not be brought
 * back to what is kept, nothing is answered.
 *
 * If a command throws in the engine, memory holds a part of it and the store nothing: the queues and topics concerned are
 * dropped and loaded again with everything applied before (`undo`), and the request fails alone. Nobody asked for a tick, so
 * its failure is logged, and what failed is put off: otherwise it would be due again at once.
 *
 * Time: every command is stamped with the clock's now. The alarm is set to the next moment at which something falls
 * due, in the engine or for a waiting receiver. When more has expired than one tick removes, ticks take turns with requests,
 * and a request waits while the queue or topic that it concerns still has some of it.
 */

import { randomUUID } from 'node:crypto';
import {
  type Change,
  type KeptWindowEntry,
  type MessageContent,
  topicOwner,
} from '../core/changes.ts';
import { isDraining, isLooking } from '../core/command-effects.ts';
import type { Command, CommandOf, Outcome } from '../core/commands.ts';
import { type Applied, CommandFailed, Engine, type Ids } from '../core/engine.ts';
import type { Refusal } from '../core/errors.ts';
import type { Event } from '../core/events.ts';
import { type Limits, strictLimits } from '../core/limits.ts';
import type { Profile } from '../core/queue/attributes.ts';
import type { Signer } from '../core/topic/envelope.ts';
import type { Judge } from '../core/topic/fan-out.ts';
import {
  type Backend,
  type DeliveryCounts,
  type Explained,
  type FailedDeliveries,
  type Peeked,
  type PeekedPage,
  type PlainCommand,
  type Received,
  type RememberedSend,
  Unavailable,
  type Usage,
} from './backend.ts';
import type { Clock } from './clock.ts';
import { type DataOptions, openDataStore } from './lmdb/open.ts';
import { MemoryStore } from './memory/memory-store.ts';
import { EventReaders } from './observers/event-readers.ts';
import { ContentReader } from './running/content-reader.ts';
import { DueTimer } from './running/due-timer.ts';
import { type Asked, LongPolls } from './running/long-polls.ts';
import { OutsideWork, type Poster } from './running/outside-work.ts';
import type { Commit, Store, StoreUser } from './store.ts';

/** `isFrozen`: what is there cannot be received or removed either. */
type OnAvailability = (reason: string | undefined, isFrozen: boolean) => void;

export interface EngineBackendOptions {
  readonly clock: Clock;
  /** Default: random UUIDs. */
  readonly ids?: Ids;
  readonly region?: string;
  readonly account?: string;
  readonly limits?: Limits;
  /** The profile of new FIFO queues that do not set one; default aws. */
  readonly profile?: Profile;
  /** Called with the reason when changes can no longer be kept, and with undefined when they can again. */
  readonly onAvailability?: OnAvailability | undefined;
  /** Called with what an event listener threw; default: it is ignored. */
  readonly onError?: (error: unknown) => void;
  /** Called with what failed although no client asked for it: a tick, or the work for a topic; default: it is ignored. */
  readonly onFailure?: (error: unknown) => void;
  /** Called when a message cannot be read and no request fails with it; default: it is ignored. */
  readonly onUnreadable?: (error: unknown) => void;
  /** Called after each commit to the disk. */
  readonly onCommit?: ((commit: Commit) => void) | undefined;
  /** Whether a queue's policy must allow a topic to send to it; default false. */
  readonly arePoliciesEnforced?: boolean;
  /** Signs what standard topics send; without a signer nothing is signed. */
  readonly signer?: Signer;
  /** Judges what topics bring to queues; without one nothing is judged. */
  readonly judge?: Judge | undefined;
  /** Calls HTTP endpoints; without one no endpoint is ever reached. */
  readonly poster?: Poster;
}

export function openMemoryBackend(options: EngineBackendOptions): Backend {
  return new EngineBackend(options, () => new MemoryStore());
}

/** Loads what is kept in the directory; the promise rejects with DataError if that is not possible. */
export async function openDataBackend(
  options: EngineBackendOptions,
  data: DataOptions,
): Promise<Backend> {
  const { latestTime, storeFor } = await openDataStore(data);
  options.clock.notBefore(latestTime);
  const backend = new EngineBackend(options, storeFor);
  try {
    await backend.load(data.onProgress ?? (() => {}));
    return backend;
  } catch (error) {
    await backend.close();
    throw error;
  }
}

/** A page of peeked messages ends with the message whose body reaches this total. */
const peekedCharsMax = 4 * 1024 * 1024;

/** After a failed tick no other follows for this long, and none does the work that failed for this long. */
const failedTickMs = 1_000;
const failedWorkMs = 60_000;

/** How many changes are loaded before the event loop gets a turn. */
const loadedAtOnce = 20_000;

/** A receive, beyond its command. */
interface Asking<A> {
  readonly client: { readonly signal: AbortSignal };
  readonly prepare: (outcome: Received) => A;
  readonly askedAt: number;
  readonly now: number;
}

/** For outcomes that are the answer: whoever prepares nothing gets them unchanged. */
function asItIs<A>(outcome: unknown): A {
  return outcome as A;
}

class EngineBackend implements Backend, StoreUser {
  readonly realm: { readonly region: string; readonly account: string };
  readonly startedAt: number;
  readonly #options: EngineBackendOptions;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #onAvailability: OnAvailability;
  readonly #contents: ContentReader;
  #engine: Engine;
  readonly #store: Store;
  readonly #polls: LongPolls;
  readonly #readers: EventReaders;
  readonly #work: OutsideWork;
  readonly #timer: DueTimer;
  #isClosed = false;
  #advancing: Promise<number> = Promise.resolve(0);
  /** After a tick that left something expired, until the next one may follow. */
  #rest: Promise<void> | undefined;
  #tickedAt = 0;
  /** After a tick that failed. */
  #noTickBefore = 0;

  constructor(options: EngineBackendOptions, storeFor: (user: StoreUser) => Store) {
    const { region = 'us-east-1', account = '000000000000' } = options;
    this.realm = { region, account };
    this.#options = options;
    this.#clock = options.clock;
    this.startedAt = options.clock.now();
    this.#timer = new DueTimer(options.clock, () => this.#doWhatIsDue());
    this.#ids = options.ids ?? { uuid: randomUUID };
    this.#onAvailability = options.onAvailability ?? (() => {});
    this.#contents = new ContentReader(
      (queue, sequence) => this.#store.content(queue, sequence),
      options.onUnreadable ?? (() => {}),
    );
    this.#readers = new EventReaders(
      (queue, sequence) => this.#contents.ifReadable(queue, sequence),
      options.onError ?? (() => {}),
    );
    this.#engine = this.#newEngine();
    this.#store = storeFor(this);
    this.#polls = new LongPolls({
      ask: (command) => this.#askAgain(command),
      answer: (received, prepare) => this.#store.answer(received, prepare),
    });
    this.#work = new OutsideWork({
      poster: options.poster,
      signer: options.signer,
      entries: () => this.#store.topics,
      kept: () => this.#store.kept(),
      now: () => this.#clock.now(),
      step: (command) => {
        if (!this.#isBehind(command)) this.#step(command);
      },
      report: (command) =>
        this.#whenCurrent(command, async (now) => {
          this.#apply(command, now);
        }),
      onFailure: (error, topic) => this.#putOff(topic && topicOwner(topic), error),
    });
  }

  get kind(): string {
    return this.#store.kind;
  }

  unavailable(): string | undefined {
    return this.#store.unavailable();
  }

  /** Loads what is kept into the engine. */
  async load(onProgress: (changes: number) => void): Promise<void> {
    let loaded = 0;
    let toldAt = 0;
    for (const changes of this.#store.load()) {
      this.#engine.absorb(changes, this.#clock.now());
      loaded += changes.length;
      if (loaded < toldAt + loadedAtOnce) continue;
      toldAt = loaded;
      onProgress(loaded);
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#setTimer();
  }

  run<C extends PlainCommand, A = Outcome<C['type']>>(
    command: C,
    prepare: (outcome: Outcome<C['type']>) => A = asItIs,
  ): Promise<A> {
    return this.#whenCurrent(command, (now) => {
      return this.#refusalOf(command) ?? this.#store.answer(this.#apply(command, now), prepare);
    });
  }

  receive<A = Received>(
    command: CommandOf<'receive'>,
    client: { readonly signal: AbortSignal },
    prepare: (outcome: Received) => A = asItIs,
  ): Promise<A> {
    const askedAt = this.#clock.now();
    let hasWaited = false;
    const received = this.#whenCurrent(command, (now): Promise<A> => {
      // The client may have gone while it waited for its turn.
      const isGone = hasWaited && client.signal.aborted;
      if (isGone) return this.#store.answer<Received, A>({ ok: true, messages: [] }, prepare);
      return this.#receive(command, { client, prepare, askedAt, now });
    });
    hasWaited = true;
    return received;
  }

  #receive<A>(
    command: CommandOf<'receive'>,
    { client, prepare, askedAt, now }: Asking<A>,
  ): Promise<A> {
    const refusal = this.#refusalOf(command);
    if (refusal !== undefined) return refusal;
    const { outcome } = this.#step(command, now);
    let received: Received;
    try {
      // Read before waiting receivers are served: one of them could move these very messages.
      received = outcome.ok ? this.#contents.delivered(command.queue, outcome.messages) : outcome;
    } catch (error) {
      return Promise.reject(error);
    } finally {
      this.#serve();
      this.#setTimer();
    }
    const mayWait = outcome.ok && outcome.messages.length === 0 && outcome.waitMs > 0;
    if (!mayWait || this.#isClosed || client.signal.aborted) {
      return this.#store.answer(received, prepare);
    }
    const { noneUntil, waitMs } = outcome;
    const times = { deadline: askedAt + waitMs, noneUntil };
    const waited = this.#polls.wait(command, times, { signal: client.signal, prepare });
    this.#setTimer();
    return waited;
  }

  peek(command: CommandOf<'peek-messages'>): Promise<PeekedPage | Refusal> {
    return this.#whenCurrent(command, (now) => this.#peek(command, now));
  }

  #peek(command: CommandOf<'peek-messages'>, now: number): Promise<PeekedPage | Refusal> {
    const refusal = this.#refusalOf(command);
    if (refusal !== undefined) return refusal;
    // One more than is shown tells whether another page follows.
    const outcome = this.#apply({ ...command, limit: command.limit + 1 }, now);
    if (!outcome.ok) return this.#answer(outcome);
    const messages: Peeked[] = [];
    let chars = 0;
    for (const message of outcome.messages.slice(0, command.limit)) {
      const content = this.#contents.of(command.queue, message.sequence);
      messages.push({ ...message, content });
      chars += content.body.length;
      if (chars >= peekedCharsMax) break;
    }
    const isLast = messages.length === outcome.messages.length;
    const next = isLast ? undefined : messages.at(-1)?.sequence;
    return this.#answer({ ok: true, messages, next });
  }

  explain(
    command: CommandOf<'explain' | 'explain-topic'>,
  ): Promise<{ ok: true; entries: readonly Explained[] } | Refusal> {
    return this.#whenCurrent(command, (now) => this.#explain(command, now));
  }

  #explain(
    command: CommandOf<'explain' | 'explain-topic'>,
    now: number,
  ): Promise<{ ok: true; entries: readonly Explained[] } | Refusal> {
    const refusal = this.#refusalOf(command);
    if (refusal !== undefined) return refusal;
    const outcome = this.#apply(command, now);
    if (!outcome.ok) return this.#answer(outcome);
    const isTopic = command.type === 'explain-topic';
    const owner = isTopic ? topicOwner(command.topic) : command.queue;
    const sequences = outcome.entries.map(({ sequence }) => sequence);
    const kept = isTopic
      ? this.#store.topics.windowEntries(command.topic, sequences)
      : this.#store.windowEntries(command.queue, sequences);
    const entries = outcome.entries.map((entry, index) => ({
      ...(kept[index] as KeptWindowEntry),
      ...entry,
      suppressed: this.#readers.suppressed.of(owner, entry.sequence),
    }));
    return this.#answer({ ok: true, entries });
  }

  suppressed(queue: string): Promise<readonly RememberedSend[]> {
    return this.#answer(this.#readers.suppressed.ofQueue(queue));
  }

  contents(
    queue: string,
    sequences: readonly number[],
  ): Promise<readonly (MessageContent | undefined)[]> {
    if (this.#store.isIncomplete) return Promise.reject(this.#unavailable());
    return this.#answer(sequences.map((sequence) => this.#store.content(queue, sequence)));
  }

  failedDeliveries(topic: string): Promise<FailedDeliveries> {
    return Promise.resolve(this.#readers.failures.of(topic));
  }

  deliveryCounts(topic: string): Promise<ReadonlyMap<string, DeliveryCounts>> {
    return Promise.resolve(this.#readers.counts.of(topic));
  }

  usage(): Usage {
    return { waitingReceives: this.#polls.size, storeBytes: this.#store.fileBytes() };
  }

  now(): number {
    return this.#clock.now();
  }

  /** One call after the other: two that come together move time by both. */
  advance(milliseconds: number): Promise<number> {
    const advanced = this.#advancing.then(() => this.#advance(milliseconds));
    // A failed call does not keep the next from trying.
    this.#advancing = advanced.catch(() => 0);
    return advanced;
  }

  reset(): Promise<void> {
    if (this.#store.isFrozen) return Promise.reject(this.#unavailable());
    this.#polls.giveUpAll();
    this.#engine = this.#newEngine();
    this.#store.clear();
    this.#readers.clear();
    this.#setTimer();
    return this.#answer(undefined).then(() => this.#readers.tellReset());
  }

  listen(listener: (event: Event) => void, onReset?: () => void): () => void {
    return this.#readers.listen({ listener, onReset });
  }

  endWaits(): void {
    this.#isClosed = true;
    this.#timer.end();
    this.#polls.giveUpAll();
  }

  async close(): Promise<void> {
    this.endWaits();
    await this.#work.close();
    await this.#store.close();
  }

  takeBack(owners: ReadonlySet<string>, kept: Iterable<readonly Change[]>): void {
    for (const owner of owners) this.#engine.drop(owner);
    for (const changes of kept) this.#engine.absorb(changes, this.#clock.now());
  }

  suspend(): void {
    this.#tellAvailability();
    this.#timer.clear();
    this.#setTimer();
  }

  committed(commit: Commit): void {
    this.#options.onCommit?.(commit);
  }

  resume(): void {
    this.#tellAvailability();
    this.#polls.stirAll();
    this.#doWhatIsDue();
  }

  #newEngine(): Engine {
    const { limits = strictLimits, profile = 'aws', arePoliciesEnforced = false } = this.#options;
    const { signer, judge } = this.#options;
    return new Engine({ ...this.realm, limits, profile, arePoliciesEnforced, signer, judge });
  }

  async #advance(milliseconds: number): Promise<number> {
    // Calls to endpoints take real time, which does not count here: those in flight end before time moves.
    await this.#work.settled();
    const target = this.#clock.now() + milliseconds;
    let due = this.#nextAt();
    while (due !== undefined && due <= target) {
      this.#requireKeeping();
      this.#clock.moveTo(due);
      this.#doWhatIsDue();
      await this.#work.settled();
      await this.#store.kept();
      // Lets answers out, and other requests in, while time moves on.
      await new Promise((resolve) => setImmediate(resolve));
      due = this.#nextAt();
    }
    this.#requireKeeping();
    this.#clock.moveTo(target);
    // The time that the timer was set to is nearer now.
    this.#timer.clear();
    this.#setTimer();
    // Answered means kept, for time too: it does not go back with a restart.
    this.#store.noteTime();
    return this.#answer(this.#clock.now());
  }

  /** Resolves with the answer once all that it depends on is kept. */
  #answer<T>(answer: T): Promise<T> {
    return this.#store.answer<T, T>(answer, asItIs);
  }

  #refusalOf(command: Command): Promise<never> | undefined {
    if (this.unavailable() === undefined) return undefined;
    if (isLooking(command) && !this.#store.isIncomplete) return undefined;
    if (isDraining(command) && !this.#store.isFrozen) return undefined;
    return Promise.reject(this.#unavailable());
  }

  /** Throws if what falls due could not be done and kept, or if the server is stopping. */
  #requireKeeping(): void {
    if (this.unavailable() !== undefined) throw this.#unavailable();
    if (this.#isClosed) throw new Unavailable('the server is stopping');
  }

  #unavailable(): Unavailable {
    return new Unavailable(this.unavailable() ?? '');
  }

  #tellAvailability(): void {
    this.#onAvailability(this.unavailable(), this.#store.isFrozen);
  }

  /**
   * First does what is already due, should its timer be late, so that no newcomer overtakes anybody; but while a backlog
   * expires, waiting receivers are only served when it is its turn. Returns now.
   */
  #catchUp(): number {
    const now = this.#clock.now();
    if (now < this.#timer.quietUntil) return now;
    this.#doWhatIsDue();
    return this.#clock.now();
  }

  /** Calls `go` with the current time: now or, if the last tick left something where the command looks, after it is gone. */
  #whenCurrent<T>(command: Command, go: (now: number) => Promise<T>): Promise<T> {
    const now = this.#catchUp();
    if (!this.#isBehind(command)) {
      try {
        return go(now);
      } catch (error) {
        return Promise.reject(error);
      }
    }
    return Promise.resolve(this.#rest).then(() => {
      if (this.#isClosed) throw new Unavailable('the server is stopping');
      return this.#whenCurrent(command, go);
    });
  }

  /** The little that has expired since the last tick does not count: where something always expires, nobody's turn would come. */
  #isBehind(command: Command): boolean {
    return this.#rest !== undefined && this.#engine.isBehind(command, this.#tickedAt);
  }

  #apply<C extends Command>(command: C, now: number): Outcome<C['type']> {
    const { outcome } = this.#step(command, now);
    this.#serve();
    this.#setTimer();
    return outcome;
  }

  /** Runs one command through the engine; its changes go to the entries and its events to the readers. */
  #step<C extends Command>(command: C, now: number = this.#clock.now()): Applied<C['type']> {
    const applied = this.#applyOrUndo(command, now);
    this.#store.apply(applied.changes);
    if (applied.events.length + applied.deliveries.length > 0) {
      this.#readers.tell(applied, this.#store.kept());
    }
    if (this.#polls.size > 0) this.#polls.stir(applied.changes);
    return applied;
  }

  #applyOrUndo<C extends Command>(command: C, now: number): Applied<C['type']> {
    const { isObserved } = this.#readers;
    try {
      return this.#engine.apply(command, { now, ids: this.#ids, isObserved });
    } catch (error) {
      if (error instanceof CommandFailed) this.#undo(error.concerned);
      throw error;
    }
  }

  /** Brings these queues and topics back to what was applied to them before. */
  #undo(owners: ReadonlySet<string>): void {
    try {
      this.takeBack(owners, this.#store.applied(owners));
    } catch (error) {
      this.#store.abandon(error);
      this.suspend();
    }
  }

  /** Reports a failure that nobody waits for, and lets the queue or topic rest where it happened. */
  #putOff(owner: string | undefined, error: unknown): void {
    // That is told by `onAvailability`.
    if (!(error instanceof Unavailable)) this.#options.onFailure?.(error);
    if (owner !== undefined) this.#engine.postpone(owner, this.#clock.now() + failedWorkMs);
    this.#setTimer();
  }

  #askAgain(command: CommandOf<'receive'>): Asked {
    const now = this.#clock.now();
    if (this.#isBehind(command)) return { noneUntil: now };
    const { outcome } = this.#step(command, now);
    if (!outcome.ok) return { received: outcome };
    return outcome.messages.length === 0
      ? { noneUntil: outcome.noneUntil }
      : { received: this.#contents.delivered(command.queue, outcome.messages) };
  }

  #serve(): void {
    if (!this.#store.isFrozen) this.#polls.serve();
  }

  #doWhatIsDue(): void {
    this.#timer.clear();
    const now = this.#clock.now();
    if (!this.#store.isFrozen) {
      const due = this.#nextTickAt();
      if (due !== undefined && due <= now && this.#rest === undefined) this.#tick(now);
      this.#polls.stirDue(now);
      this.#serve();
    }
    this.#polls.giveUpOverdue(now);
    this.#setTimer();
  }

  #tick(now: number): void {
    try {
      const { outcome } = this.#step({ type: 'tick' }, now);
      this.#tickedAt = now;
      if (outcome.ok && outcome.isUnfinished) this.#rest = this.#takeRest();
      if (outcome.ok) this.#work.follow(outcome);
    } catch (error) {
      this.#noTickBefore = now + failedTickMs;
      this.#putOff(error instanceof CommandFailed ? error.working : undefined, error);
    }
  }

  /** Ends when what the tick did is kept, so that little waits to be written, and other requests have had their turn. */
  async #takeRest(): Promise<void> {
    await this.#store.kept()?.catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    this.#rest = undefined;
    this.#setTimer();
  }

  #nextAt(): number | undefined {
    // What could not be kept does not fall due; but nobody waits beyond their deadline.
    if (this.#store.isFrozen) return this.#polls.nextDeadline();
    const due = this.#nextTickAt();
    const wake = this.#polls.nextAt();
    return due === undefined || wake === undefined ? (due ?? wake) : Math.min(due, wake);
  }

  /** None while nothing can be added: a tick would, for move tasks and replays. What expires does so with other commands. */
  #nextTickAt(): number | undefined {
    const due = this.unavailable() === undefined ? this.#engine.nextDueAt() : undefined;
    return due === undefined ? undefined : Math.max(due, this.#noTickBefore);
  }

  #setTimer(): void {
    this.#timer.set(this.#rest === undefined ? this.#nextAt() : this.#polls.nextDeadline());
  }
}
