/**
 * Receives that found nothing and wait: a line for each queue, first come first served. A waiting receive costs an
 * object and nothing else; it is looked at when its queue changed, when a message of its queue becomes visible, or when
 * its own time is over.
 */

import { Agenda } from '../../core/agenda.ts';
import type { CommandOf } from '../../core/commands.ts';

export interface Receiver {
  readonly command: CommandOf<'receive'>;
  /** When it stops waiting. */
  readonly deadline: number;
  /** Ends the wait with no messages. */
  giveUp(): void;
}

export class ParkedReceivers {
  readonly #lines: Map<string, Set<Receiver>> = new Map();
  /** Queues with receivers, by the time at which asking again can help. */
  readonly #wakes: Agenda = new Agenda();
  readonly #deadlines: Map<Receiver, string> = new Map();
  readonly #byDeadline: Agenda = new Agenda();
  readonly #byName: Map<string, Receiver> = new Map();
  #parked = 0;

  get size(): number {
    return this.#deadlines.size;
  }

  park(receiver: Receiver): void {
    const { queue } = receiver.command;
    const line = this.#lines.get(queue);
    if (line === undefined) this.#lines.set(queue, new Set([receiver]));
    else line.add(receiver);
    this.#parked += 1;
    const name = String(this.#parked);
    this.#deadlines.set(receiver, name);
    this.#byName.set(name, receiver);
    this.#byDeadline.set(name, receiver.deadline);
  }

  remove(receiver: Receiver): void {
    const name = this.#deadlines.get(receiver);
    if (name === undefined) return;
    this.#deadlines.delete(receiver);
    this.#byName.delete(name);
    this.#byDeadline.set(name, undefined);
    const { queue } = receiver.command;
    const line = this.#lines.get(queue);
    line?.delete(receiver);
    if (line?.size === 0) {
      this.#lines.delete(queue);
      this.#wakes.set(queue, undefined);
    }
  }

  /** Who has waited longest at this queue. */
  first(queue: string): Receiver | undefined {
    return this.#lines.get(queue)?.values().next().value;
  }

  has(queue: string): boolean {
    return this.#lines.has(queue);
  }

  /** The queue had nothing until this time. */
  sleepUntil(queue: string, time: number | undefined): void {
    this.#wakes.set(queue, time);
  }

  queuesToWake(now: number): string[] {
    return this.#wakes.dueBy(now);
  }

  overdue(now: number): Receiver[] {
    return this.#byDeadline.dueBy(now).map((name) => this.#byName.get(name) as Receiver);
  }

  nextAt(): number | undefined {
    const times = [this.#wakes.first(), this.#byDeadline.first()].filter(
      (time) => time !== undefined,
    );
    return times.length === 0 ? undefined : Math.min(...times);
  }

  all(): Receiver[] {
    return [...this.#deadlines.keys()];
  }
}
