/**
 * What the text of a body must be beyond its JSON value: no repeated members, however their names are written, and
 * RFC 3339 times exactly, at every edge of the format.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEnvelope } from '../../src/contract/envelope.ts';
import { repeatedMember } from '../../src/contract/repeated-member.ts';
import { epochMsOf, isRfc3339 } from '../../src/contract/rfc3339.ts';
import { landsat, scene } from '../support/landsat.ts';

test('a repeated member is found at any depth, and by what its name says', () => {
  const repeated: readonly (readonly [string, string])[] = [
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"x":{"a":[{"b":1,"b":2}]}}', 'b'],
    ['{"a":{},"b":"{,","a":[]}', 'a'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"":1,"":2}', ''],
    ['[{"a":"a"},{"a":[1,2],"c":{},"a":3}]', 'a'],
  ];
  for (const [json, name] of repeated) assert.equal(repeatedMember(json), name, json);
});

test('equal names of different objects, and names as values, are not repeated', () => {
  const fine = [
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
    '{"a":"a","b":"a","c":["a","a"]}',
    '{"a":"\\"a\\":1,","b":"{\\"b\\":"}',
    '"a"',
    '[]',
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  ];
  for (const json of fine) assert.equal(repeatedMember(json), undefined, json.slice(0, 50));
});

test('a body with a repeated member is refused', () => {
  const { body } = landsat().message(scene);
  const twice = body.replace('"tile":', '"tile":"p1r1","tile":');
  const read = readEnvelope(twice);
  assert.equal(read.ok === false && read.code, 'member-repeated');
});

test('RFC 3339 times are recognized exactly', () => {
  const valid = [
    ...['2025-12-04T00:00:00Z', '2025-12-04t00:00:00z', '2025-12-04T00:00:00.123456789012Z'],
    ...['2025-12-04T23:59:59+05:30', '2025-12-04T00:00:00-00:00', '2025-12-04T00:00:00+23:59'],
    ...['2024-02-29T00:00:00Z', '2000-02-29T00:00:00Z', '0000-01-01T00:00:00Z'],
    ...['2016-12-31T23:59:60Z', '2016-12-31T15:59:60-08:00', '2017-01-01T05:29:60.9+05:30'],
  ];
  const invalid = [
    ...['2025-12-04T00:00:00+0530', '2025-12-04T00:00:00+05', '2025-12-04T00:00:00'],
    ...['2025-12-04 00:00:00Z', '2025-12-04', '2025-12-04T00:00Z', '2025-12-04T00:00:00.Z'],
    ...['2025-12-04T24:00:00Z', '2025-12-04T23:60:00Z', '2025-12-04T23:59:61Z'],
    ...['2025-02-29T00:00:00Z', '1900-02-29T00:00:00Z', '2025-04-31T00:00:00Z'],
    ...['2025-13-01T00:00:00Z', '2025-00-01T00:00:00Z', '2025-01-00T00:00:00Z'],
    ...['2025-12-04T00:00:00+24:00', '2025-12-04T00:00:00+05:60', '+2025-12-04T00:00:00Z'],
    ...['2016-12-31T23:59:60+01:00', '2016-12-30T23:59:60Z', '2016-12-31T22:59:60Z'],
    ...['2025-12-04T00:00:00Z ', '2025-12-04T00:00:00,5Z', '٢٠٢٥-12-04T00:00:00Z', ''],
  ];
  for (const time of valid) {
    assert.equal(isRfc3339(time), true, time);
    assert.ok(Number.isFinite(epochMsOf(time)), time);
  }
  for (const time of invalid) assert.equal(isRfc3339(time), false, time);
});

test('a time is cut to milliseconds, and a leap second counts as the second before', () => {
  assert.equal(epochMsOf('1970-01-01t00:00:00.9999z'), 999);
  assert.equal(epochMsOf('1970-01-01T00:00:00.5+00:01'), -59_500);
  assert.equal(epochMsOf('2016-12-31T23:59:60Z'), Date.parse('2016-12-31T23:59:59Z'));
});
