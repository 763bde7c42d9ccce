/**
 * What was sent within the last window, by deduplication id (given, or the hash of the body), each with a digest of what
 * the hash does not see: attributes and group. So the guard notices the forbidden pattern in the act, on Amazon too,
 * which never tells.
 *
 * Bounded in time and in number; what is forgotten early is a collision that goes unnoticed here, nothing worse.
 */

import { sha256 } from '../contract/canonical.ts';

const messagesMax = 10_000;

export type Verdict = 'new' | 'again' | 'collision';

/** What becomes of a note once it is known how its send ended. */
interface Note {
  takeBack(): void;
  keep(): void;
}

export class SentMessages {
  readonly #windowMs: number;
  /** In order of sending: a Map keeps it. */
  readonly #sent: Map<string, { readonly rest: string; readonly at: number }> = new Map();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** What a send would be to the queue. */
  judge(target: string, id: string, rest: unknown, now: number): Verdict {
    const sent = this.#sent.get(`${target} ${id}`);
    if (sent === undefined || now - sent.at >= this.#windowMs) return 'new';
    return sent.rest === restHash(rest) ? 'again' : 'collision';
  }

  /** Only the first send counts: a duplicate does not prolong the window. */
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
      // A copy is nobody's own: the same message sent at the same time, which fails later, does not take it back.
      keep: () => this.#sent.set(key, { ...(this.#sent.get(key) ?? own) }),
    };
  }
}

function restHash(rest: unknown): string {
  return sha256(JSON.stringify(rest));
}
