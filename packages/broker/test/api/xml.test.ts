/**
 * Escaping for XML: what marks up, and what XML cannot represent, is replaced, in short texts as in long ones, which are
 * escaped in another way.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { escapeXml } from '../../src/api/protocol/xml.ts';

const units = [
  ...['a', '&', '<', '>', '"', '\r', '\n', '\t', '\u0000', '\u001f', '\u007f'],
  ...[
    'é',
    '€',
    '\ud83d\ude00',
    '\ud83d',
    '\ude00',
    '\ufffd',
    '\ufffe',
    '\uffff',
    '\ufbbf',
    '\uefbf',
  ],
];

test('a long text is escaped as its parts are', () => {
  const part = fc.string({ unit: fc.constantFrom(...units), maxLength: 40 });
  fc.assert(
    fc.property(part, (text) => {
      // A space between them, so that no two halves of a pair meet.
      assert.equal(escapeXml(`${text} `.repeat(1_100)), `${escapeXml(text)} `.repeat(1_100));
    }),
    { numRuns: 200 },
  );
});

test('markup and what XML cannot represent is replaced', () => {
  assert.equal(escapeXml('<a b="&">\r\n'), '&lt;a b=&quot;&amp;&quot;&gt;&#xD;\n');
  assert.equal(escapeXml('\u0000\ud83d\uffff\u{1f600}'), '\ufffd\ufffd\ufffd\u{1f600}');
});
