// The reference pages match the code: docs/reference/errors.md has a row for every refusal with its exact
// text, and docs/reference/semantics.md and semantics-sns.md name, rule by rule, the tests that prove it.
//
// The end of a test's title assigns it to rules: "… (11.11)" or "… (11.12, 17.4)". Page and titles
// are parsed into lines of the form "rule, file, title", and both must give the same lines. First, small
// planted examples check the parsers.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, posix, sep } from 'node:path';
import { describe, test } from 'node:test';
import { errors } from '#broker/core/errors.js';

/** Queues and topics have separate pages, each with its own numbering. What a client can see is tested on every backend. */
const rooms = ['packages/broker/test/conformance', 'packages/broker/test/core'];
const topicRooms = rooms.map((room) => `${room}/topic`);
const pages = [
  { page: 'docs/reference/semantics.md', folders: rooms, without: topicRooms },
  { page: 'docs/reference/semantics-sns.md', folders: topicRooms, without: [] },
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

describe('limits.md says what the code does', () => {
  const rows = rowsOf(readFileSync('docs/reference/limits.md', 'utf8'), /^(?!What$|---)/);

  test('a constant is read from the source, whatever arithmetic it is written with', () => {
    const source =
      'const aMax = 2;\nexport const bytesMax: number = 8 * 1024 ** 2;\n  inMs: 60_000,';
    assert.equal(constantIn(source, 'bytesMax'), 8_388_608);
    assert.equal(constantIn(source, 'inMs'), 60_000);
    assert.equal(constantIn(source, 'Max'), undefined);
  });

  test('each number equals its constant', () => {
    const wrong = rows.flatMap(([what = '', amount = '']) => {
      const [, file = 'core/limits.ts', name] = /\((?:`([^`]+)` )?`(\w+)`\)$/.exec(what) ?? [];
      if (name === undefined) return [];
      const source = readFileSync(`packages/broker/src/${file}`, 'utf8');
      const value = constantIn(source, name)?.toLocaleString('en-US');
      return amount.split(' ')[0] === value ? [] : [`${what}: ${amount}, and ${name} is ${value}`];
    });
    assert.deepEqual(wrong, []);
  });

  test('no constant of core/limits.ts is missing', () => {
    const source = readFileSync('packages/broker/src/core/limits.ts', 'utf8');
    const names = [...source.matchAll(/^(?:export const| ) (\w+)(?: =|:) [\d_]+[;,]$/gm)];
    const shown = rows.map(([what = '']) => /\(`(\w+)`\)$/.exec(what)?.[1] ?? '');
    assert.ok(names.length > 50, 'the form of the file is known');
    assert.deepEqual(
      missing(
        names.map(([, name = '']) => name),
        shown,
      ),
      [],
    );
  });

  test('each test that is named exists, and a bound without one says why', () => {
    const folders = ['packages/broker/test', 'packages/toolkit/test', 'test'];
    const files = folders.flatMap((folder) => readdirSync(folder, { recursive: true }) as string[]);
    const names = files.map((name) => name.split(/[\\/]/).at(-1) as string);
    const named = rows.map((cells) => (cells[3] ?? '').replaceAll('`', ''));
    const tests = named.filter((name) => !name.startsWith('none: '));
    assert.deepEqual(
      missing(
        tests.map((name) => name.split('/').at(-1) as string),
        names,
      ),
      [],
    );
  });
});

/** The value of a constant or of a member in a source text; undefined if there is none. */
function constantIn(source: string, name: string): number | undefined {
  const form = new RegExp(`(?:const|^ ) ${name}(?:: \\w+)?(?: =|:) ([\\d_ *+-]+)[;,]`, 'm');
  const product = form.exec(source)?.[1]?.replaceAll('_', '');
  return product?.split(/ \* /).reduce((result, factor) => {
    const [base = '', exponent = '1'] = factor.split(' ** ');
    return result * Number(base) ** Number(exponent);
  }, 1);
}

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

  for (const each of pages) agreement(each);
});

function agreement({ page, folders, without }: (typeof pages)[number]): void {
  test(`${page} and tests agree`, () => {
    const onPage = linesOfPage(readFileSync(page, 'utf8'));
    const inTests = folders
      .flatMap(testFilesUnder)
      .filter((path) => !without.some((folder) => path.startsWith(`${folder}/`)))
      .flatMap((path) => linesOfTests(basename(path, '.test.ts'), readFileSync(path, 'utf8')));
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

function testFilesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join(folder, name.replaceAll(sep, '/')))
    .filter((path) => path.endsWith('.test.ts'));
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
