/**
 * Receives that named a ReceiveRequestAttemptId and got messages, remembered for five minutes (rules 11.18–11.22).
 * Only what was handed out is recorded; whether it still holds is checked against the messages when the attempt is
 * repeated, so deletes and timeouts need not look for attempts.
 */

import type { KeptAttempt } from '../changes.ts';
import { Deadlines } from '../structures/deadlines.ts';

export class Attempts {
  readonly #byId: Map<string, KeptAttempt> = new Map();
  readonly #byTime: Deadlines = new Deadlines();

  get(id: string): KeptAttempt | undefined {
    return this.#byId.get(id);
  }

  set(id: string, attempt: KeptAttempt | null): void {
    if (attempt === null) this.#byId.delete(id);
    else this.#byId.set(id, attempt);
    // The first receipt is a stamp: no two attempts have the same, and later ones have larger ones.
    this.#byTime.set(id, attempt?.receivedAt, attempt?.messages[0]?.receipt);
  }

  oldestReceivedAt(): number | undefined {
    return this.#byTime.first();
  }

  /** The ids of those received at this time or earlier, at most `limit`, the oldest first to go. */
  receivedBy(time: number, limit: number): string[] {
    return this.#byTime.dueBy(time, limit);
  }

  clear(): void {
    this.#byId.clear();
    this.#byTime.clear();
  }
}
