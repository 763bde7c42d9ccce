/**
 * Message ids: lower-case UUIDs (rule 1.7), computed from the queue's secret and the message's sequence instead of drawn
 * and stored. So neither a message nor an entry of the deduplication window holds one, in memory or on disk. The only
 * exception is a dead letter, which keeps the id it had in its source queue.
 *
 * Two messages of one queue never have the same id: half of the id is a permutation of the sequence. Ids of different
 * queues differ as random ones do. An id gives no power over a message, so it need not be hard to guess.
 */

import { sha256Bytes, wordAt } from './digest/digests.ts';
import { hexDigit as hex } from './digest/hex.ts';

const dash = 0x2d;

export class MessageIds {
  readonly #a: number;
  readonly #b: number;
  readonly #c: number;
  readonly #d: number;

  constructor(secret: string) {
    const bytes = sha256Bytes(`message ids of ${secret}`);
    this.#a = wordAt(bytes, 0);
    this.#b = wordAt(bytes, 4);
    this.#c = wordAt(bytes, 8);
    this.#d = wordAt(bytes, 12);
  }

  of(sequence: number): string {
    let high = (sequence / 0x1_0000_0000) | 0;
    let low = sequence | 0;
    // Four rounds of a Feistel network: whatever `mix` is, different sequences stay different.
    high ^= mix(low ^ this.#a);
    low ^= mix(high ^ this.#b);
    high ^= mix(low ^ this.#c);
    low ^= mix(high ^ this.#d);
    // Version 4, variant 1; these bits are in the half that is no permutation.
    const second = (mix(high ^ this.#c) & ~0xf000) | 0x4000;
    const third = (mix(low ^ this.#a) & 0x3fffffff) | 0x80000000;
    // biome-ignore format: a line for each part of the id.
    return String.fromCharCode(
      hex(high, 28), hex(high, 24), hex(high, 20), hex(high, 16), hex(high, 12), hex(high, 8), hex(high, 4), hex(high, 0),
      dash, hex(second, 28), hex(second, 24), hex(second, 20), hex(second, 16),
      dash, hex(second, 12), hex(second, 8), hex(second, 4), hex(second, 0),
      dash, hex(third, 28), hex(third, 24), hex(third, 20), hex(third, 16),
      dash, hex(third, 12), hex(third, 8), hex(third, 4), hex(third, 0),
      hex(low, 28), hex(low, 24), hex(low, 20), hex(low, 16), hex(low, 12), hex(low, 8), hex(low, 4), hex(low, 0),
    );
  }
}

/** The last step of MurmurHash3. */
function mix(word: number): number {
  const once = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}
