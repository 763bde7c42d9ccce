/**
 * Canonical bytes: the examples that RFC 8785 itself prints (3.2.2 to 3.2.4, and the numbers of its appendix B), and
 * properties that no list of examples can show.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { canonicalText, changedNumber } from '../../src/contract/canonical.ts';

function textOf(value: unknown): string {
  const result = canonicalText(value);
  assert.ok(result.ok);
  return result.text;
}

test('the example of RFC 8785, 3.2.2 has the bytes of 3.2.4', () => {
  const input = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;
  const bytes = [
    '7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72',
    '75 65 2c 66 61 6c 73 65 5d 2c 22 6e 75 6d 62 65 72 73 22 3a',
    '5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31',
    '65 2b 33 30 2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37',
    '5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24 5c 75 30 30',
    '30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d',
  ].join(' ');
  const text = textOf(JSON.parse(input));
  assert.equal(Buffer.from(text).toString('hex'), bytes.replaceAll(' ', ''));
});

test('members are sorted by UTF-16 code units, as in RFC 8785, 3.2.3', () => {
  const input = String.raw`{
    "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis"
  }`;
  const names = Object.values(JSON.parse(textOf(JSON.parse(input))) as object);
  // JSON.parse always puts the digit first, so the order is checked in the text.
  assert.equal(names.length, 7);
  const order = [...textOf(JSON.parse(input)).matchAll(/:"([^"]+)"/g)].map((match) => match[1]);
  assert.deepEqual(order, [
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ]);
});

describe('the numbers of RFC 8785, appendix B', () => {
  const numbers: readonly (readonly [ieee: string, json: string])[] = [
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ];
  for (const [ieee, json] of numbers) {
    test(`${ieee} is ${json}`, () => {
      assert.equal(textOf(Buffer.from(ieee, 'hex').readDoubleBE()), json);
    });
  }

  test('a number that is not finite has no canonical form', () => {
    for (const ieee of ['7fffffffffffffff', '7ff0000000000000']) {
      const result = canonicalText({ a: [Buffer.from(ieee, 'hex').readDoubleBE()] });
      assert.equal(!result.ok && result.code, 'number-not-canonical');
      assert.match(result.ok ? '' : result.text, /at \$\.a\.0 /);
    }
  });
});

test('a JSON value gives the same text after a round trip through JSON, in any order of members', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const shuffled = JSON.parse(JSON.stringify(value), (_, member: unknown) =>
        typeof member === 'object' && member !== null && !Array.isArray(member)
          ? Object.fromEntries(Object.entries(member).reverse())
          : member,
      );
      assert.equal(textOf(shuffled), textOf(value));
      assert.deepEqual(JSON.parse(textOf(value)), JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('values that JSON would change or cannot represent are refused, except an undefined member', () => {
  const nested: Record<string, unknown> = {};
  nested['self'] = nested;
  for (const value of [10n, undefined, () => 1, '\ud800', { '\udfff': 1 }, [undefined], nested]) {
    assert.equal(canonicalText({ value }).ok, value === undefined);
  }
});

test('objects that JSON would make empty are refused with their position, and other class instances are not', () => {
  class Hidden {
    readonly #value = 1;
    read(): number {
      return this.#value;
    }
  }
  class Shown {
    readonly tile = 'p32r29';
  }
  const hollow = [
    new Map([['a', 1]]),
    new Set([1]),
    new Hidden(),
    Promise.resolve(1),
    /a/,
    new Error('x'),
  ];
  for (const value of hollow) {
    const result = canonicalText({ list: [{ value }] });
    const name = value.constructor.name;
    assert.ok(!result.ok, name);
    assert.equal(result.code, 'value-not-canonical');
    assert.ok(
      result.text.includes(`at $.list.0.value `) &&
        result.text.includes(`a ${name} would become {}`),
    );
  }
  assert.equal(
    textOf({ a: new Shown(), b: {}, c: Object.create(null), d: new Date(0) }),
    '{"a":{"tile":"p32r29"},"b":{},"c":{},"d":"1970-01-01T00:00:00.000Z"}',
  );
  // An object from another realm, such as a test runner's sandbox.
  assert.equal(textOf(runInNewContext('({ a: {} })')), '{"a":{}}');
});

test('a number that parsers would change is found in a text, and no other', () => {
  for (const number of [
    '9007199254740993',
    '-12345678901234567890',
    '1e400',
    '1e-400',
    '0.123456789012345678',
  ]) {
    assert.equal(changedNumber(`{"a":"9007199254740993","b":[${number}]}`), number);
  }
  for (const number of ['9007199254740991', '1e30', '-0', '0.10000000000000001', '100', '1.50']) {
    assert.equal(changedNumber(`{"a":"x\\"9007199254740993","b":[${number}]}`), undefined);
  }
});
