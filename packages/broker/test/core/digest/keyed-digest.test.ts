/**
 * The keyed digest is Chaskey-12: the vectors are those of its authors' reference implementation (key and expected words;
 * message n is the bytes 0 to n - 1).
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type IdDigest, KeyedDigest, type Words } from '../../../src/core/digest/keyed-digest.ts';

const key: Words = [0x833d3433 | 0, 0x009f389f, 0x2398e64f, 0x417acf39];

/** By the length of the message: nothing, within a block, around the end of a block, several blocks. */
const vectors: readonly (readonly [number, readonly number[]])[] = [
  [0, [0x43cb1f41, 0x51eba0c2, 0xff0a8ac3, 0x7ee3f642]],
  [1, [0xf9ac2067, 0x9c35a846, 0x441aad3d, 0x777b7330]],
  [7, [0xb7d29cb8, 0x40a2819d, 0xae403cdb, 0x6fbefa95]],
  [15, [0x03cfb44b, 0x283c8163, 0xfca71448, 0xc40a0aea]],
  [16, [0x5dd0e2a9, 0xfb5eac8c, 0x633a392e, 0x500c36f3]],
  [17, [0x8b5f6d5a, 0x202314f6, 0x22092368, 0x9639e606]],
  [32, [0x77962784, 0x07c647fa, 0xdd752c0f, 0xd2f5a799]],
  [63, [0x2dd072e1, 0x42b89efe, 0xfb26b615, 0x049aa451]],
];

test('digests are those of the reference implementation of Chaskey-12', () => {
  const digest = new KeyedDigest(key);
  for (const [length, expected] of vectors) {
    const message = String.fromCharCode(...Array.from({ length }, (_, byte) => byte));
    assert.deepEqual(wordsOf(digest, message), expected, `length ${length}`);
  }
});

test('texts beyond ASCII are digested as UTF-8, so no two of them look alike', () => {
  const digest = new KeyedDigest(key);
  const bytes = Buffer.from('Größe 𝄞').toString('latin1');
  assert.notDeepEqual(wordsOf(digest, 'Größe 𝄞'), wordsOf(digest, bytes));
  // Cut to eight bits each, these would be the same.
  assert.notDeepEqual(wordsOf(digest, '\u0161'), wordsOf(digest, 'a\u0001'));
  assert.notDeepEqual(wordsOf(digest, '\u0161'), wordsOf(digest, 'a'));
});

test('another secret gives another digest', () => {
  const [one, same, other] = ['a', 'a', 'b'].map((secret) => KeyedDigest.withSecret(secret));
  assert.deepEqual(wordsOf(one as KeyedDigest, 'id'), wordsOf(same as KeyedDigest, 'id'));
  assert.notDeepEqual(wordsOf(one as KeyedDigest, 'id'), wordsOf(other as KeyedDigest, 'id'));
});

function wordsOf(digest: KeyedDigest, text: string): number[] {
  const into: IdDigest = { id0: 0, id1: 0, id2: 0, id3: 0 };
  digest.write(text, into);
  return [into.id0, into.id1, into.id2, into.id3].map((word) => word >>> 0);
}
