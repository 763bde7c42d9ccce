/**
 * How deep JSON is nested and how many values it has, found without parsing it: brackets in strings are text, however they are escaped. Anything
 * nested deeper than makes sense is refused before JSON.parse or a recursion sees it.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonSizeOf, parseObject } from '../../src/core/json-object.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** An empty list or object counts as if it had a value. */
function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const inside = Object.values(value).map(valuesOf);
  return (
    1 +
    Math.max(
      1,
      inside.reduce((sum, count) => sum + count, 0),
    )
  );
}

const unbounded = { levels: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY };

test('the size computed from JSON text equals that of its value', () => {
  const text = fc.string({ unit: fc.constantFrom('[', ']', '{', '}', '"', '\\\\', 'a', ':', ',') });
  const json = fc.jsonValue({ stringUnit: fc.constantFrom('[', ']', '{', '"', '\\\\', 'a') });
  fc.assert(
    fc.property(json, fc.array(text), (value, strings) => {
      const whole = [value, strings];
      const { levels, values } = jsonSizeOf(JSON.stringify(whole, undefined, 1), unbounded);
      assert.equal(levels, depthOf(whole));
      assert.equal(values, valuesOf(whole));
    }),
  );
});

test('a long string ends at its first quote that is not escaped', () => {
  const lengths = fc.array(fc.integer({ min: 0, max: 70 }), { minLength: 1, maxLength: 8 });
  const pieces = fc.constantFrom('\\', '"', '\\"', '"\\', '\\\\');
  fc.assert(
    fc.property(lengths, pieces, (counts, piece) => {
      const long = counts.map((count) => 'x'.repeat(count) + piece.repeat(count % 3)).join('');
      const { values } = jsonSizeOf(JSON.stringify([long, `,${long},`, 1]), unbounded);
      assert.equal(values, 4);
    }),
  );
});

test('closing brackets in a string do not lower the depth', () => {
  const deep = `{"a":"${']'.repeat(100)}","b":${'{"b":'.repeat(50)}1${'}'.repeat(50)}}`;
  assert.equal(parseObject(deep), undefined);
  assert.deepEqual(parseObject(`{"a":"${'['.repeat(100)}"}`), { a: '['.repeat(100) });
});

test('an object of more than 10,000 values is not parsed', () => {
  const listed = (count: number): string => `{"a":[${Array.from({ length: count }, () => '{}')}]}`;
  assert.notEqual(parseObject(listed(4_998)), undefined);
  assert.equal(parseObject(listed(5_001)), undefined);
  assert.deepEqual(jsonSizeOf('[1,2,3,4]', { levels: 1, values: 2 }), { levels: 1, values: 3 });
});
