/**
 * The set of queues: creating, finding, listing, configuring and deleting them (§5, §6), and the names that a deletion
 * still blocks. What a queue contains is left to the queue (queue/queue.ts).
 */

import { queueArn, queueOfArn, type Realm } from '../arn.ts';
import type { KeptQueue } from '../changes.ts';
import type { Attributes, CommandOf, Outcome } from '../commands.ts';
import { type Refusal, refuse } from '../errors.ts';
import { type Limits, nameLengthMax, pageSizeMax } from '../limits.ts';
import { Deadlines } from '../structures/deadlines.ts';
import type { Transaction } from '../transaction.ts';
import {
  changedAttributes,
  firstDifference,
  isAttributeName,
  type Profile,
  readAttributes,
  shownAttributes,
} from './attributes.ts';
import { Queue } from './queue.ts';
import { readRedriveAllowPolicy } from './redrive-policy.ts';
import { checkTags } from './tags.ts';

const nameForm = /^[A-Za-z0-9_-]+$/;
const fifoSuffix = '.fifo';

export class Queues {
  readonly #realm: Realm;
  readonly #limits: Limits;
  /** The profile of a new FIFO queue whose creator sets none. */
  readonly #profile: Profile;
  readonly #queues: Map<string, Queue> = new Map();
  /** Sorted, for pages. */
  readonly #names: string[] = [];
  /** Names of deleted queues, and when they are free again. */
  readonly #taken: Deadlines = new Deadlines();

  constructor(realm: Realm, limits: Limits, profile: Profile) {
    this.#realm = realm;
    this.#limits = limits;
    this.#profile = profile;
  }

  get(name: string): Queue | undefined {
    return this.#queues.get(name);
  }

  queueOf(arn: string): Queue | undefined {
    const name = queueOfArn(this.#realm, arn);
    return name === undefined ? undefined : this.#queues.get(name);
  }

  all(): Iterable<Queue> {
    return this.#queues.values();
  }

  /** When the next name is free again. */
  nextFreeAt(): number | undefined {
    return this.#taken.first();
  }

  /** Names whose wait is over. */
  freedBy(now: number): string[] {
    return this.#taken.dueBy(now);
  }

  create(command: CommandOf<'create-queue'>, tx: Transaction): Outcome<'create-queue'> {
    const { queue: name, attributes: given = {}, tags = {} } = command;
    if (name === undefined) return refuse('queue-name-missing');
    const existing = this.#queues.get(name);
    // A FIFO queue that exists is also found without FifoQueue (5.2).
    const asksForFifo = existing?.isFifo === true || given['FifoQueue']?.toLowerCase() === 'true';
    const misnamed = checkName(name, asksForFifo);
    if (misnamed !== undefined) return misnamed;
    if (existing !== undefined) return this.#sameAgain(existing, given);
    const refusal = checkTags(name, tags);
    if (refusal !== undefined) return refusal;
    const isFifo = name.endsWith(fifoSuffix);
    const stored: Attributes = isFifo && this.#profile !== 'aws' ? { Profile: this.#profile } : {};
    const changed = this.#changed({ name, isFifo, stored }, given);
    if (!changed.ok) return changed;
    const freeAt = this.#taken.timeOf(name);
    if (freeAt !== undefined && tx.now < freeAt) {
      return refuse('queue-deleted-recently', { seconds: this.#limits.nameReuseMs / 1000 });
    }
    const value: KeptQueue = {
      createdAt: tx.now,
      modifiedAt: tx.now,
      secret: tx.ids.uuid(),
      attributes: changed.stored,
      tags,
    };
    if (freeAt !== undefined) this.#freeName(name, tx);
    // Here and below the change comes first: if what follows throws, it tells where.
    tx.changes.push({ kind: 'queue', queue: name, value });
    this.put(name, value);
    tx.events.push({ type: 'queue-created', at: tx.now, queue: name });
    return { ok: true, queue: name };
  }

  delete(queue: Queue, tx: Transaction): Outcome<'delete-queue'> {
    const { name } = queue;
    tx.changes.push({ kind: 'queue', queue: name, value: null });
    this.remove(name);
    if (this.#limits.nameReuseMs > 0) {
      tx.changes.push({ kind: 'name', queue: name, value: tx.now });
      this.takeName(name, tx.now);
    }
    tx.events.push({ type: 'queue-deleted', at: tx.now, queue: name });
    return { ok: true };
  }

  find({ queue: name }: CommandOf<'find-queue'>): Outcome<'find-queue'> {
    if (name === undefined) return refuse('queue-name-missing');
    if (name === '') return refuse('queue-name-empty');
    return this.#queues.has(name) ? { ok: true, queue: name } : refuse('queue-missing');
  }

  list({ prefix = '', limit, after }: CommandOf<'list-queues'>): Outcome<'list-queues'> {
    const from = this.#position(after !== undefined && after >= prefix ? `${after}\0` : prefix);
    const names: string[] = [];
    for (let at = from; at < this.#names.length && names.length <= pageSizeMax; at += 1) {
      const name = this.#names[at] as string;
      if (!name.startsWith(prefix)) break;
      names.push(name);
    }
    return page(names, limit);
  }

  listSourcesOf(
    queue: Queue,
    { limit, after = '' }: CommandOf<'list-dead-letter-sources'>,
  ): Outcome<'list-dead-letter-sources'> {
    const isSource = (name: string): boolean =>
      this.#queues.get(name)?.settings.deadLetter?.targetArn === queue.arn;
    return page(
      this.#names.filter((name) => name > after && isSource(name)),
      limit,
    );
  }

  getAttributes(queue: Queue, { names }: CommandOf<'get-attributes'>): Outcome<'get-attributes'> {
    const unknown = names.find((name) => !isAttributeName(name));
    if (unknown !== undefined) return refuse('attribute-unknown', { attribute: unknown });
    const { kept } = queue;
    const all: Record<string, string> = {
      ...shownAttributes(queue.isFifo, kept.attributes, names),
      QueueArn: queue.arn,
      CreatedTimestamp: String(Math.floor(kept.createdAt / 1000)),
      LastModifiedTimestamp: String(Math.floor(kept.modifiedAt / 1000)),
      ApproximateNumberOfMessages: String(queue.visibility.visible),
      ApproximateNumberOfMessagesNotVisible: String(queue.visibility.inFlight),
      ApproximateNumberOfMessagesDelayed: String(queue.visibility.delayed),
    };
    if (names.includes('All')) return { ok: true, attributes: all };
    const asked = Object.entries(all).filter(([name]) => names.includes(name));
    return { ok: true, attributes: Object.fromEntries(asked) };
  }

  setAttributes(
    queue: Queue,
    { attributes }: CommandOf<'set-attributes'>,
    tx: Transaction,
  ): Outcome<'set-attributes'> {
    const { name, isFifo, kept } = queue;
    const changed = this.#changed({ name, isFifo, stored: kept.attributes }, attributes);
    if (!changed.ok) return changed;
    queue.configure(tx, {
      ...queue.kept,
      attributes: changed.stored,
      modifiedAt: tx.now,
    });
    tx.events.push({ type: 'queue-changed', at: tx.now, queue: queue.name });
    return { ok: true };
  }

  /** Forgets names whose wait is over. */
  freeNames(tx: Transaction): void {
    for (const name of this.freedBy(tx.now)) this.#freeName(name, tx);
  }

  // The moves that absorbing a change makes too.

  put(name: string, kept: KeptQueue): void {
    this.#queues.set(name, new Queue(this.#realm, name, kept));
    const at = this.#position(name);
    if (this.#names[at] !== name) this.#names.splice(at, 0, name);
  }

  remove(name: string): void {
    this.#queues.delete(name);
    const at = this.#position(name);
    if (this.#names[at] === name) this.#names.splice(at, 1);
  }

  takeName(name: string, deletedAt: number | null): void {
    this.#taken.set(name, deletedAt === null ? undefined : deletedAt + this.#limits.nameReuseMs);
  }

  #freeName(name: string, tx: Transaction): void {
    tx.changes.push({ kind: 'name', queue: name, value: null });
    this.takeName(name, null);
  }

  /** Checks names and values, and nothing else: what the queue already has may no longer be allowed. */
  #sameAgain(queue: Queue, given: Attributes): Outcome<'create-queue'> {
    const read = readAttributes(queue.isFifo, given);
    if (!read.ok) return read;
    const attribute = firstDifference(queue.isFifo, queue.kept.attributes, read.values);
    if (attribute !== undefined) return refuse('queue-exists', { attribute });
    return { ok: true, queue: queue.name };
  }

  /** The queue's attributes with the given ones applied, or why they are refused. */
  #changed(
    queue: { name: string; isFifo: boolean; stored: Attributes },
    given: Attributes,
  ): { ok: true; stored: Record<string, string> } | Refusal {
    const read = readAttributes(queue.isFifo, given);
    if (!read.ok) return read;
    const changed = changedAttributes(queue.stored, read.values);
    if (!changed.ok) return changed;
    for (const { name, targetArn } of read.values) {
      if (targetArn === undefined) continue;
      const refusal = this.#refusal(queue, targetArn, String(given[name]));
      if (refusal !== undefined) return refusal;
    }
    return changed;
  }

  /** Why a queue cannot be this one's dead-letter queue (12.1–12.3); a queue can be its own. */
  #refusal(
    { name, isFifo }: { name: string; isFifo: boolean },
    targetArn: string,
    value: string,
  ): Refusal | undefined {
    const targetName = queueOfArn(this.#realm, targetArn);
    const target = targetName === undefined ? undefined : this.#queues.get(targetName);
    if (target === undefined && targetName !== name) {
      return refuse('redrive-target-unknown', { value });
    }
    if (targetName?.endsWith(fifoSuffix) !== isFifo)
      return refuse('redrive-target-type', { value });
    const allowed = readRedriveAllowPolicy(target?.kept.attributes['RedriveAllowPolicy'] ?? '');
    const sources = allowed.ok ? allowed.sources : undefined;
    const isDenied = sources !== undefined && !sources.includes(queueArn(this.#realm, name));
    return isDenied ? refuse('redrive-target-denied', { value, target: targetArn }) : undefined;
  }

  /** Where the name is in the sorted list, or where it would be inserted. */
  #position(name: string): number {
    let low = 0;
    let high = this.#names.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#names[middle] as string) < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function checkName(name: string, asksForFifo: boolean): Refusal | undefined {
  if (name === '') return refuse('queue-name-empty');
  const isFifo = name.endsWith(fifoSuffix);
  const stem = isFifo ? name.slice(0, -fifoSuffix.length) : name;
  const isWellFormed = nameForm.test(stem) && name.length <= nameLengthMax;
  if (asksForFifo) return isFifo && isWellFormed ? undefined : refuse('queue-name-not-fifo');
  return isFifo || !isWellFormed ? refuse('queue-name-invalid') : undefined;
}

/** At most a thousand names; `next` is given only if a page size was asked for (5.7). */
function page(names: readonly string[], limit: number | undefined): Outcome<'list-queues'> {
  if (limit === undefined) {
    return { ok: true, queues: names.slice(0, pageSizeMax), next: undefined };
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > pageSizeMax) {
    return refuse('page-size-invalid', { value: limit });
  }
  const queues = names.slice(0, limit);
  return { ok: true, queues, next: names.length > limit ? queues.at(-1) : undefined };
}
