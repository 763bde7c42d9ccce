/**
 * What reports say about two bodies that differ: the place and both values, as short as possible, for any texts that a
 * program can send.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { byteDifference, differingMembers } from '../../src/compliance/byte-difference.ts';

describe('the difference between two bodies names', () => {
  const cases: readonly (readonly [string, string, string, string, readonly string[]])[] = [
    ['a nested value', '{"p":{"day":[1,2]}}', '{"p":{"day":[1,3]}}', 'p.day.1: 2 → 3', ['p']],
    ['a missing value', '{"a":1,"b":2}', '{"a":1}', 'b: 2 → nothing', ['b']],
    ['the kind', '{"a":[]}', '{"a":{}}', 'a: [] → {}', ['a']],
    [
      'three places, and counts the others',
      '{"a":1,"b":1,"c":1,"d":1,"e":1}',
      '{"a":2,"b":2,"c":2,"d":2,"e":2}',
      'a: 1 → 2, b: 1 → 2, c: 1 → 2 and 2 more',
      ['a', 'b', 'c', 'd', 'e'],
    ],
    [
      'the byte, if only the form differs',
      '{"ä":1,"b":2}',
      '{"ä":1, "b":2}',
      'byte 8: "{\\"ä\\":1,\\"b\\":2}" → "{\\"ä\\":1, \\"b\\":2}"',
      ['the order or form of the members'],
    ],
    ['the byte of other texts', 'abc', 'abd', 'byte 2: "abc" → "abd"', ['the body']],
  ];
  for (const [what, first, second, told, members] of cases) {
    test(what, () => {
      assert.equal(byteDifference(first, second), told);
      assert.deepEqual(differingMembers(first, second), members);
    });
  }

  test('the beginning of long values only', () => {
    const told = byteDifference(JSON.stringify({ a: 'x'.repeat(10_000) }), '{"a":1}');
    assert.match(told, /^a: "x{79}… → 1$/);
  });

  test('a value, however deep it is', () => {
    const deep = (value: string): string => `${'{"a":'.repeat(9_000)}${value}${'}'.repeat(9_000)}`;
    assert.match(byteDifference(deep('1'), deep('2')), /a: 1 → 2$/);
  });
});
