/**
 * A writer encodes texts and digests as Node's own encoders do: short texts and digests it writes itself, and the format
 * on disk must not depend on which way was taken.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteReader, ByteWriter } from '../../../src/storage/records/bytes.ts';

// Of every kind and length: short ASCII texts are written in another way than the others.
const text = fc.oneof(
  fc.string({ maxLength: 100 }),
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.constantFrom('\ud800', `${'a'.repeat(47)}é`, 'a'.repeat(48), 'a'.repeat(49)),
);

test('any text is written as UTF-8 after its length', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
      const writer = new ByteWriter(16);
      writer.begin(4 + 300);
      for (const each of texts) {
        writer.goOn(4 + 3 * each.length);
        writer.text(each);
      }
      const expected = texts.map((each) => {
        const bytes = Buffer.from(each, 'utf8');
        const length = Buffer.alloc(4);
        length.writeUInt32LE(bytes.length);
        return Buffer.concat([length, bytes]);
      });
      assert.deepEqual(writer.record(), Buffer.concat(expected));
    }),
  );
});

test('digests are written as the bytes of their hex digits', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const writer = new ByteWriter();
      writer.begin(40);
      writer.hex(Buffer.from(bytes).toString('hex'));
      assert.deepEqual(writer.record(), Buffer.from(bytes));
    }),
  );
});

test('bytes returned from a record do not change while the record grows', () => {
  const writer = new ByteWriter(8);
  writer.begin(8);
  writer.f64(1.5);
  const before = writer.record();
  writer.goOn(8);
  writer.f64(2.5);
  const reader = new ByteReader(writer.record());
  assert.equal(before.readDoubleLE(0), 1.5);
  assert.equal(before.length, 8);
  assert.deepEqual([reader.f64(), reader.f64(), reader.left], [1.5, 2.5, 0]);
});
