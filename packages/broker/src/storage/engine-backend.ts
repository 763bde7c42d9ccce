/**
 * The backend: a façade that offers the verbs of the port over a writer and a store. An answer leaves only when everything
 * applied before it is durable, because it may depend on any of it.
 *
 * Its modes. The writer decides between open, full, frozen and incomplete, and running/availability.ts what each refuses:
 *
 *   open        accepts everything. Becomes full when the disk has only the room left that removals need, and frozen when a
 *               commit fails.
 *   resting     open, between two ticks of a backlog that expires (running/expiry-turns.ts). No tick runs, and a request for
 *               a queue or topic that still holds expired items waits. Ends when the last tick is kept and other requests
 *               have had a turn.
 *   full        refuses what adds, and answers commands that look, receive or remove. Ticks stop, because move tasks and
 *               replays add messages. Becomes open when there is room again.
 *   frozen      answers only commands that look; long polls still time out. The store retries a commit: it becomes full when
 *               a small one succeeds, and open when a large one does.
 *   incomplete  answers nothing: after a failed commit, what is kept could not be loaded again, so the in-memory state may no
 *               longer match it. Ends with a restart; over PostgreSQL, when the database can be reached again.
 *   closed      from any other mode when the server stops, and final: requests that are under way are answered, waits end
 *               without messages, and nobody waits any more.
 *
 * This file has no rules. Those of queues and topics are in core; running/wiring.ts connects the parts that run above a writer.
 */

import type { MessageContent } from '../core/changes.ts';
import type { CommandOf, Outcome, QueueDescription } from '../core/commands.ts';
import type { Refusal } from '../core/errors.ts';
import type { Event } from '../core/events.ts';
import type {
  Backend,
  Cluster,
  DeliveryCounts,
  Explained,
  FailedDeliveries,
  Losses,
  PeekedPage,
  PlainCommand,
  Received,
  RememberedSend,
  Usage,
} from './backend.ts';
import { allOf, andThen } from './now-or-later.ts';
import {
  type EngineBackendOptions,
  type Parts,
  type PartsOptions,
  Wiring,
} from './running/wiring.ts';
import { asItIs } from './running/writer.ts';

const nothingLost: Losses = { count: 0, latest: undefined };
const nothingHeld: ReadonlyMap<string, QueueDescription> = new Map();

export class EngineBackend implements Backend {
  readonly realm: { readonly region: string; readonly account: string };
  readonly startedAt: number;
  readonly #running: Wiring;

  constructor(options: EngineBackendOptions, partsFor: (options: PartsOptions) => Parts) {
    this.#running = new Wiring(options, partsFor);
    this.realm = this.#running.realm;
    this.startedAt = this.#running.now();
  }

  get kind(): string {
    return this.#running.writer.kind;
  }

  unavailable(): string | undefined {
    return this.#running.writer.unavailable();
  }

  losses(): Losses {
    return this.#running.writer.losses?.() ?? nothingLost;
  }

  /** Loads what is kept; before anything else. */
  async load(onProgress: (changes: number) => void = () => {}): Promise<void> {
    await this.#running.writer.load(onProgress);
    this.#running.schedule.set();
  }

  run<C extends PlainCommand, A = Outcome<C['type']>>(
    command: C,
    prepare: (outcome: Outcome<C['type']>) => A = asItIs,
  ): Promise<A> {
    return this.#running.whenAccepted(command, (now) =>
      andThen(this.#running.apply(command, now), (outcome) =>
        this.#running.writer.answer(outcome, prepare),
      ),
    );
  }

  receive<A = Received>(
    command: CommandOf<'receive'>,
    client: { readonly signal: AbortSignal },
    prepare: (outcome: Received) => A = asItIs,
  ): Promise<A> {
    return this.#running.receives.receive(command, client, prepare);
  }

  peek(command: CommandOf<'peek-messages'>): Promise<PeekedPage | Refusal> {
    return this.#running.whenAccepted(command, (now) =>
      this.#running.answer(this.#running.queries.peek(command, now)),
    );
  }

  explain(
    command: CommandOf<'explain' | 'explain-topic'>,
  ): Promise<{ ok: true; entries: readonly Explained[] } | Refusal> {
    return this.#running.whenAccepted(command, (now) =>
      this.#running.answer(this.#running.queries.explain(command, now)),
    );
  }

  suppressed(queue: string): Promise<readonly RememberedSend[]> {
    return this.#running.answer(this.#running.readers.suppressed.ofQueue(queue));
  }

  contents(
    queue: string,
    sequences: readonly number[],
  ): Promise<readonly (MessageContent | undefined)[]> {
    const unreliable = this.#running.availability.unreliable();
    if (unreliable !== undefined) return Promise.reject(unreliable);
    return this.#running.answer(
      allOf(sequences.map((sequence) => this.#running.store.content(queue, sequence))),
    );
  }

  held(queues: readonly string[]): Promise<ReadonlyMap<string, QueueDescription>> {
    return this.#running.writer.held?.(queues) ?? Promise.resolve(nothingHeld);
  }

  failedDeliveries(topic: string): Promise<FailedDeliveries> {
    return Promise.resolve(this.#running.readers.failures.of(topic));
  }

  deliveryCounts(topic: string): Promise<ReadonlyMap<string, DeliveryCounts>> {
    return Promise.resolve(this.#running.readers.counts.of(topic));
  }

  usage(): Usage {
    return {
      waitingReceives: this.#running.receives.polls.size,
      storeBytes: this.#running.writer.fileBytes(),
    };
  }

  cluster(): Cluster | undefined {
    return this.#running.writer.cluster?.();
  }

  now(): number {
    return this.#running.now();
  }

  async advance(milliseconds: number): Promise<number> {
    await this.#running.schedule.advance(milliseconds);
    // Answered means kept, for time too: it does not go back with a restart.
    this.#running.writer.noteTime(milliseconds);
    return this.#running.answer(this.now());
  }

  reset(): Promise<void> {
    const frozen = this.#running.availability.frozen();
    if (frozen !== undefined) return Promise.reject(frozen);
    this.#running.receives.polls.giveUpAll();
    const cleared = andThen(this.#running.writer.reset(), () => {
      this.#running.readers.clear();
      this.#running.schedule.set();
    });
    return this.#running.answer(cleared).then(() => this.#running.readers.tellReset());
  }

  listen(listener: (event: Event) => void, onReset?: () => void): () => void {
    return this.#running.readers.listen({ listener, onReset });
  }

  endWaits(): void {
    this.#running.availability.isClosed = true;
    this.#running.schedule.end();
    this.#running.receives.polls.giveUpAll();
  }

  async close(): Promise<void> {
    this.endWaits();
    await this.#running.work.close();
    await this.#running.writer.close();
  }
}
