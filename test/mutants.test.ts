// Checks that the mutants of `npm run test:mutants` still fit the code. Running them takes minutes; this
// test only checks that each finds the text it breaks, exactly once, and that there are tests to catch it. It
// runs every time, so that the list cannot rot.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mutants } from '../scripts/mutant-list.ts';
import { filesOf, suitesOf } from '../scripts/mutant-suites.ts';

for (const { name, file, find, replace } of mutants) {
  test(`the mutant "${name}" finds exactly one place to break`, () => {
    const source = readFileSync(join('packages/broker/dist/src', file), 'utf8');
    assert.equal(source.split(find).length - 1, 1, `${file} must hold the text once: ${find}`);
    assert.notEqual(find, replace);
  });
}

test('every mutant meets suites, and every suite has tests', () => {
  const tests = join('packages', 'broker', 'dist', 'test');
  for (const mutant of mutants) {
    const suites = suitesOf(mutant);
    assert.ok(suites.length > 0, `no suite can catch "${mutant.name}"`);
    for (const suite of suites) assert.ok(filesOf(suite, tests).length > 0, suite.folder);
  }
});
