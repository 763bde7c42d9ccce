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

/** Bounds that nobody meets: how work is divided, what a cache holds, what a format can express. Files with their constants. */
const inside: Readonly<Record<string, string>> = {
  'api/inspect/envelope-ids.ts': 'idLengthMax',
  'api/inspect/event-follower.ts': 'turnBytesMax',
  'api/inspect/overview.ts': 'topicsMax',
  'api/protocol/parameters.ts': 'occurrencesMax plainValueLengthMax',
  'api/protocol/reading.ts': 'integerMax',
  'core/queue/message-check.ts': 'bytesPerCharMax',
  'core/queue/message-table.ts': 'signpostsMax',
  'core/queue/receipt.ts': 'handleLengthMax',
  'core/structures/hash-index.ts': 'homesSmallMax',
  'core/structures/slab.ts': 'rowsKeptMax',
  'core/topic/filter-policy/cidr.ts': 'addressLengthMax',
  'server/http/plain-connection.ts': 'nextBytesMax plainBytesMax',
  'server/http/request-head.ts': 'namesMax rememberedLengthMax',
  'server/ledger/line-writer.ts': 'batchBytesMax',
  'server/private-postgres.ts': 'logCharsMax',
  'server/telemetry/otel-environment.ts': 'durationMsMax',
  'server/telemetry/watched-export.ts': 'closeMsMax',
  'storage/lmdb/commit/recovery.ts': 'patienceMax',
  'storage/lmdb/file/environment.ts': 'readingsMax sealedBytesMax',
  'storage/lmdb/file/file-structure.ts': 'depthMax',
  'storage/lmdb/file/meta-pages.ts': 'unwrittenPagesMax',
  'storage/lmdb/journal/journal-damage.ts': 'numbersSkippedMax',
  'storage/lmdb/journal/journal-index.ts': 'partBytesMax',
  'storage/lmdb/journal/journal.ts': 'growthMax recordsMax',
  'storage/lmdb/lmdb-store.ts': 'commitMsMax gatheringTurnsMax probeRecordsMax',
  'storage/lmdb/records/loading.ts': 'straysMax',
  'storage/lmdb/records/record-mapper.ts': 'sweptKeysBusyMax',
  'storage/postgres/batch-commands.ts': 'tickOwnersMax',
  'storage/postgres/checkpoints.ts': 'ownersMax rowsMax sweptMax checkpointsMax rowBytesMax',
  'storage/postgres/journal-look.ts': 'ownersMax',
  'storage/postgres/lost-commits.ts': 'namedMax',
  'storage/postgres/nodes.ts': 'returningMsMax runningMsMax',
  'storage/postgres/postgres-writer.ts': 'failuresMax',
  'storage/postgres/replica.ts': 'createdPerBatchMax',
  'storage/postgres/statements.ts': 'duePartMax',
  'storage/records/bytes.ts': 'shortTextMax',
  'storage/running/due-timer.ts': 'timerMsMax',
};

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

  test('every bound of the server is here, or nobody meets it', () => {
    const shown = rows.flatMap(([what = '']) =>
      Array.from(what.matchAll(/`([\w/.-]+\.ts)` `(\w+)`/g), ([, file, name]) => `${file} ${name}`),
    );
    const left = Object.entries(inside).flatMap(([file, names]) =>
      names.split(' ').map((name) => `${file} ${name}`),
    );
    const bounds = boundsIn('packages/broker/src');
    assert.ok(bounds.length > 100, 'the form of the constants is known');
    assert.deepEqual(missing(bounds, [...shown, ...left]), []);
    assert.deepEqual(missing(left, bounds), []);
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

/** The constants of source files whose names say that they are bounds: file and name. */
function boundsIn(folder: string): string[] {
  const form = /^(?:export )?const (\w+Max)(?:: number)? = [\d_ *+-]+;$/gm;
  return (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts') && !/^(cli|console)\/|^core\/limits/.test(name))
    .flatMap((name) =>
      Array.from(
        readFileSync(`${folder}/${name}`, 'utf8').matchAll(form),
        ([, constant]) => `${name} ${constant}`,
      ),
    );
}

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
