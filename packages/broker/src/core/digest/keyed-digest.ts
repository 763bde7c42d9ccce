/**
 * 128 bits of a short text that nobody can predict, or make collide, without the key: the message authentication code
 * Chaskey-12 (Mouha and others, 2014; ISO/IEC 29192-6), made for processors with 32-bit words, which JavaScript's integers
 * are. For an id of 18 characters, SHA-256 by node:crypto takes 350 ns, most of them to get there and back; this takes 100.
 */

import { sha256Bytes, utf8Bytes, wordAt } from './digests.ts';

/** The words of a digest, as the deduplication window names them. */
export interface IdDigest {
  id0: number;
  id1: number;
  id2: number;
  id3: number;
}

export type Words = readonly [number, number, number, number];

const blockLength = 16;
const rounds = 12;
/** A search by the engine's own code takes half the time of a loop over the characters. */
const unusualCharacter = /[^!-~]/;

export class KeyedDigest {
  readonly #key: Words;
  /** Added to a last block that is full, and to one that is not. */
  readonly #fullKey: Words;
  readonly #paddedKey: Words;

  constructor(key: Words) {
    this.#key = key;
    this.#fullKey = doubled(key);
    this.#paddedKey = doubled(this.#fullKey);
  }

  static withSecret(secret: string): KeyedDigest {
    const bytes = sha256Bytes(`digests with ${secret}`);
    return new KeyedDigest([
      wordAt(bytes, 0),
      wordAt(bytes, 4),
      wordAt(bytes, 8),
      wordAt(bytes, 12),
    ]);
  }

  /** Writes the digest of the text's UTF-8. */
  write(text: string, into: IdDigest): void {
    // The characters of ASCII are its bytes. Ids have no others, but an inspection may ask for any text.
    const bytes = unusualCharacter.test(text) ? utf8Bytes(text) : text;
    const lastAt = Math.max(0, Math.ceil(bytes.length / blockLength) - 1) * blockLength;
    const last = bytes.length - lastAt === blockLength ? this.#fullKey : this.#paddedKey;
    const key = this.#key;
    let a = key[0];
    let b = key[1];
    let c = key[2];
    let d = key[3];
    for (let at = 0; at <= lastAt; at += blockLength) {
      if (at < lastAt) {
        a ^= wordAt(bytes, at);
        b ^= wordAt(bytes, at + 4);
        c ^= wordAt(bytes, at + 8);
        d ^= wordAt(bytes, at + 12);
      } else {
        a ^= lastWordAt(bytes, at) ^ last[0];
        b ^= lastWordAt(bytes, at + 4) ^ last[1];
        c ^= lastWordAt(bytes, at + 8) ^ last[2];
        d ^= lastWordAt(bytes, at + 12) ^ last[3];
      }
      for (let round = 0; round < rounds; round += 1) {
        a = (a + b) | 0;
        b = ((b << 5) | (b >>> 27)) ^ a;
        a = (a << 16) | (a >>> 16);
        c = (c + d) | 0;
        d = ((d << 8) | (d >>> 24)) ^ c;
        a = (a + d) | 0;
        d = ((d << 13) | (d >>> 19)) ^ a;
        c = (c + b) | 0;
        b = ((b << 7) | (b >>> 25)) ^ c;
        c = (c << 16) | (c >>> 16);
      }
    }
    into.id0 = a ^ last[0];
    into.id1 = b ^ last[1];
    into.id2 = c ^ last[2];
    into.id3 = d ^ last[3];
  }
}

/** Beyond the end of the bytes there is a 1, and then zeros. */
function lastWordAt(bytes: string, at: number): number {
  const { length } = bytes;
  if (at + 4 <= length) return wordAt(bytes, at);
  if (at >= length) return at === length ? 1 : 0;
  let word = 0;
  for (let index = 0; index < 4; index += 1) {
    const position = at + index;
    if (position < length) word |= bytes.charCodeAt(position) << (8 * index);
    else if (position === length) word |= 1 << (8 * index);
  }
  return word;
}

/** Times two in the field of 2^128 elements, by which the keys of the last block differ from the first one. */
function doubled([a, b, c, d]: Words): Words {
  const carry = d < 0 ? 0x87 : 0;
  return [(a << 1) ^ carry, (b << 1) | (a >>> 31), (c << 1) | (b >>> 31), (d << 1) | (c >>> 31)];
}
