/**
 * Receives that wait for messages. They are retried, the longest waiting first, when a change of their queue, or time, may
 * have brought a message; they end with what was found, when their time is over, or when their client goes away.
 */

import type { Change } from '../../core/changes.ts';
import type { CommandOf } from '../../core/commands.ts';
import type { Received } from '../backend.ts';
import { ParkedReceivers, type Receiver } from './parked-receivers.ts';

/** What a retry found; or until when there is nothing, as far as is known. */
export interface Asked {
  readonly received?: Received;
  readonly noneUntil?: number | undefined;
}

/** The backend, as seen from here. */
export interface LongPollsUser {
  /** Receives once more. */
  ask(command: CommandOf<'receive'>): Asked;
  /** Resolves with the prepared answer once all that it depends on is kept. */
  answer<A>(received: Received, prepare: (received: Received) => A): Promise<A>;
}

interface Waiting extends Receiver {
  end(received: Received): void;
  fail(error: unknown): void;
}

/** Who waits: when it leaves, and what it makes of what it received. */
interface Client<A> {
  readonly signal: AbortSignal;
  readonly prepare: (received: Received) => A;
}

export class LongPolls {
  readonly #user: LongPollsUser;
  readonly #receivers: ParkedReceivers<Waiting> = new ParkedReceivers();
  /** Queues with waiting receivers that may have a message since the last retry. */
  readonly #restless: Set<string> = new Set();

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
    return new Promise((resolve) => {
      const leave = (answer: Promise<A>): void => {
        this.#receivers.remove(name);
        signal.removeEventListener('abort', receiver.giveUp);
        resolve(answer);
      };
      const receiver: Waiting = {
        command,
        deadline: times.deadline,
        end: (received) => leave(this.#user.answer(received, prepare)),
        fail: (error) => leave(Promise.reject(error)),
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
      this.#restless.delete(queue);
      for (;;) {
        const receiver = this.#receivers.first(queue);
        if (receiver === undefined) break;
        const asked = this.#ask(receiver);
        if (asked === undefined) continue;
        if (asked.received === undefined) {
          this.#receivers.sleepUntil(queue, asked.noneUntil);
          break;
        }
        receiver.end(asked.received);
      }
    }
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

  /** A failure ends this receiver's wait: whoever's command, or the timer, led here has no part in it. */
  #ask(receiver: Waiting): Asked | undefined {
    try {
      return this.#user.ask(receiver.command);
    } catch (error) {
      receiver.fail(error);
      return undefined;
    }
  }
}
