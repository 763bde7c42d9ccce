/**
 * The code generated for the structures of AWS JSON does what their shapes say: with every choice of members, with every type
 * of value, and with names that could end the text they are in.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileIsReady, compileWriter } from '../../src/api/protocol/json-code.ts';
import {
  boolean,
  integer,
  list,
  long,
  plainString,
  string,
  structure,
} from '../../src/api/shapes/shape.ts';

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

test('a structure is written with the members that it has, in the order of its shape', () => {
  const write = compileWriter(shape, (_, value) => JSON.stringify(value));
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
  const write = compileWriter(shape, () => '');
  assert.equal(write({ Items: [] }), '{}');
  assert.equal(write({ Plain: 'a', Items: [], Count: 1 }), '{"Plain":"a"}');
  assert.equal(write({ Count: 1, Last: 'z' }), '{"Last":"z"}');
});

test('an input is ready if its simple members have the types of the shape, and others are absent', () => {
  const isReady = compileIsReady(shape);
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
      assert.equal(isReady({ [name]: value }), isFit(value), `${name} ${JSON.stringify(value)}`);
    }
  }
  assert.equal(isReady({ Count: 2 ** 31 - 1 }), true);
  assert.equal(isReady({ Count: -(2 ** 31) }), false);
  assert.equal(isReady(JSON.parse('{"__proto__":{"Text":1}}')), true);
  assert.equal(compileIsReady(structure({}))({ Any: 1 }), true);
});

test('names never end the text that they are in', () => {
  const odd = structure({ 'a"];throw 1//': { ...member, type: plainString } });
  const value = { 'a"];throw 1//': 'x' };
  assert.equal(compileWriter(odd, () => '')(value), JSON.stringify(value));
  assert.equal(compileIsReady(odd)(value), true);
});
