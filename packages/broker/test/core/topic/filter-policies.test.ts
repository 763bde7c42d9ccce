/**
 * Filter policies (§11) as functions: what they match, and what is refused as a policy. What subscriptions do with them is in
 * conformance/topic/filtering.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MessageAttribute } from '../../../src/core/changes.ts';
import {
  type FilterScope,
  matches,
  readFilterPolicy,
} from '../../../src/core/topic/filter-policy/filter-policy.ts';
import { PublicationValues } from '../../../src/core/topic/filter-policy/publication-values.ts';

type Values = Readonly<Record<string, string | number | readonly unknown[] | Uint8Array>>;

function attributesOf(values: Values): MessageAttribute[] {
  return Object.entries(values).map(([name, value]) => {
    if (typeof value === 'string') return { name, type: 'String', value };
    if (typeof value === 'number') return { name, type: 'Number', value: String(value) };
    if (value instanceof Uint8Array) return { name, type: 'Binary', value };
    return { name, type: 'String.Array', value: JSON.stringify(value) };
  });
}

/** Whether attributes with these values pass the policy. */
function passes(policy: object, values: Values): boolean {
  return judge(policy, 'MessageAttributes', '', attributesOf(values));
}

/** Whether a message that is this JSON, or this text, passes the policy. */
function bodyPasses(policy: object, body: unknown): boolean {
  const message = typeof body === 'string' ? body : JSON.stringify(body);
  return judge(policy, 'MessageBody', message, []);
}

function judge(
  policy: object,
  scope: FilterScope,
  message: string,
  attributes: readonly MessageAttribute[],
): boolean {
  const read = readFilterPolicy(JSON.stringify(policy), scope);
  assert.ok('rules' in read, JSON.stringify(read));
  return matches(read, new PublicationValues(message, attributes));
}

function wrongWith(policy: object | string, scope: FilterScope = 'MessageBody'): string {
  const text = typeof policy === 'string' ? policy : JSON.stringify(policy);
  const read = readFilterPolicy(text, scope);
  assert.ok('wrong' in read, `${text} should be wrong`);
  return read.wrong;
}

test('every key must match, by at least one of its conditions (11.1)', () => {
  const policy = { store: ['north', 'south'], kind: ['price'] };
  assert.ok(passes(policy, { store: 'south', kind: 'price', more: 'x' }));
  assert.equal(passes(policy, { store: 'east', kind: 'price' }), false);
  assert.equal(passes(policy, { store: 'north' }), false);
});

describe('operators', () => {
  const cases: readonly [condition: unknown, good: readonly unknown[], bad: readonly unknown[]][] =
    [
      ['a', ['a'], ['A', 'ab', 1]],
      [5, [5, 5.0], ['5', 6]],
      [{ prefix: 'ab' }, ['ab', 'abc'], ['xab', 'AB', 1]],
      [{ suffix: 'ab' }, ['ab', 'xab'], ['abx', 'AB']],
      [{ 'equals-ignore-case': 'Ab' }, ['ab', 'AB'], ['abc']],
      [{ wildcard: 'a*c' }, ['ac', 'abbc'], ['acd', 'xac']],
      [{ wildcard: '*a*b*' }, ['xaybz', 'ab'], ['ba']],
      [{ wildcard: 'a?c' }, ['a?c'], ['abc']],
      [{ 'anything-but': 'a' }, ['b', 1], ['a']],
      [{ 'anything-but': ['a', 5] }, ['b', 6], ['a', 5]],
      [{ 'anything-but': { prefix: 'a' } }, ['b', 5], ['ab']],
      [{ 'anything-but': { suffix: 'a' } }, ['ab'], ['ba']],
      [{ 'anything-but': { wildcard: 'a*c' } }, ['ab'], ['abc']],
      [{ numeric: ['=', 5] }, [5], [6, '5']],
      [{ numeric: ['<', 5] }, [4.9], [5]],
      [{ numeric: ['<=', 5] }, [5], [5.1]],
      [{ numeric: ['>', -5] }, [-4], [-5]],
      [{ numeric: ['>=', 5] }, [5], [4]],
      [{ numeric: ['>', 0, '<=', 5] }, [5, 1], [0, 6]],
      [{ exists: true }, ['a', 5], []],
      [{ exists: false }, [], ['a']],
      [{ cidr: '10.0.0.0/24' }, ['10.0.0.255'], ['10.0.1.0', 'x', '10.0.0', '::1']],
      [{ cidr: '10.0.0.128/25' }, ['10.0.0.129'], ['10.0.0.1']],
      [{ cidr: '2001:db8::/32' }, ['2001:db8:1::5'], ['2001:db9::1', '10.0.0.1']],
      [{ cidr: '::ffff:1.2.3.4/128' }, ['::ffff:1.2.3.4'], ['::ffff:1.2.3.5']],
    ];

  test('each matches what it says, in both scopes (11.3)', () => {
    for (const [condition, good, bad] of cases) {
      const policy = { k: [condition] };
      const told = JSON.stringify(condition);
      for (const value of good) {
        assert.ok(passes(policy, { k: value as string }), `${told} ${value}`);
        assert.ok(bodyPasses(policy, { k: value }), `body ${told} ${value}`);
      }
      for (const value of bad) {
        assert.equal(passes(policy, { k: value as string }), false, `${told} ${value}`);
        assert.equal(bodyPasses(policy, { k: value }), false, `body ${told} ${value}`);
      }
    }
  });

  test('$or matches if one of its policies does, alongside its siblings, and may nest (11.3)', () => {
    const policy = { a: ['1'], $or: [{ b: ['2'] }, { $or: [{ c: ['3'] }, { d: ['4'] }] }] };
    assert.ok(passes(policy, { a: '1', b: '2' }));
    assert.ok(passes(policy, { a: '1', d: '4' }));
    assert.equal(passes(policy, { b: '2' }), false);
    assert.equal(passes(policy, { a: '1' }), false);
  });
});

test('a missing attribute fails every condition but exists:false (11.4)', () => {
  for (const condition of [null, 'a', { 'anything-but': 'a' }, { exists: true }]) {
    assert.equal(passes({ k: [condition] }, {}), false, JSON.stringify(condition));
  }
  assert.ok(passes({ k: [{ exists: false }] }, {}));
});

test('one matching element of a String.Array is enough, and Binary counts as absent (11.4)', () => {
  assert.ok(passes({ k: ['b'] }, { k: ['a', 'b'] }));
  assert.ok(passes({ k: [null] }, { k: [1, null] }));
  assert.ok(passes({ k: [{ numeric: ['>', 3] }] }, { k: [1, 5] }));
  assert.equal(passes({ k: ['c'] }, { k: ['a', 'b'] }), false);
  assert.ok(passes({ k: [{ exists: false }] }, { k: Uint8Array.of(1) }));
});

test('a message must be a JSON object (11.5)', () => {
  const policy = { k: [{ exists: false }] };
  assert.ok(bodyPasses(policy, {}));
  for (const text of ['no', '"k"', '[{"k":1}]', '5', 'null']) {
    assert.equal(bodyPasses(policy, text), false, text);
  }
});

test('policies nest, and arrays are searched at any depth (11.5)', () => {
  const policy = { a: { b: ['x'] } };
  assert.ok(bodyPasses(policy, { a: { b: 'x' } }));
  assert.ok(bodyPasses(policy, { a: [[{ b: 'y' }, { b: ['z', ['x']] }]] }));
  assert.equal(bodyPasses(policy, { a: 'x', b: 'x' }), false);
  assert.ok(bodyPasses({ a: { b: ['x'], c: ['y'] } }, { a: [{ b: 'x' }, { c: 'y' }] }));
});

test('true, false and null match themselves in a message (11.5)', () => {
  assert.ok(bodyPasses({ k: [true] }, { k: true }));
  assert.ok(bodyPasses({ k: [null] }, { k: null }));
  assert.equal(bodyPasses({ k: [false] }, { k: 'false' }), false);
});

test('a dot in a key matches a literal dot or a nested level, in any mixture (11.6)', () => {
  for (const body of [
    { 'a.b.c': 'x' },
    { a: { 'b.c': 'x' } },
    { 'a.b': { c: 'x' } },
    { a: { b: { c: 'x' } } },
  ]) {
    assert.ok(bodyPasses({ 'a.b.c': ['x'] }, body), JSON.stringify(body));
    assert.ok(bodyPasses({ a: { b: { c: ['x'] } } }, body), JSON.stringify(body));
  }
});

test('an empty array in a message counts as absent (11.7)', () => {
  assert.ok(bodyPasses({ k: [{ exists: false }] }, { k: [] }));
  assert.ok(bodyPasses({ k: [{ exists: false }] }, { k: [[], []] }));
});

test('a policy has up to 5 keys (11.8)', () => {
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, ['x']]));
  assert.ok('rules' in readFilterPolicy(JSON.stringify(keys(5)), 'MessageAttributes'));
  assert.equal(wrongWith(keys(6)), 'Filter policy can not have more than 5 keys');
});

test('a policy has up to 150 combinations, counted with depth and alternatives (11.8)', () => {
  const list = (count: number) => Array.from({ length: count }, (_, at) => `v${at}`);
  const complex = 'Filter policy is too complex';
  assert.ok('rules' in readFilterPolicy(JSON.stringify({ a: list(150) }), 'MessageBody'));
  assert.equal(wrongWith({ a: list(152) }), complex);
  assert.equal(wrongWith({ a: list(6), b: list(6), c: list(6) }), complex);
  assert.equal(wrongWith({ a: { b: list(4) }, c: { d: { e: list(7) } } }), complex);
  assert.equal(wrongWith({ a: list(40), $or: [{ b: list(2) }, { c: list(2) }] }), complex);
});

test('an invalid policy is reported with the texts of AWS (11.10)', () => {
  const cases: readonly [policy: object, text: string][] = [
    [{ k: 'v' }, '"k" must be an object or an array'],
    [{ k: { suffix: 'v' } }, '"suffix" must be an object or an array'],
    [{ k: [] }, 'Empty arrays are not allowed'],
    [{ k: [['v']] }, 'Match value must be String, number, true, false, or null'],
    [{ k: [{ like: 'v' }] }, 'Unrecognized match type like'],
    [{ k: [{ prefix: 'a', suffix: 'b' }] }, 'Only one key allowed in match expression'],
    [{ k: [{ suffix: 1 }] }, 'suffix match pattern must be a string'],
    [{ k: [{ prefix: [] }] }, 'prefix match pattern must be a string'],
    [{ k: [{ cidr: 1 }] }, 'prefix match pattern must be a string'],
    [{ k: [{ wildcard: 'a**b' }] }, 'Consecutive wildcard characters at pos 2'],
    [{ k: [{ wildcard: '*a*b*c*' }] }, 'wildcard match pattern can not have more than 3 wildcards'],
    [{ k: [{ exists: 'yes' }] }, 'exists match pattern must be either true or false.'],
    [{ k: [{ 'anything-but': { exists: true } }] }, 'Unsupported anything-but pattern: exists'],
    [{ k: [{ cidr: '10.0.0.0' }] }, "Malformed CIDR, one '/' required"],
    [{ k: [{ cidr: '10.0.0.0/x' }] }, 'Malformed CIDR, mask bits must be an integer'],
    [{ k: [{ cidr: '10.0.0/8' }] }, 'Nonstandard IP address: 10.0.0'],
    [{ k: [{ numeric: [] }] }, 'Invalid member in numeric match: ]'],
    [{ k: [{ numeric: [1, 2] }] }, 'Invalid member in numeric match: 1'],
    [{ k: [{ numeric: [{ toString: '<' }, 5] }] }, 'Invalid member in numeric match: {'],
    [{ k: [{ numeric: [['<'], 5] }] }, 'Invalid member in numeric match: ['],
    [
      { k: [{ numeric: ['>', 1, { valueOf: 1, toString: 1 }, 2] }] },
      'Bad value in numeric range: {',
    ],
    [{ k: [{ numeric: ['op'] }] }, 'Unrecognized numeric range operator: op'],
    [{ k: [{ numeric: ['>='] }] }, 'Value of >= must be numeric'],
    [{ k: [{ numeric: ['=', '1'] }] }, 'Value of equals must be numeric'],
    [{ k: [{ numeric: ['<', 1, '>', 0] }] }, 'Too many elements in numeric expression'],
    [{ k: [{ numeric: ['>', 1, 30, 2] }] }, 'Bad value in numeric range: 30'],
    [{ k: [{ numeric: ['>', 1, '>', 2] }] }, 'Bad numeric range operator: >'],
    [{ k: [{ numeric: ['>', 2, '<', 2] }] }, 'Bottom must be less than top'],
    [{ k: [{ numeric: ['>', 1, '<', 2, '<', 3] }] }, 'Too many terms in numeric range expression'],
  ];
  for (const [policy, text] of cases) assert.equal(wrongWith(policy), text);
  assert.match(wrongWith('{'), /^failed to parse JSON\. /);
  assert.match(wrongWith('[]'), /^failed to parse JSON\. /);
});

test('a message nested a hundred thousand levels deep is searched safely (11.5)', () => {
  const deep = `{"k":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  assert.equal(bodyPasses({ k: ['x'] }, deep), false);
});

test('a policy is limited in depth, in the dots of a key and in bytes (11.8)', () => {
  assert.match(wrongWith(`${'{"a":'.repeat(100)}[]${'}'.repeat(100)}`), /failed to parse/);
  assert.equal(wrongWith({ ['a.'.repeat(40)]: ['x'] }), 'Filter policy is too complex');
  assert.equal(wrongWith({ k: ['x'.repeat(300_000)] }), 'Filter policy is too large');
});
