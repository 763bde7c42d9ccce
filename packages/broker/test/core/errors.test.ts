/**
 * The list of refusals as a whole. That each has its row in the reference and its shape on both wire forms is checked in
 * test/reference and api/error-codes.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errors } from '../../src/core/errors.ts';

test('no error is named MessageNotInflight (4.2, 17.6)', () => {
  for (const [shape] of Object.values(errors)) {
    assert.notEqual(shape as string, 'MessageNotInflight');
  }
});
