/**
 * Receives that found nothing and wait: a line for each queue, first come first served. A waiting receive costs an
 * object and nothing else; it is looked at when its queue changed, when a message of its queue becomes visible, or when
 * its own time is over.
 */

import type { CommandOf } from '../../core/commands.ts';
import { Deadlines } from '../../core/structures/deadlines.ts';

export interface Receiver {
  readonly command: CommandOf<'receive'>;
  /** When it stops waiting. */
  readonly deadline: number;
  /** Ends the wait with no messages. */
  giveUp(): void;
}

export class ParkedReceivers<R extends Receiver> {
  /** By queue, and there by the name under which they were parked, in order of parking. */
  readonly #lines: Map<string, Map<string, R>> = new Map();
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
  park(receiver: R): string {
    const { queue } = receiver.command;
    this.#parked += 1;
    this.#size += 1;
    const name = `${queue} ${this.#parked}`;
    const line = this.#lines.get(queue) ?? new Map<string, R>();
    this.#lines.set(queue, line.set(name, receiver));
    this.#deadlines.set(name, receiver.deadline);
    return name;
  }

  remove(name: string): void {
    const queue = queueOf(name);
    const line = this.#lines.get(queue);
    if (line === undefined || !line.delete(name)) return;
    this.#size -= 1;
    this.#deadlines.set(name, undefined);
    if (line.size > 0) return;
    this.#lines.delete(queue);
    this.#wakes.set(queue, undefined);
  }

  /** The receiver that has waited longest at this queue. */
  first(queue: string): R | undefined {
    return this.#lines.get(queue)?.values().next().value;
  }

  has(queue: string): boolean {
    return this.#lines.has(queue);
  }

  /** The queue has nothing before this time; undefined if only a change can bring something. */
  sleepUntil(queue: string, time: number | undefined): void {
    this.#wakes.set(queue, time);
  }

  queuesToWake(now: number): string[] {
    return this.#wakes.dueBy(now);
  }

  overdue(now: number): R[] {
    const names = this.#deadlines.dueBy(now);
    return names.map((name) => this.#lines.get(queueOf(name))?.get(name) as R);
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

  all(): R[] {
    return [...this.#lines.values()].flatMap((line) => [...line.values()]);
  }
}

function queueOf(name: string): string {
  return name.slice(0, name.indexOf(' '));
}
