/**
 * The compiled filter policies against a plain interpreter: for random policies and messages both must agree. The
 * interpreter reads the JSON of the policy every time, flattens the message into every path that leads to a value, and has
 * no compiled form.
 */

import { test } from 'node:test';
import fc from 'fast-check';
import { matches, readFilterPolicy } from '../../../src/core/topic/filter-policy/filter-policy.ts';
import { PublicationValues } from '../../../src/core/topic/filter-policy/publication-values.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Policy = { [key: string]: Json };

const runs = 3000;
const keys = ['a', 'b', 'a.b', 'c'];
const words = ['', 'x', 'xy', 'yx', 'XY', '10.0.0.1'];

const key = fc.constantFrom(...keys);
const word = fc.constantFrom(...words);
const number = fc.integer({ min: -2, max: 3 });
const scalar: fc.Arbitrary<Json> = fc.oneof(word, number, fc.boolean(), fc.constant(null));

const numeric = fc.oneof(
  fc.tuple(fc.constantFrom('=', '<', '<=', '>', '>='), number),
  fc
    .tuple(
      fc.constantFrom('>', '>='),
      number,
      fc.constantFrom('<', '<='),
      fc.integer({ min: 4, max: 6 }),
    )
    .map((range) => range as Json[]),
);

const condition: fc.Arbitrary<Json> = fc.oneof(
  scalar,
  word.map((prefix) => ({ prefix })),
  word.map((suffix) => ({ suffix })),
  word.map((text) => ({ 'equals-ignore-case': text })),
  fc.constantFrom('*', 'x*', '*y', 'x*y*').map((wildcard) => ({ wildcard })),
  scalar.map((value) => ({ 'anything-but': value })),
  fc.array(scalar, { minLength: 1, maxLength: 3 }).map((values) => ({ 'anything-but': values })),
  word.map((prefix) => ({ 'anything-but': { prefix } })),
  numeric.map((range) => ({ numeric: range as Json[] })),
  fc.boolean().map((exists) => ({ exists })),
  fc.constant({ cidr: '10.0.0.0/8' }),
);

const leaf: fc.Arbitrary<Json> = fc.array(condition, { minLength: 1, maxLength: 3 });

const bodyPolicy: fc.Arbitrary<Policy> = fc.letrec<{ policy: Policy }>((tie) => ({
  policy: fc
    .tuple(
      fc.dictionary(
        key,
        fc.oneof({ depthSize: 'small' }, leaf, tie('policy') as fc.Arbitrary<Json>),
        { maxKeys: 3 },
      ),
      fc.option(fc.array(tie('policy'), { minLength: 1, maxLength: 2 }), { freq: 4 }),
    )
    .map(([rules, or]) => (or === null ? rules : { ...rules, $or: or })),
})).policy;

const body: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
})).value;

test('a policy over the message agrees with the interpreter (11.3, 11.5)', () => {
  fc.assert(
    fc.property(bodyPolicy, body, (policy, message) => {
      const read = readFilterPolicy(JSON.stringify(policy), 'MessageBody');
      fc.pre('rules' in read);
      const isObject = typeof message === 'object' && message !== null && !Array.isArray(message);
      const expected = isObject && interpret(policy, flatten(message), '');
      const values = new PublicationValues(JSON.stringify(message), []);
      return matches(read, values) === expected;
    }),
    { numRuns: runs },
  );
});

test('a policy over attributes agrees with the interpreter (11.3, 11.4)', () => {
  const attributes = fc.dictionary(key, fc.oneof(word, number, fc.array(scalar, { maxLength: 3 })));
  const policies = fc.dictionary(key, leaf, { maxKeys: 3 });
  fc.assert(
    fc.property(policies, attributes, (policy, given) => {
      const read = readFilterPolicy(JSON.stringify(policy), 'MessageAttributes');
      fc.pre('rules' in read);
      const paths = Object.entries(given).map(([path, value]): [string, Json[]] => [
        path,
        Array.isArray(value) ? value : [value],
      ]);
      const expected = interpret(policy, new Map(paths), '');
      const list = Object.entries(given).map(([name, value]) => ({
        name,
        type: Array.isArray(value)
          ? 'String.Array'
          : typeof value === 'number'
            ? 'Number'
            : 'String',
        value: Array.isArray(value) ? JSON.stringify(value) : String(value),
      }));
      return matches(read, new PublicationValues('', list)) === expected;
    }),
    { numRuns: runs },
  );
});

/** Every path that leads to a value, with dots between the keys; arrays add nothing to a path. */
function flatten(value: Json, path: string[] = [], found = new Map<string, Json[]>()) {
  if (Array.isArray(value)) for (const each of value) flatten(each, path, found);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) flatten(each, [...path, name], found);
  } else {
    const joined = path.join('.');
    found.set(joined, [...(found.get(joined) ?? []), value]);
  }
  return found;
}

function interpret(policy: Policy, paths: Map<string, Json[]>, above: string): boolean {
  return Object.entries(policy).every(([name, rule]) => {
    if (name === '$or') return (rule as Policy[]).some((each) => interpret(each, paths, above));
    const path = above === '' ? name : `${above}.${name}`;
    if (!Array.isArray(rule)) return interpret(rule as Policy, paths, path);
    return rule.some((each) => holds(each, paths.get(path) ?? []));
  });
}

function holds(rule: Json, values: readonly Json[]): boolean {
  if (typeof rule !== 'object' || rule === null) return values.some((value) => value === rule);
  const [operator, operand] = Object.entries(rule)[0] as [string, Json];
  if (operator === 'exists') return values.length > 0 === operand;
  return values.some((value) => operatorHolds(operator, operand, value));
}

function operatorHolds(operator: string, operand: Json, value: Json): boolean {
  const text = typeof value === 'string' ? value : undefined;
  switch (operator) {
    case 'prefix':
      return text !== undefined && text.indexOf(operand as string) === 0;
    case 'suffix':
      return text !== undefined && text.slice(text.length - (operand as string).length) === operand;
    case 'equals-ignore-case':
      return text?.toUpperCase() === (operand as string).toUpperCase();
    case 'wildcard': {
      const pattern = (operand as string).split('*').join('.*');
      return text !== undefined && new RegExp(`^${pattern}$`, 's').test(text);
    }
    case 'anything-but': {
      if (Array.isArray(operand)) return operand.every((each) => each !== value);
      if (typeof operand !== 'object' || operand === null) return operand !== value;
      const [inner, pattern] = Object.entries(operand)[0] as [string, Json];
      return !operatorHolds(inner, pattern, value);
    }
    case 'numeric': {
      const [first, low, second, high] = operand as [string, number, string?, number?];
      return (
        typeof value === 'number' &&
        compare(value, first, low) &&
        (second === undefined || compare(value, second, high as number))
      );
    }
    default:
      // The one network of these tests.
      return text !== undefined && /^10(\.\d+){3}$/.test(text);
  }
}

function compare(value: number, operator: string, bound: number): boolean {
  if (operator.includes('=') && value === bound) return true;
  if (operator.includes('<')) return value < bound;
  return operator.includes('>') && value > bound;
}
