/**
 * Keys built from parts: no two lists of parts may give the same string, so this is tested with parts that consist of
 * the separators and escapes themselves.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type KeyPart, key } from '../../src/contract/keys.ts';
import { ContractError } from '../../src/contract/refusals.ts';

const nasty = fc.string({
  unit: fc.constantFrom('/', '%', '#', '2', 'F', 'a', '1', ' ', ':', 'é', '😀'),
});
const part: fc.Arbitrary<KeyPart> = fc.oneof(
  nasty,
  fc.string({ unit: 'binary' }),
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.bigInt({ min: -3n, max: 3n }),
  fc.boolean(),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(3) }),
);
const parts = fc.array(part, { minLength: 1, maxLength: 4 }) as fc.Arbitrary<
  [KeyPart, ...KeyPart[]]
>;

test('two different lists of parts never give the same key', () => {
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      fc.pre(!(a.length === 1 && a[0] === '') && !(b.length === 1 && b[0] === ''));
      assert.equal(key(...a) === key(...b), spelled(a) === spelled(b));
    }),
    { numRuns: 20_000 },
  );
});

test('a key is plain ASCII without spaces, whatever its parts', () => {
  fc.assert(
    fc.property(parts, (some) => {
      fc.pre(!(some.length === 1 && some[0] === ''));
      assert.match(key(...some), /^[!-~]+$/);
    }),
  );
});

test('a key is human-readable', () => {
  assert.equal(key('landsat', 'p32r29', '2025-12-04T00:00Z'), 'landsat/p32r29/2025-12-04T00:00Z');
  assert.equal(key('a/b', 5, '5', true), 'a%2Fb/#5/5/#true');
});

test('parts that identify nothing are refused', () => {
  const refused = (make: () => string, code: string): void => {
    assert.throws(make, (error) => error instanceof ContractError && error.code === code);
  };
  refused(() => key(''), 'key-missing');
  refused(() => key('a', Number.NaN), 'key-invalid');
  refused(() => key('a', new Date(Number.NaN)), 'key-invalid');
  refused(() => key('a', undefined as unknown as string), 'key-invalid');
  refused(() => key('\ud800'), 'key-invalid');
});

/** The list as an unambiguous string, including types. */
function spelled(list: readonly KeyPart[]): string {
  return JSON.stringify(
    list.map((each) => {
      if (each instanceof Date) return ['date', each.getTime()];
      return [typeof each, Object.is(each, -0) ? '-0' : String(each)];
    }),
  );
}
