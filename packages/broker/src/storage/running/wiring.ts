/**
 * Makes the parts that run above a writer, and connects them: what a change wakes, what follows a tick, what stops when
 * nothing can be kept. The verbs of the port are in engine-backend.ts, and the rules in core.
 */

import { randomUUID } from 'node:crypto';
import { type Change, type OwnerId, topicOwner } from '../../core/changes.ts';
import type { Command, Outcome } from '../../core/commands.ts';
import { type Applied, Engine, type Ids } from '../../core/engine.ts';
import { type Limits, strictLimits } from '../../core/limits.ts';
import type { Profile } from '../../core/queue/attributes.ts';
import type { Signer } from '../../core/topic/envelope.ts';
import type { Judge } from '../../core/topic/fan-out.ts';
import type { Commit, Poster } from '../backend.ts';
import type { Clock } from '../clock.ts';
import { andThen, type NowOrLater } from '../now-or-later.ts';
import { EventReaders } from '../observers/event-readers.ts';
import type { StoreReader } from '../store.ts';
import { Availability } from './availability.ts';
import { ContentReader } from './content-reader.ts';
import { ExpiryTurns } from './expiry-turns.ts';
import { OutsideWork } from './outside-work.ts';
import { Queries } from './queries.ts';
import { Receives } from './receives.ts';
import { Schedule } from './schedule.ts';
import { asItIs, type Writer, type WriterUser } from './writer.ts';

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
  readonly onAvailability?: ((reason: string | undefined, isFrozen: boolean) => void) | undefined;
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
  /** Decides whether topics may send to queues; without one, all may. */
  readonly judge?: Judge | undefined;
  /** Calls HTTP endpoints; without one no endpoint is ever reached. */
  readonly poster?: Poster;
}

/** What a kind of store provides: its writer, and where contents are read. */
export interface Parts {
  readonly writer: Writer;
  readonly store: StoreReader;
}

/** What its writer may need of a backend. */
export interface PartsOptions {
  readonly newEngine: () => Engine;
  readonly ids: Ids;
  readonly user: WriterUser;
}

const ignore = (): void => {};

export class Wiring implements WriterUser {
  readonly realm: { readonly region: string; readonly account: string };
  readonly writer: Writer;
  readonly store: StoreReader;
  readonly availability: Availability;
  readonly readers: EventReaders;
  readonly receives: Receives;
  readonly queries: Queries;
  readonly work: OutsideWork;
  readonly schedule: Schedule;
  readonly #options: EngineBackendOptions;

  constructor(options: EngineBackendOptions, partsFor: (options: PartsOptions) => Parts) {
    const { region = 'us-east-1', account = '000000000000', clock } = options;
    const { onError = ignore, onFailure = ignore, onUnreadable = ignore } = options;
    this.#options = options;
    this.realm = { region, account };
    const contents = new ContentReader(() => this.store, onUnreadable);
    this.readers = new EventReaders((...message) => contents.ifReadable(...message), onError);
    const parts = partsFor({
      newEngine: () => this.#newEngine(),
      ids: options.ids ?? { uuid: randomUUID },
      user: this,
    });
    const { writer, store } = parts;
    const availability = new Availability(writer);
    const shared = { writer, store, contents, availability, now: () => clock.now() };
    const turns = new ExpiryTurns({
      ...shared,
      follow: (tick) => this.work.follow(tick),
      onChange: () => this.schedule.set(),
      onFailure,
    });
    this.writer = writer;
    this.store = store;
    this.availability = availability;
    this.work = new OutsideWork({
      ...shared,
      poster: options.poster,
      signer: options.signer,
      kept: () => writer.kept(),
      step: (command) =>
        turns.isBehind(command)
          ? undefined
          : andThen(writer.step(command, clock.now()), () => undefined),
      report: (command) =>
        this.schedule.whenCurrent(command, async (now) => {
          await this.apply(command, now);
        }),
      onFailure: (error, topic) => turns.putOff(topic && topicOwner(topic), error),
    });
    this.queries = new Queries({
      ...shared,
      apply: (command, now) => this.apply(command, now),
      suppressed: this.readers.suppressed,
    });
    this.receives = new Receives({
      ...shared,
      isBehind: (command) => turns.isBehind(command),
      whenAccepted: (command, go) => this.whenAccepted(command, go),
      schedule: () => this.schedule,
    });
    const { polls } = this.receives;
    this.schedule = new Schedule({ ...shared, clock, turns, polls, work: this.work });
  }

  now(): number {
    return this.#options.clock.now();
  }

  /** Calls `go` with the current time when it is the command's turn, unless what it does could not be kept. */
  whenAccepted<T>(command: Command, go: (now: number) => Promise<T>): Promise<T> {
    return this.schedule.whenCurrent(command, (now) => {
      const refusal = this.availability.refusalOf(command);
      return refusal === undefined ? go(now) : Promise.reject(refusal);
    });
  }

  /** Applies a command, and serves those who wait for what it changed. */
  apply<C extends Command>(command: C, now: number): NowOrLater<Outcome<C['type']>> {
    return andThen(this.writer.step(command, now), ({ outcome }) => {
      this.schedule.serve();
      return outcome;
    });
  }

  /** Resolves with the answer once all that it depends on is kept. */
  answer<T>(answer: NowOrLater<T>): Promise<T> {
    return andThen(answer, (value) => this.writer.answer<T, T>(value, asItIs));
  }

  applied(applied: Applied<Command['type']>): void {
    if (applied.events.length > 0) this.readers.tell(applied.events, this.writer.kept());
    const { polls } = this.receives;
    if (polls.size > 0) polls.stir(applied.changes);
  }

  absorbed(changes: readonly Change[]): void {
    this.receives.polls.stir(changes);
    this.schedule.serve();
  }

  stirred(queues: readonly OwnerId[] | 'all'): void {
    const { polls } = this.receives;
    if (queues === 'all') polls.stirAll();
    else polls.stirQueues(queues);
    this.schedule.setAnew();
    void this.schedule.doWhatIsDue();
  }

  suspend(): void {
    this.#tellAvailability();
    this.schedule.setAnew();
  }

  committed(commit: Commit): void {
    this.#options.onCommit?.(commit);
  }

  resume(): void {
    this.#tellAvailability();
    this.receives.polls.stirAll();
    void this.schedule.doWhatIsDue();
  }

  #newEngine(): Engine {
    const { limits = strictLimits, profile = 'aws', arePoliciesEnforced = false } = this.#options;
    const { signer, judge } = this.#options;
    return new Engine({ ...this.realm, limits, profile, arePoliciesEnforced, signer, judge });
  }

  #tellAvailability(): void {
    this.#options.onAvailability?.(this.writer.unavailable(), this.writer.isFrozen);
  }
}
