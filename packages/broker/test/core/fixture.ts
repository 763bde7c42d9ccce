/**
 * The base of the engine's tests: an engine whose clock is turned by hand and whose ids are counted, and queues in it
 * with a verb for each action. Every verb has defaults, so what a test sets is what it is about. A verb expects to
 * succeed; its `try…` twin returns the outcome as it is, for `assertRefused` to check.
 *
 * The engine holds no bodies; the fixture keeps contents from the changes, as a store would, and joins them to what is
 * received.
 */

import assert from 'node:assert/strict';
import type { Change, ContentFrom, MessageContent } from '../../src/core/changes.ts';
import type {
  Attributes,
  Command,
  Outcome,
  ReceivedMessage,
  SendEntry,
  SendResult,
} from '../../src/core/commands.ts';
import { Engine, type EngineOptions } from '../../src/core/engine.ts';
import { type ErrorShape, errorShape, errorText, type Refusal } from '../../src/core/errors.ts';
import type { Event } from '../../src/core/events.ts';
import type { Limits } from '../../src/core/limits.ts';

/** When every test begins. */
export const startedAt = 1_700_000_000_000;

const ticksMax = 10_000;

export interface Delivered extends ReceivedMessage {
  readonly body: string;
  readonly content: MessageContent;
}

interface ReceiveOptions {
  readonly count?: number | undefined;
  readonly visibilitySeconds?: number | undefined;
  readonly waitSeconds?: number | undefined;
  readonly attemptId?: string | undefined;
}

interface QueueOptions {
  readonly fifo?: boolean;
  /** Default `jobs`, with `.fifo` on a FIFO queue. */
  readonly name?: string;
  readonly attributes?: Attributes;
  readonly limits?: Limits;
}

export class TestEngine {
  readonly engine: Engine;
  readonly events: Event[] = [];
  /** All changes so far. */
  readonly changes: Change[] = [];
  now: number = startedAt;
  readonly #contents: Map<string, MessageContent> = new Map();
  #uuids = 0;

  constructor(options: EngineOptions = {}) {
    this.engine = new Engine(options);
  }

  apply<C extends Command>(command: C): Outcome<C['type']> {
    const context = { now: this.now, ids: this };
    const { outcome, changes, events } = this.engine.apply(command, context);
    for (const change of changes) {
      this.#keep(change);
      this.changes.push(change);
    }
    this.events.push(...events);
    return outcome as Outcome<C['type']>;
  }

  /** Turns the clock, then does everything that has fallen due by the new time. */
  advance(seconds: number): void {
    this.now += Math.round(seconds * 1000);
    let ticks = 0;
    for (let due = this.engine.nextDueAt(); due !== undefined && due <= this.now; ) {
      this.follow(accepted(this.apply({ type: 'tick' })));
      ticks += 1;
      assert.ok(ticks < ticksMax, 'the engine never comes to rest');
      due = this.engine.nextDueAt();
    }
  }

  /** Does what a tick asks for; only topics ask. */
  protected follow(_tick: Extract<Outcome<'tick'>, { ok: true }>): void {}

  createQueue(name: string, attributes: Attributes = {}): TestQueue {
    const fifo = name.endsWith('.fifo') ? { FifoQueue: 'true' } : {};
    const command = { type: 'create-queue', queue: name, attributes: { ...fifo, ...attributes } };
    accepted(this.apply(command as Command & { type: 'create-queue' }));
    return new TestQueue(this, name);
  }

  uuid(): string {
    this.#uuids += 1;
    return `00000000-0000-4000-8000-${this.#uuids.toString(16).padStart(12, '0')}`;
  }

  contentOf(queue: string, sequence: number): MessageContent {
    const content = this.#contents.get(`${queue}/${sequence}`);
    assert.ok(content, `nothing is kept of message ${sequence} of ${queue}`);
    return content;
  }

  #keep(change: Change): void {
    if (change.kind !== 'message' || change.value === null) return;
    const { content } = change.value;
    const from = (content as Partial<ContentFrom>).from;
    const kept = from === undefined ? content : this.contentOf(from.queue, from.sequence);
    this.#contents.set(`${change.queue}/${change.id}`, kept as MessageContent);
  }
}

/** What tests know of a queue by its name: its ARN, and the defaults of what they send. */
export class NamedQueue {
  readonly name: string;
  readonly arn: string;
  #sends = 0;

  constructor(name: string) {
    this.name = name;
    this.arn = arnOf(name);
  }

  get isFifo(): boolean {
    return this.name.endsWith('.fifo');
  }

  /** Body `hello`; on a FIFO queue group `g` and a deduplication id of its own. */
  protected filled(entry: SendEntry): SendEntry {
    this.#sends += 1;
    const ids = this.isFifo ? { groupId: 'g', deduplicationId: `send-${this.#sends}` } : {};
    return { body: 'hello', ...ids, ...entry };
  }
}

/** One queue and the engine it lives in. */
export class TestQueue extends NamedQueue {
  readonly home: TestEngine;

  constructor(home: TestEngine, name: string) {
    super(name);
    this.home = home;
  }

  advance(seconds: number): void {
    this.home.advance(seconds);
  }

  trySend(entry: SendEntry = {}): SendResult | Refusal {
    const outcome = this.home.apply({
      type: 'send',
      queue: this.name,
      isBatch: false,
      entries: [this.filled(entry)],
    });
    return outcome.ok ? (outcome.results[0] as SendResult | Refusal) : outcome;
  }

  send(entry: SendEntry = {}): SendResult {
    return accepted(this.trySend(entry));
  }

  /** Up to ten messages. */
  tryReceive(options: ReceiveOptions = {}): Outcome<'receive'> {
    return this.home.apply({ type: 'receive', queue: this.name, count: 10, ...options });
  }

  receive(options: ReceiveOptions = {}): readonly Delivered[] {
    return accepted(this.tryReceive(options)).messages.map((message) => {
      const content = this.home.contentOf(this.name, message.sequence);
      return { ...message, content, body: content.body };
    });
  }

  receiveBodies(options: ReceiveOptions = {}): readonly string[] {
    return this.receive(options).map(({ body }) => body);
  }

  /** The one message that can be received. */
  receiveOne(options: ReceiveOptions = {}): Delivered {
    const messages = this.receive({ count: 1, ...options });
    assert.equal(messages.length, 1, 'there should be a message to receive');
    return messages[0] as Delivered;
  }

  tryRemove(receiptHandle: string | undefined): { ok: true } | Refusal {
    const entries = [{ receiptHandle }];
    return this.home.apply({ type: 'delete-messages', queue: this.name, isBatch: false, entries });
  }

  remove(...messages: readonly ReceivedMessage[]): void {
    for (const { receiptHandle } of messages) accepted(this.tryRemove(receiptHandle));
  }

  trySet(attributes: Attributes): Outcome<'set-attributes'> {
    return this.home.apply({ type: 'set-attributes', queue: this.name, attributes });
  }

  set(attributes: Attributes): void {
    accepted(this.trySet(attributes));
  }

  attributes(...names: readonly string[]): Attributes {
    const command = { type: 'get-attributes', queue: this.name, names } as const;
    return accepted(this.home.apply(command)).attributes;
  }

  delete(): void {
    accepted(this.home.apply({ type: 'delete-queue', queue: this.name }));
  }

  /** Messages visible, in flight and delayed. */
  counts(): readonly [number, number, number] {
    const shown = this.attributes('All');
    return [
      Number(shown['ApproximateNumberOfMessages']),
      Number(shown['ApproximateNumberOfMessagesNotVisible']),
      Number(shown['ApproximateNumberOfMessagesDelayed']),
    ];
  }
}

export function openEngine(limits?: Limits): TestEngine {
  return new TestEngine(limits === undefined ? {} : { limits });
}

/** A queue in an engine of its own. */
export function openQueue(options: QueueOptions = {}): TestQueue {
  const { fifo = false, attributes = {}, limits } = options;
  const name = options.name ?? (fifo ? 'jobs.fifo' : 'jobs');
  return openEngine(limits).createQueue(name, attributes);
}

/** A queue and its dead-letter queue, `jobs` and `dead`. */
export function openQueueWithDeadLetters(
  options: QueueOptions & { receiveCountMax?: number } = {},
): { queue: TestQueue; dead: TestQueue } {
  const { fifo = false, receiveCountMax = 1, attributes = {}, limits } = options;
  const suffix = fifo ? '.fifo' : '';
  const home = openEngine(limits);
  const dead = home.createQueue(`dead${suffix}`);
  const queue = home.createQueue(`jobs${suffix}`, {
    RedrivePolicy: redrivePolicy(dead.arn, receiveCountMax),
    ...attributes,
  });
  return { queue, dead };
}

export function arnOf(name: string): string {
  return `arn:aws:sqs:us-east-1:000000000000:${name}`;
}

export function redrivePolicy(deadLetterTargetArn: string, maxReceiveCount: number): string {
  return JSON.stringify({ deadLetterTargetArn, maxReceiveCount });
}

export function accepted<T extends { readonly ok: boolean }>(
  outcome: T,
): Extract<T, { readonly ok: true }> {
  const refusal = outcome as unknown as Refusal;
  assert.ok(outcome.ok, outcome.ok ? '' : `refused: ${errorText(refusal)}`);
  return outcome as Extract<T, { readonly ok: true }>;
}

/** Without a text, only the shape is checked. */
export function assertRefused(
  outcome: { readonly ok: boolean } | undefined,
  shape: ErrorShape,
  text?: string,
): void {
  assert.equal(outcome?.ok, false, 'it should have been refused');
  const refusal = outcome as Refusal;
  assert.equal(errorShape(refusal.code), shape, errorText(refusal));
  assert.doesNotMatch(errorText(refusal), /\{\w+\?\}/, 'a text lacks one of its details');
  if (text !== undefined) assert.equal(errorText(refusal), text);
}
