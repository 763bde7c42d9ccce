/**
 * What the inboxes of a single process share: the events that took effect, each with the digest of its body and its expiry
 * time, and the ones whose effect is running. It is bounded, and throws when it is full instead of forgetting keys early.
 */

import {
  type InboxEvent,
  InboxFullError,
  type InboxOutcome,
  outcomeOf,
  scopedKey,
} from './inbox.ts';

/** A mark as it is remembered. One without a digest was made by an earlier version, for the key of any source. */
export interface Mark {
  /** The scoped key; in a mark without a digest, the key alone. */
  readonly key: string;
  readonly digest: string | undefined;
  readonly until: number;
}

export class RememberedKeys {
  readonly #keysMax: number;
  /** In insertion order; since all keys are kept equally long, the first one expires first. */
  readonly #marks: Map<string, Mark> = new Map();
  readonly #underWay: Set<string> = new Set();

  constructor(keysMax: number) {
    this.#keysMax = keysMax;
  }

  get size(): number {
    return this.#marks.size;
  }

  /** The outcome for an event whose key is known; otherwise undefined. */
  known(event: InboxEvent, now: number): InboxOutcome | undefined {
    const own = this.#marks.get(scopedKey(event));
    const unscoped = this.#marks.get(event.key);
    const isValid = (mark: Mark | undefined): mark is Mark =>
      mark !== undefined && mark.until > now;
    if (isValid(own)) return outcomeOf(event, own.digest);
    return isValid(unscoped) && unscoped.digest === undefined ? 'duplicate' : undefined;
  }

  /** Returns false if the key's effect is already running. */
  begin(event: InboxEvent, now: number): boolean {
    const key = scopedKey(event);
    if (this.#underWay.has(key)) return false;
    for (const [old, { until }] of this.#marks) {
      if (until > now) break;
      this.#marks.delete(old);
    }
    if (this.#marks.size + this.#underWay.size >= this.#keysMax)
      throw new InboxFullError(this.#keysMax);
    this.#underWay.add(key);
    return true;
  }

  end(event: InboxEvent): void {
    this.#underWay.delete(scopedKey(event));
  }

  remember(mark: Mark): void {
    this.#marks.delete(mark.key);
    this.#marks.set(mark.key, mark);
  }
}
