/**
 * One application of one command: the time it happens at, where new ids come from, and what it leaves behind. The clock
 * and the id source are inputs, so replaying the same commands gives identical output.
 *
 * A queue or topic is noted here before anything of it changes, by `touch` or by a change. So when a command throws, it is
 * known what it may have left half done (`concerned`).
 */

import { type Change, ownerOf, topicOwner } from './changes.ts';
import type { Event } from './events.ts';

/** Where new ids come from: lower-case UUIDs, a different one at each call. */
export interface Ids {
  uuid(): string;
}

export interface Context {
  /** Epoch milliseconds; never less than in an earlier command. */
  readonly now: number;
  readonly ids: Ids;
}

/** A queue or topic, as a transaction sees it. */
export interface TouchedOwner {
  readonly name: string;
  keepCounter(tx: Transaction): void;
  /** The earliest time at which a tick would do something with it. */
  nextDueAt(): number | undefined;
}

export class Transaction {
  readonly now: number;
  readonly ids: Ids;
  readonly changes: Change[] = [];
  readonly events: Event[] = [];
  /** The queues whose state the command may have changed: nearly always one. `otherTouched` may name a queue repeatedly. */
  touched: TouchedOwner | undefined;
  otherTouched: TouchedOwner[] | undefined;
  touchedTopics: TouchedOwner[] | undefined;
  /** The queue or topic (`ownerOf`) whose due work a tick is doing. */
  working: string | undefined;

  constructor(context: Context) {
    this.now = context.now;
    this.ids = context.ids;
  }

  touch(queue: TouchedOwner): void {
    if (queue === this.touched) return;
    if (this.touched === undefined) this.touched = queue;
    else if (this.otherTouched === undefined) this.otherTouched = [queue];
    else if (this.otherTouched.at(-1) !== queue) this.otherTouched.push(queue);
  }

  touchTopic(topic: TouchedOwner): void {
    if (this.touchedTopics === undefined) this.touchedTopics = [topic];
    else if (this.touchedTopics.at(-1) !== topic) this.touchedTopics.push(topic);
  }

  /** Every queue and topic (`ownerOf`) that may be different now. */
  concerned(): Set<string> {
    const owners = new Set(this.changes.map(ownerOf));
    if (this.touched !== undefined) owners.add(this.touched.name);
    for (const { name } of this.otherTouched ?? []) owners.add(name);
    for (const { name } of this.touchedTopics ?? []) owners.add(topicOwner(name));
    return owners;
  }
}

/** What `apply` throws: the command has not been carried out, and `concerned` may be half changed. */
export class CommandFailed extends Error {
  readonly concerned: ReadonlySet<string>;
  /** Of a tick: the queue or topic that it failed at, if it was doing something there. */
  readonly working: string | undefined;

  constructor(command: string, tx: Transaction, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`the command ${command} failed: ${reason}`, { cause });
    this.name = 'CommandFailed';
    this.concerned = tx.concerned();
    this.working = tx.working;
  }
}
