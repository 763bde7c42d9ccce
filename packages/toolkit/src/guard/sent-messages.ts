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

  /** Only the first send counts: a duplicate does not prolong the window. Answers how to take it back. */
  note(target: string, id: string, rest: unknown, now: number): () => void {
    for (const [key, { at }] of this.#sent) {
      if (now - at < this.#windowMs && this.#sent.size < messagesMax) break;
      this.#sent.delete(key);
    }
    const key = `${target} ${id}`;
    if (this.#sent.has(key)) return () => {};
    const noted = { rest: restHash(rest), at: now };
    this.#sent.set(key, noted);
    return () => {
      if (this.#sent.get(key) === noted) this.#sent.delete(key);
    };
  }
}

function restHash(rest: unknown): string {
  return sha256(JSON.stringify(rest));
}
