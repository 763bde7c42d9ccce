/**
 * Message ids: lower-case UUIDs (rule 1.7), computed from the queue's secret and the message's sequence instead of drawn
 * and remembered. So neither a message nor an entry of the deduplication window holds one, in memory or on disk; a
 * message that a dead-letter queue took over from another queue is the only one that keeps the id it came with.
 *
 * Two messages of one queue never have the same id: half of the id is a permutation of the sequence. Ids of different
 * queues differ as random ones do. An id gives no power over a message, so it need not withstand guessing.
 */

import { sha256Bytes } from './digest.ts';

const byteTexts: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

export class MessageIds {
  readonly #a: number;
  readonly #b: number;
  readonly #c: number;
  readonly #d: number;

  constructor(secret: string) {
    const bytes = sha256Bytes(`message ids of ${secret}`);
    const word = (at: number): number =>
      [0, 8, 16, 24].reduce(
        (sum, shift, index) => sum | (bytes.charCodeAt(at + index) << shift),
        0,
      );
    this.#a = word(0);
    this.#b = word(4);
    this.#c = word(8);
    this.#d = word(12);
  }

  of(sequence: number): string {
    let high = (sequence / 0x1_0000_0000) | 0;
    let low = sequence | 0;
    // Four rounds of a Feistel network: whatever `mix` is, different sequences stay different.
    high ^= mix(low ^ this.#a);
    low ^= mix(high ^ this.#b);
    high ^= mix(low ^ this.#c);
    low ^= mix(high ^ this.#d);
    // Version 4, variant 1; these bits fall into the other half.
    const second = (mix(high ^ this.#c) & ~0xf000) | 0x4000;
    const third = (mix(low ^ this.#a) & 0x3fffffff) | 0x80000000;
    return `${upper(high)}${lower(high)}-${upper(second)}-${lower(second)}-${upper(third)}-${lower(third)}${upper(low)}${lower(low)}`;
  }
}

/** The last step of MurmurHash3. */
function mix(word: number): number {
  const once = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}

function upper(word: number): string {
  return `${byteTexts[word >>> 24]}${byteTexts[(word >>> 16) & 255]}`;
}

function lower(word: number): string {
  return `${byteTexts[(word >>> 8) & 255]}${byteTexts[word & 255]}`;
}
