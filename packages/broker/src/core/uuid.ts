/**
 * UUIDs as four words of a slab's row: 16 bytes instead of a string of 52. Message ids are lower-case UUIDs (rule
 * 1.7), so nothing is lost.
 */

import type { Slab } from './slab.ts';

const byteTexts: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

/** Writes the four words of a UUID from `at` on. */
export function writeUuid(words: Int32Array, at: number, uuid: string): void {
  let digits = 0;
  let value = 0;
  for (let index = 0; index < uuid.length; index += 1) {
    const code = uuid.charCodeAt(index);
    if (code === 45) continue; // a hyphen
    value = (value << 4) | (code < 58 ? code - 48 : code - 87);
    digits += 1;
    if ((digits & 7) === 0) words[at + (digits >> 3) - 1] = value;
  }
}

export function readUuid(slab: Slab, row: number, word: number): string {
  const a = slab.int(row, word);
  const b = slab.int(row, word + 1);
  const c = slab.int(row, word + 2);
  const d = slab.int(row, word + 3);
  return `${high(a)}${low(a)}-${high(b)}-${low(b)}-${high(c)}-${low(c)}${high(d)}${low(d)}`;
}

function high(word: number): string {
  return `${byteTexts[word >>> 24]}${byteTexts[(word >>> 16) & 255]}`;
}

function low(word: number): string {
  return `${byteTexts[(word >>> 8) & 255]}${byteTexts[word & 255]}`;
}
