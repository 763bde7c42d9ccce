/**
 * Receives that named a ReceiveRequestAttemptId and got messages, remembered for five minutes (rules 11.18–11.22).
 * Only what was handed out is noted; whether it still holds is asked of the messages when the attempt is repeated, so
 * deletes and timeouts need not look for attempts.
 */

import type { KeptAttempt } from '../changes.ts';
import { Line } from '../line.ts';
import { none } from '../slab.ts';

interface Attempt {
  readonly kept: KeptAttempt;
  readonly place: number;
}

export class Attempts {
  readonly #byId: Map<string, Attempt> = new Map();
  /** Items are slots, since a line holds integers. */
  readonly #byTime: Line = new Line();
  readonly #slots: Map<number, string> = new Map();
  #nextSlot = 0;

  get(id: string): KeptAttempt | undefined {
    return this.#byId.get(id)?.kept;
  }

  set(id: string, kept: KeptAttempt): void {
    this.delete(id);
    const slot = this.#nextSlot;
    this.#nextSlot = (slot + 1) | 0;
    this.#slots.set(slot, id);
    const stamp = kept.messages[0]?.receipt ?? 0;
    this.#byId.set(id, { kept, place: this.#byTime.insert(slot, kept.receivedAt, stamp) });
  }

  delete(id: string): void {
    const attempt = this.#byId.get(id);
    if (attempt === undefined) return;
    this.#byId.delete(id);
    this.#slots.delete(this.#byTime.item(attempt.place));
    this.#byTime.remove(attempt.place);
  }

  /** The id that was received first, and when. */
  oldest(): { id: string; receivedAt: number } | undefined {
    const place = this.#byTime.first();
    if (place === none) return undefined;
    const id = this.#slots.get(this.#byTime.item(place)) as string;
    return { id, receivedAt: this.#byTime.time(place) };
  }

  clear(): void {
    this.#byId.clear();
    this.#byTime.clear();
    this.#slots.clear();
  }
}
