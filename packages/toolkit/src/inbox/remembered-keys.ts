/**
 * What the inboxes of a single process share: keys with their expiry times, and the keys whose effect is running. It is
 * bounded, and throws when it is full instead of forgetting keys early.
 */

import { InboxFullError } from './inbox.ts';

export class RememberedKeys {
  readonly #keysMax: number;
  /** In insertion order; since all keys are kept equally long, the first one expires first. */
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

  /** Returns false if the key's effect is already running. */
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
