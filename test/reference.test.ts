// The reference pages match the code: docs/reference/errors.md has a row for every refusal with its exact
// text, and docs/reference/semantics.md and semantics-sns.md name, rule by rule, the tests that prove it.
//
// The end of an engine test's title assigns it to rules: "… (11.11)" or "… (11.12, 17.4)". Page and titles
// are parsed into lines of the form "rule, file, title", and both must give the same lines. First, small
// planted examples check the parsers.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { errors } from '#broker/core/errors.js';

/** Queues and topics have separate pages, each with its own numbering. */
const pages = [
  { page: 'docs/reference/semantics.md', testFolder: 'packages/broker/test/core' },
  { page: 'docs/reference/semantics-sns.md', testFolder: 'packages/broker/test/core/topic' },
];

describe('every refusal has its row in errors.md', () => {
  test('a row is read as code, shape and text, with its bars unescaped', () => {
    const page = '| code | shape | text |\n| --- | --- | --- |\n| `a-b` | `Shape` | `x \\| y` |\n';
    assert.deepEqual(errorRows(page), [['a-b', 'Shape', 'x | y']]);
  });

  test('the page has a row for each code, and no others', () => {
    const page = readFileSync('docs/reference/errors.md', 'utf8');
    const expected = Object.entries(errors).map(([code, [shape, text]]) => [code, shape, text]);
    assert.deepEqual(errorRows(page), expected);
  });
});

describe('every rule names the tests that prove it', () => {
  const page = [
    '| rule | what OnceMQ does | held by |',
    '| --- | --- | --- |',
    '| 1.1 | Names are short. | [`names`]<br>– a name is short<br>– a name is not empty |',
    '| 1.2 | Names and life. | [`names`]<br>– a name is short<br>[`life`]<br>– it lives |',
  ].join('\n');

  test('a row is read as one line for each test it names', () => {
    assert.deepEqual(linesOfPage(page), [
      '1.1, names, a name is short',
      '1.1, names, a name is not empty',
      '1.2, names, a name is short',
      '1.2, life, it lives',
    ]);
  });

  test('a test is read as one line for each rule at the end of its title', () => {
    const source = [
      "test('a name is short (1.1, 1.2)', () => {});",
      'test("it\'s 1 (of 2) (11.2a)", () => {});',
      "  test('it isn\\'t numbered', () => {});",
      "test('it knows (nothing)', () => {});",
      "test(\n  'broken over lines (O1)',",
    ].join('\n');
    assert.deepEqual(linesOfTests('names', source), [
      '1.1, names, a name is short',
      '1.2, names, a name is short',
      "11.2a, names, it's 1 (of 2)",
      'O1, names, broken over lines',
    ]);
  });

  for (const { page, testFolder } of pages) agreement(page, testFolder);
});

function agreement(page: string, testFolder: string): void {
  test(`${page} and tests agree`, () => {
    const onPage = linesOfPage(readFileSync(page, 'utf8'));
    const inTests = readdirSync(testFolder)
      .filter((name) => name.endsWith('.test.ts'))
      .flatMap((name) => {
        const source = readFileSync(`${testFolder}/${name}`, 'utf8');
        return linesOfTests(name.replace('.test.ts', ''), source);
      });
    assert.deepEqual(missing(onPage, inTests), [], 'named on the page, and no such test');
    assert.deepEqual(missing(inTests, onPage), [], 'a test, and not named on the page');
  });

  test(`no rule of ${page} is without a test`, () => {
    const source = readFileSync(page, 'utf8');
    const held = new Set(linesOfPage(source).map((line) => line.split(', ')[0]));
    const rules = rowsOf(source, ruleForm).map(([rule]) => rule as string);
    assert.deepEqual(missing(rules, [...held] as string[]), []);
  });
}

const ruleForm = /^(\d+(\.\d+[a-f]?)?|O\d+)$/;
const suffixForm = / \(((?:\d+(?:\.\d+[a-f]?)?|O\d+)(?:, (?:\d+(?:\.\d+[a-f]?)?|O\d+))*)\)$/;

/** The cells of each table row whose first cell has the form. */
function rowsOf(page: string, form: RegExp): string[][] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(/(?<!\\)\s*\|\s*/))
    .filter(([first]) => form.test(first as string));
}

function errorRows(page: string): string[][] {
  return rowsOf(page, /^`[a-z-]+`$/).map((cells) =>
    cells.map((cell) => cell.replace(/^`|`$/g, '').replaceAll('\\|', '|')),
  );
}

function linesOfPage(page: string): string[] {
  return rowsOf(page, ruleForm).flatMap(([rule, , held = '']) => {
    let file = '';
    return held.split('<br>').flatMap((item) => {
      if (item.startsWith('– ')) return [`${rule}, ${file}, ${item.slice(2)}`];
      file = item.replace(/^\[`|`\]$/g, '');
      return [];
    });
  });
}

function linesOfTests(file: string, source: string): string[] {
  const titles = source.matchAll(/^\s*test\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/gm);
  return [...titles].flatMap(([, single, double]) => {
    const title = (single ?? double ?? '').replace(/\\(.)/g, '$1');
    const rules = suffixForm.exec(title)?.[1]?.split(', ') ?? [];
    return rules.map((rule) => `${rule}, ${file}, ${title.replace(suffixForm, '')}`);
  });
}

function missing(lines: readonly string[], among: readonly string[]): string[] {
  const known = new Set(among);
  return lines.filter((line) => !known.has(line));
}
