/**
 * MD5 of four texts at once equals that of node:crypto: for every length that fits into a lane, any number of texts, and lanes of
 * different lengths.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { md5HexOfAll } from '../../../src/core/digest/digests.ts';
import { Md5Lanes } from '../../../src/core/digest/md5-lanes.ts';

function expected(texts: readonly string[]): string[] {
  return texts.map((text) => createHash('md5').update(text, 'utf8').digest('hex'));
}

const lanes = Md5Lanes.tryCreate() as Md5Lanes;

test('texts of every length that fits have the digests of node:crypto, whatever was there before', () => {
  // From long to short: a lane still holds the text before.
  for (let length = Md5Lanes.lengthMax; length >= 0; length -= 1) {
    const texts = ['x', 'é', '€', '\ud800'].map((character) => character.repeat(length));
    assert.deepEqual(lanes.hexOf(texts), expected(texts), `${length}`);
  }
});

test('any number of texts of any lengths have the digests of node:crypto', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 60 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 11 }), (texts) => {
      assert.deepEqual(lanes.hexOf(texts), expected(texts));
    }),
  );
});

test('a batch with a text that does not fit has the same digests', () => {
  const long = 'x'.repeat(Md5Lanes.lengthMax + 1);
  const texts = ['', long, 'short', '€'.repeat(100_000)];
  assert.deepEqual(md5HexOfAll(texts), expected(texts));
});
