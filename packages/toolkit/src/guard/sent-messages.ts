/**
 * What was sent within the last window, by deduplication id (given, or the hash of the body), each with a digest of what
 * the id does not cover, such as attributes and group. So the guard notices the forbidden pattern as it happens, also on
 * Amazon, which never reports it. Another one remembers keys, each with the digest of its body: a key that is used for a
 * second event is a collision there.
 *
 * Bounded in time and in number. Forgetting a message early only means that a collision may go unnoticed here.
 */

import { sha256 } from '../contract/canonical.ts';

const messagesMax = 10_000;

export type Verdict = 'new' | 'again' | 'collision';

/** Settles a note once the outcome of its send is known. */
export interface Note {
  takeBack(): void;
  keep(): void;
}

export class SentMessages {
  readonly #windowMs: number;
  /** In order of sending, since a Map keeps insertion order. */
  readonly #sent: Map<string, { readonly rest: string; readonly at: number }> = new Map();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** What the queue would take a send for. */
  judge(target: string, id: string, rest: unknown, now: number): Verdict {
    const sent = this.#sent.get(`${target} ${id}`);
    if (sent === undefined || now - sent.at >= this.#windowMs) return 'new';
    return sent.rest === restHash(rest) ? 'again' : 'collision';
  }

  /** Only the first send counts: a duplicate does not extend the window. */
  note(target: string, id: string, rest: unknown, now: number): Note {
    for (const [key, { at }] of this.#sent) {
      if (now - at < this.#windowMs && this.#sent.size < messagesMax) break;
      this.#sent.delete(key);
    }
    const key = `${target} ${id}`;
    const own = { rest: restHash(rest), at: now };
    if (!this.#sent.has(key)) this.#sent.set(key, own);
    return {
      takeBack: () => {
        if (this.#sent.get(key) === own) this.#sent.delete(key);
      },
      // A copy belongs to no note, so a concurrent send of the same message that fails later does not remove it.
      keep: () => this.#sent.set(key, { ...(this.#sent.get(key) ?? own) }),
    };
  }
}

function restHash(rest: unknown): string {
  return sha256(JSON.stringify(rest));
}
