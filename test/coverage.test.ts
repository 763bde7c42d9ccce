// docs/contracts/coverage.md matches the repository: each rule of the contract names a file of the code and a test, and
// both exist. A test that is renamed or removed is missed here.
//
// First, a planted page checks the parser.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const page = readFileSync('docs/contracts/coverage.md', 'utf8');

test('a row is read as its code, its test file and the title', () => {
  const planted =
    '| § | rule | code | test |\n| --- | --- | --- | --- |\n| 4 | Each. | `a.ts` | `b.test.ts`: it: holds |';
  assert.deepEqual(rowsOf(planted), [{ code: 'a.ts', file: 'b.test.ts', title: 'it: holds' }]);
});

test('every rule names a file of the code and a test that exist', () => {
  const rows = rowsOf(page);
  assert.ok(rows.length > 30);
  for (const { code, file, title } of rows) {
    assert.ok(existsSync(code), `there is no ${code}`);
    assert.ok(existsSync(file), `there is no ${file}`);
    assert.ok(
      titlesIn(readFileSync(file, 'utf8')).includes(title),
      `${file} has no test "${title}"`,
    );
  }
});

test('no row of the page is left out', () => {
  const lines = page.split('\n').filter((line) => /^\| \d/.test(line));
  assert.equal(rowsOf(page).length, lines.length);
});

function rowsOf(text: string): { code: string; file: string; title: string }[] {
  const form = /^\| \d+ \| .+ \| `([^`]+)` \| `([^`]+)`: (.+) \|$/gm;
  return [...text.matchAll(form)].map(([, code = '', file = '', title = '']) => ({
    code,
    file,
    title,
  }));
}

function titlesIn(source: string): string[] {
  const titles = source.matchAll(/^\s*(?:test|describe)\(\s*'((?:[^'\\]|\\.)*)'/gm);
  return [...titles].map(([, title = '']) => title.replace(/\\(.)/g, '$1'));
}
