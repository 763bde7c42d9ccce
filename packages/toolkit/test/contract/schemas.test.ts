/**
 * Compiling JSON Schemas that somebody else wrote: any size and depth of what they name must compile in time, in every draft
 * that is accepted.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileSchema } from '../../src/contract/schemas.ts';

for (const $schema of [undefined, 'http://json-schema.org/draft-07/schema#']) {
  // It never came back: what a $ref names was searched in time exponential in its depth.
  test(`a schema may name a deeply nested value (${$schema ?? 'draft 2020-12'})`, () => {
    const value: unknown = JSON.parse(`${'['.repeat(200)}1${']'.repeat(200)}`);
    const findError = compileSchema({
      ...($schema === undefined ? {} : { $schema }),
      definitions: { deep: { enum: [value] } },
      $ref: '#/definitions/deep',
    });
    assert.equal(findError(value), undefined);
    assert.equal(findError([])?.keyword, 'enum');
  });
}
