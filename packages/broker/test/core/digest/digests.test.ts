/**
 * Digests against the values that Amazon's own clients compute, and against node:crypto. Clients verify them and drop
 * an answer whose digest is wrong.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  attributesMd5,
  md5Hex,
  sha256Bytes,
  sha256Hex,
  sha256Tag,
  utf8Length,
} from '../../../src/core/digest/digests.ts';
import { openQueue } from '../fixture.ts';

const blue = { name: 'color', type: 'String', value: 'blue' };
const three = { name: 'count', type: 'Number', value: '3' };
const blob = { name: 'blob', type: 'Binary', value: Uint8Array.of(1, 2, 3) };
const traceHeader = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1';

test("MD5OfMessageBody is the MD5 of the body's UTF-8 (7.6)", () => {
  assert.equal(openQueue().send({ body: 'hello' }).bodyMd5, '5d41402abc4b2a76b9719d911017c592');
  const body = 'grüße 😀';
  const expected = createHash('md5').update(Buffer.from(body, 'utf8')).digest('hex');
  assert.equal(openQueue().send({ body }).bodyMd5, expected);
});

test('the digest of one and of three attributes has the known values (7.7)', () => {
  const timestamp = { name: 'timestamp', type: 'Number', value: '1493147359900' };
  assert.equal(attributesMd5([timestamp]), '235c5c510d26fb653d073faed50ae77c');
  const foo = { name: 'Foo', type: 'String', value: 'Bar' };
  assert.equal(attributesMd5([foo]), 'ae7155c6026991b6d54b11589678bf9c');
  assert.equal(attributesMd5([blue, three, blob]), 'd838729972a4b70e2d2acd9d59ac847c');
});

test('the order in which attributes are given does not change their digest (7.7)', () => {
  assert.equal(attributesMd5([three, blob, blue]), attributesMd5([blob, blue, three]));
});

test('the label of a type changes the digest of attributes (7.7)', () => {
  assert.notEqual(attributesMd5([{ ...three, type: 'Number.int' }]), attributesMd5([three]));
});

test('without attributes there is no attribute digest (7.7)', () => {
  const result = openQueue().send();
  assert.equal(result.attributesMd5, '');
  assert.equal(result.systemAttributesMd5, '');
});

test('a send gives the digests of its attributes and of its trace header (7.7)', () => {
  const result = openQueue().send({
    attributes: [{ name: 'Foo', type: 'String', stringValue: 'Bar' }],
    systemAttributes: [{ name: 'AWSTraceHeader', type: 'String', stringValue: traceHeader }],
  });
  assert.equal(result.attributesMd5, 'ae7155c6026991b6d54b11589678bf9c');
  assert.equal(result.systemAttributesMd5, '5ae4d5d7636402d80f4eb6d213245a88');
});

test('digests equal those of node:crypto for every text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const bytes = Buffer.from(text, 'utf8');
      assert.equal(md5Hex(text), createHash('md5').update(bytes).digest('hex'));
      const sha256 = createHash('sha256').update(bytes).digest();
      assert.equal(sha256Hex(text), sha256.toString('hex'));
      assert.equal(
        Buffer.from(sha256Bytes(text), 'latin1').toString('hex'),
        sha256.toString('hex'),
      );
      assert.equal(utf8Length(text), bytes.length);
    }),
  );
});

test('a tag differs when the secret or the text differs', () => {
  const tag = sha256Tag('secret', 'text');
  assert.equal(tag, sha256Tag('secret', 'text'));
  assert.notEqual(tag, sha256Tag('Secret', 'text'));
  assert.notEqual(tag, sha256Tag('secret', 'Text'));
  assert.match(tag, /^[\w-]{16}$/);
});
