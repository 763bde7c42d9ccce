// Checks that the mutants of `npm run test:mutants` still fit the code. Running them takes minutes; this
// test only checks that each finds the text it breaks, exactly once, and it runs every time, so that the
// list cannot rot.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mutants } from '../scripts/mutant-list.ts';

for (const { name, file, find, replace } of mutants) {
  test(`the mutant "${name}" finds exactly one place to break`, () => {
    const source = readFileSync(join('packages/broker/dist/src', file), 'utf8');
    assert.equal(source.split(find).length - 1, 1, `${file} must hold the text once: ${find}`);
    assert.notEqual(find, replace);
  });
}
