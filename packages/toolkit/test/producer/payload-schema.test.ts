/**
 * Payload schemas with the Standard Schema interface, of real libraries and by hand, beside JSON Schema: what they refuse,
 * what they cannot change, and that asynchronous ones are refused.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import type { StandardSchema } from '../../src/contract/payload-schema.ts';
import { landsat, scene } from '../support/landsat.ts';

const schemas: Readonly<Record<string, StandardSchema>> = {
  Zod: z.object({ tile: z.string().regex(/^p\d+r\d+$/), bands: z.array(z.string()).optional() }),
  Valibot: v.object({
    tile: v.pipe(v.string(), v.regex(/^p\d+r\d+$/)),
    bands: v.optional(v.array(v.string())),
  }),
  ArkType: type({ tile: /^p\d+r\d+$/, 'bands?': 'string[]' }),
};

for (const [name, schema] of Object.entries(schemas)) {
  describe(`a schema of ${name}`, () => {
    test('accepts a payload that matches, and changes nothing in it', () => {
      const checked = landsat({ schema }).check(scene);
      assert.equal(checked.ok && checked.message.body, landsat().message(scene).body);
    });

    test('refuses another with the path and the reason', () => {
      const wrong = { ...scene, bands: ['red', 7] } as never;
      const checked = landsat({ schema }).check(wrong);
      assert.equal(checked.ok === false && checked.code, 'payload-invalid');
      assert.match(checked.ok ? '' : checked.text, /: \/bands\/1 .*string/);
    });
  });
}

test('what a schema would convert is not sent', () => {
  const schema = z.object({ tile: z.string().transform((tile) => tile.toUpperCase()) });
  assert.match(landsat({ schema }).message(scene).body, /"tile":"p32r29"/);
});

test('a schema that validates asynchronously is refused with the reason, and nothing goes unhandled', () => {
  const failing: StandardSchema = {
    '~standard': {
      version: 1,
      vendor: 'by-hand',
      validate: () => Promise.reject(new Error('nobody listens')),
    },
  };
  const refined = z.object({ tile: z.string().refine(async () => true) });
  for (const schema of [failing, refined]) {
    const checked = landsat({ schema }).check(scene);
    assert.equal(checked.ok === false && checked.code, 'payload-invalid');
    assert.match(checked.ok ? '' : checked.text, /validates asynchronously/);
  }
});

test('a path may have objects as steps, and an issue may have no path', () => {
  const schemaWith = (path?: readonly (PropertyKey | { key: PropertyKey })[]): StandardSchema => ({
    '~standard': {
      version: 1,
      vendor: 'by-hand',
      validate: () => ({ issues: [{ message: 'is wrong', path }] }),
    },
  });
  const text = (schema: StandardSchema): string => {
    const checked = landsat({ schema }).check(scene);
    return checked.ok ? '' : checked.text;
  };
  assert.match(text(schemaWith([{ key: 'bands' }, 1])), /\/bands\/1 is wrong/);
  assert.match(text(schemaWith()), /: it is wrong/);
});

test('another version of the interface is refused when the producer is defined', () => {
  const schema = { '~standard': { version: 2, vendor: 'x', validate: () => ({}) } };
  assert.throws(() => landsat({ schema: schema as never }), /version 2 is not supported/);
});
