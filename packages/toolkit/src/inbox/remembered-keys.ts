/**
 * Keys with the time until which they are remembered, and those whose effect is under way: what the inboxes that live in
 * one process have in common. Bounded, and never by forgetting early.
 */

import { InboxFullError } from './inbox.ts';

export class RememberedKeys {
  readonly #keysMax: number;
  /** In the order in which they were remembered; with one keep time, the first is the first to go. */
  readonly #until: Map<string, number> = new Map();
  readonly #underWay: Set<string> = new Set();

  constructor(keysMax: number) {
    this.#keysMax = keysMax;
  }

  get size(): number {
    return this.#until.size;
  }

  entries(): IterableIterator<[string, number]> {
    return this.#until.entries();
  }

  has(key: string, now: number): boolean {
    const until = this.#until.get(key);
    return until !== undefined && until > now;
  }

  /** False when the key's effect is under way already. */
  begin(key: string, now: number): boolean {
    if (this.#underWay.has(key)) return false;
    for (const [old, until] of this.#until) {
      if (until > now) break;
      this.#until.delete(old);
    }
    if (this.#until.size + this.#underWay.size >= this.#keysMax)
      throw new InboxFullError(this.#keysMax);
    this.#underWay.add(key);
    return true;
  }

  end(key: string): void {
    this.#underWay.delete(key);
  }

  remember(key: string, until: number): void {
    this.#until.delete(key);
    this.#until.set(key, until);
  }
}
