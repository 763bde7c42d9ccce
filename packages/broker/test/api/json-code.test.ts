/**
 * The code generated for the structures of AWS JSON does what their shapes say: with every choice of members, with every type
 * of value, and with names that could end the text they are in. So do the loops that replace it where code may not be
 * generated, and both do the same with every structure of the api.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compileIsReady, compileWriter } from '../../src/api/protocol/json-code.ts';
import { loopIsReady, loopWriter } from '../../src/api/protocol/json-loops.ts';
import {
  boolean,
  integer,
  list,
  long,
  plainString,
  type Structure,
  string,
  structure,
  type Type,
  type Value,
  type ValueMap,
} from '../../src/api/shapes/shape.ts';
import { snsActions } from '../../src/api/shapes/sns.ts';
import { sqsActions } from '../../src/api/shapes/sqs.ts';

const member = { doc: '' };
const shape = structure({
  Plain: { ...member, type: plainString },
  Text: { ...member, type: string },
  Count: { ...member, type: integer },
  IsSet: { ...member, type: boolean },
  Time: { ...member, type: long },
  Last: { ...member, type: plainString },
  Items: { ...member, type: list(string) },
});

/** Every choice of members, each present or absent. */
function* choices<V>(members: Readonly<Record<string, V>>): Generator<Record<string, V>> {
  const entries = Object.entries(members);
  for (let bits = 0; bits < 1 << entries.length; bits += 1) {
    yield Object.fromEntries(entries.filter((_, at) => ((bits >> at) & 1) === 1));
  }
}

for (const { how, isReadyOf, writerOf } of [
  { how: 'generated code', isReadyOf: compileIsReady, writerOf: compileWriter },
  { how: 'loops', isReadyOf: loopIsReady, writerOf: loopWriter },
]) {
  describe(how, () => {
    test('a structure is written with the members that it has, in the order of its shape', () => {
      const write = writerOf(shape, (_, value) => JSON.stringify(value));
      const full = {
        Plain: 'a',
        Text: '"\\\u2028',
        Count: 0,
        IsSet: false,
        Time: 2 ** 40,
        Last: '',
        Items: ['b'],
      };
      let written = 0;
      for (const value of choices(full)) {
        assert.equal(write(value), JSON.stringify(value));
        written += 1;
      }
      assert.equal(written, 128);
    });

    test('a list or map for which nothing is written is left out, and so is its name', () => {
      const write = writerOf(shape, () => '');
      assert.equal(write({ Items: [] }), '{}');
      assert.equal(write({ Plain: 'a', Items: [], Count: 1 }), '{"Plain":"a"}');
      assert.equal(write({ Count: 1, Last: 'z' }), '{"Last":"z"}');
    });

    test('an input is ready if its simple members have the types of the shape, and others are absent', () => {
      const isReady = isReadyOf(shape);
      for (const value of choices({
        Plain: 'a',
        Text: '',
        Count: 1,
        IsSet: true,
        Time: 2 ** 40,
        Last: 'z',
        Unknown: null,
      })) {
        assert.equal(isReady(value), true, JSON.stringify(value));
      }
      const others = [null, 0, 1.5, 'a', true, [], {}];
      const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
        Plain: (value) => typeof value === 'string',
        Text: (value) => typeof value === 'string',
        Count: (value) => value === 0,
        IsSet: (value) => typeof value === 'boolean',
        Time: (value) => value === 0,
        Items: () => false,
      };
      for (const [name, isFit] of Object.entries(fits)) {
        for (const value of others) {
          assert.equal(
            isReady({ [name]: value }),
            isFit(value),
            `${name} ${JSON.stringify(value)}`,
          );
        }
      }
      assert.equal(isReady({ Count: 2 ** 31 - 1 }), true);
      assert.equal(isReady({ Count: -(2 ** 31) }), false);
      assert.equal(isReady(JSON.parse('{"__proto__":{"Text":1}}')), true);
      assert.equal(isReadyOf(structure({}))({ Any: 1 }), true);
    });

    test('names never end the text that they are in', () => {
      const odd = structure({ 'a"];throw 1//': { ...member, type: plainString } });
      const value = { 'a"];throw 1//': 'x' };
      assert.equal(writerOf(odd, () => '')(value), JSON.stringify(value));
      assert.equal(isReadyOf(odd)(value), true);
    });
  });
}

describe('generated code and loops do the same with every structure of the api', () => {
  const structures = [...Object.values(sqsActions), ...Object.values(snsActions)].flatMap(
    ({ input, output }) => [input, ...(output === undefined ? [] : [output])].flatMap(structuresIn),
  );

  test('in what they find ready', () => {
    fc.assert(
      fc.property(fc.constantFrom(...structures).chain(withAnyMembers), ({ of, given }) => {
        assert.equal(loopIsReady(of)(given), compileIsReady(of)(given));
      }),
      { numRuns: 1_000 },
    );
  });

  test('in what they write', () => {
    const written = (type: Type, value: Value): string => {
      if (type.is === 'string') return JSON.stringify(value);
      return Array.isArray(value) && value.length === 0 ? '' : JSON.stringify([type.is, value]);
    };
    fc.assert(
      fc.property(fc.constantFrom(...structures).chain(withRightMembers), ({ of, given }) => {
        assert.equal(loopWriter(of, written)(given), compileWriter(of, written)(given));
      }),
      { numRuns: 1_000 },
    );
  });
});

function structuresIn(type: Type): Structure[] {
  if (type.is === 'structure') {
    return [type, ...type.fields.flatMap((field) => structuresIn(field.type))];
  }
  return 'of' in type ? structuresIn(type.of) : [];
}

/** A structure with some of its members, each of a right or wrong type, and others that it does not have. */
function withAnyMembers(of: Structure): fc.Arbitrary<{ of: Structure; given: ValueMap }> {
  const names = [...of.byName.keys(), 'Unknown', '__proto__'];
  const value = fc.constantFrom<unknown>(
    undefined,
    null,
    0,
    1.5,
    2 ** 31,
    2 ** 60,
    '',
    true,
    [],
    {},
  );
  // The second of two types decides most often, so right ones are frequent.
  const right = fc.constantFrom<unknown>('text', 7, false);
  return fc
    .array(fc.tuple(fc.constantFrom(...names), fc.oneof(right, value)), { maxLength: 3 })
    .map((members) => ({ of, given: Object.fromEntries(members) as ValueMap }));
}

function withRightMembers(of: Structure): fc.Arbitrary<{ of: Structure; given: ValueMap }> {
  const members = of.fields.map(({ name, type }) => [
    name,
    fc.option(rightFor(type), { nil: undefined }),
  ]);
  return fc.record(Object.fromEntries(members)).map((given) => ({ of, given: given as ValueMap }));
}

function rightFor({ is, ...type }: Type): fc.Arbitrary<Value> {
  switch (is) {
    case 'string':
      return 'isPlain' in type ? fc.constantFrom('', 'plain') : fc.string();
    case 'integer':
    case 'long':
      return fc.integer();
    case 'boolean':
      return fc.boolean();
    default:
      return fc.constantFrom<Value>([], ['text'], { name: 'text' });
  }
}
