/**
 * The kept entries of all queues and topics, in memory: the changes that an engine made, folded into one value for each key.
 * Memory mode keeps bodies and window texts here; tests load engines from here.
 *
 * It keeps what it is given and decides nothing. Contents are resolved on the way in: a moved message gets its content
 * from the key it had before, so `from` is never stored.
 */

import {
  type Change,
  type KeptAttempt,
  type KeptDelivery,
  type KeptMessage,
  type KeptMoveTask,
  type KeptPost,
  type KeptQueue,
  type KeptWindowEntry,
  type MessageContent,
  type OwnerId,
  type Publication,
  type QueueChange,
  topicIn,
} from '../../core/changes.ts';
import { preparedNow } from '../running/prepared-answers.ts';
import type { Store } from '../store.ts';
import { BySequence } from './by-sequence.ts';
import { MessageColumns, type ResolvedMessage } from './message-columns.ts';
import { setOrDelete } from './set-or-delete.ts';
import { TopicRecords } from './topic-records.ts';

/** Everything under one queue's name. */
class QueueEntries {
  kept: KeptQueue;
  counter: number | undefined;
  readonly sends: MessageColumns = new MessageColumns();
  readonly deliveries: BySequence<KeptDelivery> = new BySequence();
  readonly attempts: Map<string, KeptAttempt> = new Map();
  readonly tasks: Map<string, KeptMoveTask> = new Map();

  constructor(kept: KeptQueue) {
    this.kept = kept;
  }
}

export class MemoryStore implements Store {
  readonly kind = 'memory';
  readonly #queues: Map<string, QueueEntries> = new Map();
  /** The queue that was changed last: the next change is most often there too. */
  #latest: { readonly name: string; readonly entries: QueueEntries } | undefined;
  readonly #names: Map<string, number> = new Map();
  readonly #topics: TopicRecords = new TopicRecords();
  #abandonedFor: string | undefined;

  /** Keeps one command's changes, in their order. */
  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      if ('topic' in change) this.#topics.apply(change);
      else this.#applyOne(change);
    }
  }

  noteTime(): void {}

  kept(): undefined {
    return undefined;
  }

  answer<O, A>(outcome: O, prepare: (outcome: O) => A): Promise<A> {
    return preparedNow(outcome, prepare);
  }

  fileBytes(): undefined {
    return undefined;
  }

  get isFrozen(): boolean {
    return this.isIncomplete;
  }

  get isIncomplete(): boolean {
    return this.#abandonedFor !== undefined;
  }

  unavailable(): string | undefined {
    return this.#abandonedFor;
  }

  content(queue: string, sequence: number): MessageContent | undefined {
    return this.#queues.get(queue)?.sends.message(sequence)?.content;
  }

  windowEntries(owner: OwnerId, sequences: readonly number[]): (KeptWindowEntry | undefined)[] {
    const topic = topicIn(owner);
    if (topic !== undefined) return this.#topics.windowEntries(topic, sequences);
    const sends = this.#queues.get(owner)?.sends;
    return sequences.map((sequence) => sends?.entry(sequence));
  }

  archived(topic: string, sequence: number): Publication | undefined {
    return this.#topics.archived(topic, sequence);
  }

  post(topic: string, id: number): KeptPost | undefined {
    return this.#topics.post(topic, id);
  }

  clear(): void {
    this.#queues.clear();
    this.#latest = undefined;
    this.#names.clear();
    this.#topics.clear();
  }

  async close(): Promise<void> {}

  *load(): Generator<readonly Change[]> {
    yield [...this.changes()];
  }

  *applied(owners: ReadonlySet<string>): Generator<readonly Change[]> {
    for (const owner of owners) yield [...this.changes(owner)];
  }

  abandon(error: unknown): void {
    this.#abandonedFor = `a queue or topic could not be loaded again, so the server has to be restarted: ${error}`;
  }

  /**
   * All entries, or those of one owner (`ownerOf`), as the puts that load an engine: of each queue its settings, counter,
   * messages, deliveries and window in order of their sequence, attempts, tasks; then the names still taken; then topics.
   */
  *changes(owner?: string): Generator<Change> {
    for (const [name, entries] of at(this.#queues, owner)) yield* entriesOf(name, entries);
    for (const [name, value] of at(this.#names, owner)) yield { kind: 'name', queue: name, value };
    yield* this.#topics.changes(owner);
  }

  #applyOne(change: QueueChange): void {
    if (change.kind === 'name') {
      setOrDelete(this.#names, change.queue, change.value);
      return;
    }
    if (change.kind === 'queue') {
      this.#applyQueue(change.queue, change.value);
      return;
    }
    const entries = this.#find(change.queue);
    if (entries === undefined) {
      throw new Error(`a ${change.kind} came for queue ${change.queue}, which is not kept`);
    }
    switch (change.kind) {
      case 'counter':
        entries.counter = change.value;
        break;
      case 'message':
        entries.sends.setMessage(change.id, change.value && this.#resolve(change.value));
        break;
      case 'delivery':
        setOrDelete(entries.deliveries, change.id, change.value);
        break;
      case 'window':
        entries.sends.setEntry(change.id, change.value);
        break;
      case 'attempt':
        setOrDelete(entries.attempts, change.id, change.value);
        break;
      case 'task':
        setOrDelete(entries.tasks, change.id, change.value);
        break;
      case 'cleared':
        if (change.what === 'window') {
          entries.sends.clearEntries();
          break;
        }
        entries.sends.clear();
        entries.deliveries.clear();
        entries.attempts.clear();
        break;
    }
  }

  #find(name: string): QueueEntries | undefined {
    if (this.#latest?.name === name) return this.#latest.entries;
    const entries = this.#queues.get(name);
    if (entries !== undefined) this.#latest = { name, entries };
    return entries;
  }

  #applyQueue(name: string, value: KeptQueue | null): void {
    const entries = this.#queues.get(name);
    this.#latest = undefined;
    if (value === null) this.#queues.delete(name);
    else if (entries === undefined) this.#queues.set(name, new QueueEntries(value));
    else entries.kept = value;
  }

  #resolve(message: KeptMessage): ResolvedMessage {
    if (!('from' in message.content)) return message as ResolvedMessage;
    const { queue, sequence } = message.content.from;
    const content = this.content(queue, sequence);
    if (content === undefined) {
      throw new Error(`a message moved from ${queue} ${sequence}, which is not kept`);
    }
    return { ...message, content };
  }
}

/** All of them, or the one of this name. */
function at<T>(all: ReadonlyMap<string, T>, name: string | undefined): Iterable<[string, T]> {
  if (name === undefined) return all;
  const found = all.get(name);
  return found === undefined ? [] : [[name, found]];
}

function* entriesOf(queue: string, entries: QueueEntries): Generator<Change> {
  yield { kind: 'queue', queue, value: entries.kept };
  if (entries.counter !== undefined) yield { kind: 'counter', queue, value: entries.counter };
  for (const [id, value] of entries.sends.messages()) yield { kind: 'message', queue, id, value };
  for (const [id, value] of entries.deliveries) {
    yield { kind: 'delivery', queue, id, value };
  }
  for (const [id, value] of entries.sends.entries()) yield { kind: 'window', queue, id, value };
  for (const [id, value] of entries.attempts) yield { kind: 'attempt', queue, id, value };
  for (const [id, value] of entries.tasks) yield { kind: 'task', queue, id, value };
}
