/**
 * The bodies sent within the last window, by hash, each with a digest of what the hash does not see: attributes and
 * group. So the guard notices the forbidden pattern in the act, on Amazon too, which never tells.
 *
 * Bounded in time and in number; what is forgotten early is a collision that goes unnoticed here, nothing worse.
 */

import { sha256 } from '../contract/canonical.ts';

const bodiesMax = 10_000;

export type Verdict = 'new' | 'again' | 'collision';

export class SentBodies {
  readonly #windowMs: number;
  /** In order of sending: a Map keeps it. */
  readonly #sent: Map<string, { readonly rest: string; readonly at: number }> = new Map();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** What a send would be to a queue that deduplicates by content. */
  judge(target: string, bodyHash: string, rest: unknown, now: number): Verdict {
    const sent = this.#sent.get(`${target} ${bodyHash}`);
    if (sent === undefined || now - sent.at >= this.#windowMs) return 'new';
    return sent.rest === restHash(rest) ? 'again' : 'collision';
  }

  /** Only the first send counts: a duplicate does not prolong the window. */
  note(target: string, bodyHash: string, rest: unknown, now: number): void {
    for (const [key, { at }] of this.#sent) {
      if (now - at < this.#windowMs && this.#sent.size < bodiesMax) break;
      this.#sent.delete(key);
    }
    const key = `${target} ${bodyHash}`;
    if (!this.#sent.has(key)) this.#sent.set(key, { rest: restHash(rest), at: now });
  }
}

function restHash(rest: unknown): string {
  return sha256(JSON.stringify(rest));
}
