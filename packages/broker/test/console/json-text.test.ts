/**
 * How JSON is laid out for people. The module is the browser's, but knows no page, so it is tested as it is served.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

// By its address: the console is compiled on its own, and nothing of the broker imports it.
const address = new URL('../../src/console/components/json-text.js', import.meta.url).href;
const { pretty } = (await import(address)) as { pretty(text: string): string };

test('JSON is formatted as by JSON.stringify with two spaces', () => {
  const value = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));
  fc.assert(
    fc.property(value, fc.constantFrom(0, 1, '\t'), (json, space) => {
      // Through its text once, which settles what has no form of its own in JSON, such as -0.
      const text = JSON.stringify(json, null, space);
      assert.equal(pretty(text), JSON.stringify(JSON.parse(text), null, 2));
    }),
  );
});

test('formatting preserves digits, duplicate keys and the order of keys', () => {
  const text = '{"id":12345678901234567890,"2":1.0,"1":1e400,"a":-0,"a":{}}';
  const lines = ['"id": 12345678901234567890', '"2": 1.0', '"1": 1e400', '"a": -0', '"a": {}'];
  assert.equal(pretty(text), `{\n  ${lines.join(',\n  ')}\n}`);
});

test('escapes in strings are understood', () => {
  assert.equal(pretty('["\\u0434\\u0430","\\/","\\n"]'), '[\n  "да",\n  "/",\n  "\\n"\n]');
});

test('text that is not JSON, or would become mostly spaces, stays unchanged', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  for (const text of [
    'plain',
    '',
    ' ',
    '{"a":',
    '{a:1}',
    '[1]]',
    '\uFEFF{}',
    '"text"',
    '12',
    deep,
  ]) {
    assert.equal(pretty(text), text);
  }
});
