/**
 * How deep JSON is nested, found without parsing it: brackets in strings are text, however they are escaped. Anything
 * nested deeper than makes sense is refused before JSON.parse or a recursion sees it.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isDeeperThan, parseObject } from '../../src/core/json-object.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('the depth computed from JSON text equals the depth of its value', () => {
  const text = fc.string({ unit: fc.constantFrom('[', ']', '{', '}', '"', '\\\\', 'a', ':', ',') });
  const json = fc.jsonValue({ stringUnit: fc.constantFrom('[', ']', '{', '"', '\\\\', 'a') });
  fc.assert(
    fc.property(json, fc.array(text), (value, strings) => {
      const whole = [value, strings];
      const depth = depthOf(whole);
      assert.equal(isDeeperThan(depth, JSON.stringify(whole)), false);
      assert.equal(isDeeperThan(depth - 1, JSON.stringify(whole)), true);
    }),
  );
});

test('closing brackets in a string do not lower the depth', () => {
  const deep = `{"a":"${']'.repeat(100)}","b":${'{"b":'.repeat(50)}1${'}'.repeat(50)}}`;
  assert.equal(parseObject(deep), undefined);
  assert.deepEqual(parseObject(`{"a":"${'['.repeat(100)}"}`), { a: '['.repeat(100) });
});
