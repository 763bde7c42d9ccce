/**
 * Receives that wait for messages. When a change of their queue or the passing of time may have made a message available,
 * they are retried, the longest waiting first. A wait ends with messages, at its deadline, or when the client disconnects.
 */

import type { Change } from '../../core/changes.ts';
import type { CommandOf } from '../../core/commands.ts';
import { Deadlines } from '../../core/structures/deadlines.ts';
import type { Received } from '../backend.ts';
import type { NowOrLater } from '../now-or-later.ts';

/** What a receive found; or until when there is nothing, as far as is known. */
export interface ReceiveAttempt {
  readonly received?: Received;
  readonly noneUntil?: number | undefined;
}

/** The backend, as seen from here. */
export interface LongPollsUser {
  /** Receives once more. */
  retry(command: CommandOf<'receive'>): NowOrLater<ReceiveAttempt>;
  /** Resolves with the prepared answer once all that it depends on is kept. */
  answer<A>(received: Received, prepare: (received: Received) => A): Promise<A>;
}

interface Receiver {
  readonly command: CommandOf<'receive'>;
  /** When it stops waiting. */
  readonly deadline: number;
  end(received: Received): void;
  fail(error: unknown): void;
  /** Ends the wait with no messages. */
  giveUp(): void;
}

/** Who waits: when it leaves, and what it makes of what it received. */
interface Client<A> {
  readonly signal: AbortSignal;
  readonly prepare: (received: Received) => A;
}

export class LongPolls {
  readonly #user: LongPollsUser;
  readonly #receivers: ParkedReceivers = new ParkedReceivers();
  /** Queues with waiting receivers that may have a message since the last retry. */
  readonly #restless: Set<string> = new Set();
  /** Queues whose first receiver is being retried, and will know later. */
  readonly #retrying: Set<string> = new Set();

  constructor(user: LongPollsUser) {
    this.#user = user;
  }

  get size(): number {
    return this.#receivers.size;
  }

  wait<A>(
    command: CommandOf<'receive'>,
    times: { readonly deadline: number; readonly noneUntil: number | undefined },
    { signal, prepare }: Client<A>,
  ): Promise<A> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#receivers.remove(name);
        signal.removeEventListener('abort', receiver.giveUp);
      };
      const receiver: Receiver = {
        command,
        deadline: times.deadline,
        end: (received) => {
          leave();
          resolve(this.#user.answer(received, prepare));
        },
        // Nobody is told who has left while the retry was under way.
        fail: (error) => {
          leave();
          reject(error);
        },
        giveUp: () => receiver.end({ ok: true, messages: [] }),
      };
      signal.addEventListener('abort', receiver.giveUp, { once: true });
      const name = this.#receivers.park(receiver);
      this.#receivers.sleepUntil(command.queue, times.noneUntil);
    });
  }

  /** Notes which queues with waiting receivers have changed. */
  stir(changes: readonly Change[]): void {
    let last: string | undefined;
    for (const change of changes) {
      // Nearly always all changes are of one queue.
      if (!('queue' in change) || change.queue === last) continue;
      last = change.queue;
      if (this.#receivers.has(last)) this.#restless.add(last);
    }
  }

  /** The same for queues that were changed elsewhere. */
  stirQueues(queues: readonly string[]): void {
    for (const queue of queues) if (this.#receivers.has(queue)) this.#restless.add(queue);
  }

  /** Notes which queues may have something because time has passed. */
  stirDue(now: number): void {
    for (const queue of this.#receivers.queuesToWake(now)) this.#restless.add(queue);
  }

  stirAll(): void {
    for (const { command } of this.#receivers.all()) this.#restless.add(command.queue);
  }

  /** Retries the receivers of each queue that was stirred. */
  serve(): void {
    for (const queue of this.#restless) {
      if (this.#retrying.has(queue)) continue;
      this.#restless.delete(queue);
      this.#serveQueue(queue);
    }
  }

  #serveQueue(queue: string): void {
    for (;;) {
      const receiver = this.#receivers.first(queue);
      if (receiver === undefined) return;
      const attempt = this.#retry(receiver);
      if (attempt instanceof Promise) {
        this.#retrying.add(queue);
        void attempt.then((found) => {
          this.#retrying.delete(queue);
          if (this.#settle(receiver, found)) this.#serveQueue(queue);
          else this.serve();
        });
        return;
      }
      if (!this.#settle(receiver, attempt)) return;
    }
  }

  /** Returns whether the next receiver may find something. */
  #settle(receiver: Receiver, attempt: ReceiveAttempt | undefined): boolean {
    if (attempt?.received !== undefined) receiver.end(attempt.received);
    else if (attempt !== undefined) {
      this.#receivers.sleepUntil(receiver.command.queue, attempt.noneUntil);
      return false;
    }
    return true;
  }

  giveUpOverdue(now: number): void {
    for (const receiver of this.#receivers.overdue(now)) receiver.giveUp();
  }

  giveUpAll(): void {
    for (const receiver of this.#receivers.all()) receiver.giveUp();
    this.#restless.clear();
  }

  /** The earliest time at which a receiver is to be retried, or gives up. */
  nextAt(): number | undefined {
    return this.#receivers.nextAt();
  }

  /** The earliest time at which a receiver gives up. */
  nextDeadline(): number | undefined {
    return this.#receivers.nextDeadline();
  }

  /** A failure ends only this receiver's wait (undefined), not the command or timer that led here. */
  #retry(receiver: Receiver): NowOrLater<ReceiveAttempt | undefined> {
    const failed = (error: unknown): undefined => {
      receiver.fail(error);
      return undefined;
    };
    try {
      const attempt = this.#user.retry(receiver.command);
      return attempt instanceof Promise ? attempt.catch(failed) : attempt;
    } catch (error) {
      return failed(error);
    }
  }
}

/**
 * A queue of receivers for each message queue, first come first served. A waiting receive costs an object and nothing else;
 * it is looked at when its queue changed, when a message of its queue becomes visible, or when its own time is over.
 */
class ParkedReceivers {
  /** By queue, and there by the name under which they were parked, in order of parking. */
  readonly #byQueue: Map<string, Map<string, Receiver>> = new Map();
  /** Every receiver's deadline, by its name: the queue and a number, with a space between, which no queue's name has. */
  readonly #deadlines: Deadlines = new Deadlines();
  /** Queues with receivers, by the time at which asking again can help. */
  readonly #wakes: Deadlines = new Deadlines();
  #parked = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the name by which the receiver is removed. */
  park(receiver: Receiver): string {
    const { queue } = receiver.command;
    this.#parked += 1;
    this.#size += 1;
    const name = `${queue} ${this.#parked}`;
    const waiting = this.#byQueue.get(queue) ?? new Map<string, Receiver>();
    this.#byQueue.set(queue, waiting.set(name, receiver));
    this.#deadlines.set(name, receiver.deadline);
    return name;
  }

  remove(name: string): void {
    const queue = queueOf(name);
    const waiting = this.#byQueue.get(queue);
    if (waiting === undefined || !waiting.delete(name)) return;
    this.#size -= 1;
    this.#deadlines.set(name, undefined);
    if (waiting.size > 0) return;
    this.#byQueue.delete(queue);
    this.#wakes.set(queue, undefined);
  }

  /** The receiver that has waited longest at this queue. */
  first(queue: string): Receiver | undefined {
    return this.#byQueue.get(queue)?.values().next().value;
  }

  has(queue: string): boolean {
    return this.#byQueue.has(queue);
  }

  /** The queue has nothing before this time; undefined if only a change can bring something. */
  sleepUntil(queue: string, time: number | undefined): void {
    this.#wakes.set(queue, time);
  }

  queuesToWake(now: number): string[] {
    return this.#wakes.dueBy(now);
  }

  overdue(now: number): Receiver[] {
    const names = this.#deadlines.dueBy(now);
    return names.map((name) => this.#byQueue.get(queueOf(name))?.get(name) as Receiver);
  }

  /** The earliest time at which a receiver is to be retried, or gives up. */
  nextAt(): number | undefined {
    const wake = this.#wakes.first();
    const deadline = this.#deadlines.first();
    return wake === undefined || deadline === undefined
      ? (wake ?? deadline)
      : Math.min(wake, deadline);
  }

  /** The earliest time at which a receiver gives up. */
  nextDeadline(): number | undefined {
    return this.#deadlines.first();
  }

  all(): Receiver[] {
    return [...this.#byQueue.values()].flatMap((waiting) => [...waiting.values()]);
  }
}

function queueOf(name: string): string {
  return name.slice(0, name.indexOf(' '));
}
