/**
 * Planted producers: bad ones that `oncemq verify` must find, each by the check for it, and good ones that it must pass.
 * The tables say what is expected of each. One run verifies all modules, and one all programs, because every run of
 * `verify` starts many processes.
 */

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../../../../', import.meta.url));
const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
const folder = join(root, 'packages/broker/test/cli/verify/planted');

/** Each finding as `check: code`; the last word, if there is one, is part of what the report blames. */
type Expected = readonly [found: string, blamed?: RegExp];

const unsteady = 'determinism: not-deterministic, replay-window: replay-not-suppressed';
const environment = 'environment: environment-dependent';
const everywhere = `${unsteady}, ${environment}`;
const keyChanges = `determinism: not-deterministic, replay-window: replay-not-suppressed, replay-window: inbox-missed, ${environment}`;
const ambiguous: Expected = ['escaping: key-ambiguous'];
const none: Expected = [''];

const modules: Readonly<Record<string, Readonly<Record<string, Expected>>>> = {
  'when.ts': {
    runDate: [keyChanges, /^A moved clock changed dedupe_key: "\d+-\d\d-\d\d o-1" → /],
    // A minute or an hour can also pass between two runs.
    runMinute: [everywhere, /^A(nother process|n? ?moved clock) .*changed payload\.at: \d+ → \d+/],
    runHour: [everywhere, /^A(nother process|n? ?moved clock) .*changed payload\.at: \d+ → \d+/],
    runMonth: [everywhere, /^A moved clock changed payload\.at/],
    runYear: [keyChanges, /^A moved clock changed dedupe_key/],
    runTime: [everywhere, /^Another process .* changed event_id: .*, event_time: /],
    dateCalled: [everywhere, /changed payload\.at/],
    loadTime: [environment, /^Another process .* changed payload\.loadedAt: \d+ → \d+ /],
    loadId: [environment, /^Another process .* changed dedupe_key/],
    loadDay: [environment, /^A moved clock changed dedupe_key/],
    intlNow: [environment, /^A moved clock changed payload\.at/],
    intlPartsNow: [environment, /^A moved clock changed payload\.at/],
    performanceNow: [everywhere, /^Another process .* changed payload\.at/],
    performanceDays: [environment, /^A moved clock changed payload\.at: 0 → 402/],
    monotonicDays: [environment, /^A moved clock changed payload\.at/],
    performanceOrigin: [environment, /^A moved clock changed payload\.at/],
    uptime: [everywhere, /^Another process/],
    randomNumber: [everywhere, /^Another process/],
    randomGroup: [`determinism: not-deterministic, ${environment}`, /changed the MessageGroupId/],
    counter: [unsteady],
    changingSamples: [environment, /^Another process .* changed the sample itself/],
  },
  'where.ts': {
    localTime: [environment, /^Another time zone changed payload\.value: .*-1200 .* → .*\+1400/],
    localDay: [environment, /^Another time zone changed dedupe_key: "o-1 3" → "o-1 5"/],
    offset: [environment, /^Another time zone changed payload\.value: 720 → -840/],
    zoneName: [environment, /^Another time zone/],
    zonedTime: [environment, /^Another time zone changed event_id: .*, event_time: /],
    localeNumber: [environment, /^Another locale changed payload\.value: "1,234.5" → "1.234,5"/],
    localeOrder: [environment, /^Another locale changed dedupe_key/],
    localeName: [environment, /^Another locale/],
    localeDate: [environment, /^Another locale/],
    host: [environment, /^Another host name changed dedupe_key/],
    hostAtLoad: [environment, /^Another host name changed the MessageGroupId/],
    home: [environment, /^Another home folder/],
    temporary: [environment, /^Another folder for temporary files/],
    workingDirectory: [environment, /^Another working directory/],
    processId: [environment, /^Another process \(its pid, /],
    runId: [environment, /^Other variables of the run/],
    user: [environment, /^Other variables of the run/],
    userName: [environment, /^Other variables of the run/],
    environmentOrder: [environment, /^Another order of the environment/],
    memberOrder: [
      `determinism: not-deterministic, ${environment}`,
      /^Another order of members changed dedupe_key/,
    ],
    namesInOrder: [
      `determinism: not-deterministic, ${environment}`,
      /^Another order of members changed payload\.value/,
    ],
  },
  'keys.ts': {
    dash: ambiguous,
    noSeparator: ambiguous,
    rareSeparator: ambiguous,
    longSeparator: ambiguous,
    arrow: ambiguous,
    tab: ambiguous,
    quoted: ambiguous,
    upperCase: ambiguous,
    nested: ambiguous,
    nestedAndTop: ambiguous,
    joinedList: ambiguous,
    twoLists: ambiguous,
    twoNumbers: ambiguous,
    numbersWithPoint: ambiguous,
    textAndNumber: ambiguous,
    textMinusNumber: ambiguous,
    numberAndText: ambiguous,
    undefinedPart: ['envelope: key-meaningless'],
    objectPart: ['envelope: key-meaningless'],
    invalidDate: ['envelope: key-meaningless'],
    sharedKey: ['hash-behavior: key-shared'],
    noSamples: ['envelope: samples-missing'],
    refused: ['envelope: time-invalid'],
    throwing: ['envelope: sample-failed'],
    tooLarge: ['size: body-too-large'],
    attributesDecide: ['attribute-ignorance: attributes-decide'],
    groupDecides: ['attribute-ignorance: attributes-decide'],
    randomIdSentTwice: ['hash-behavior: key-shared'],
    onePipeline: none,
    otherPipeline: ['hash-behavior: key-shared-by-producers'],
  },
  'good.ts': Object.fromEntries(
    [
      ...['plain', 'everyKind', 'jsonKey', 'hashedKey', 'limitedValues', 'fixedWidth', 'oneValue'],
      ...['keptId', 'fixedZone', 'sortedMembers', 'hostInAttribute', 'wordAsValue', 'dates'],
      ...['normalized', 'live', 'backfill'],
    ].map((name) => [name, none]),
  ),
  'scripts.mjs': {
    good: none,
    goodNumber: none,
    numericKey: ['envelope: key-invalid'],
    asyncKey: ['envelope: key-invalid'],
    missingMember: ['envelope: key-meaningless'],
    noPayload: ['envelope: body-not-envelope'],
    groupWithSpace: ['envelope: group-invalid'],
    keyInAttribute: ['envelope: value-only-in-attributes'],
  },
};

const replayed = 'replay-window: replay-not-suppressed';
const twice = `${replayed}, replay-window: replay-differs, ${environment}`;
const elsewhere = `${replayed}, ${environment}`;

/** Ways of programs.py, or of program.mjs where the name starts with "node"; with "topic" in it, they publish to a topic. */
const programs: Readonly<Record<string, Expected>> = {
  good: none,
  'good-replay': none,
  'good-attempt': none,
  'good-sources': none,
  'good-pipeline': none,
  'other-pipeline': ['hash-behavior: key-shared-by-producers'],
  'good-keyed': none,
  bound: ['envelope: schema-violated'],
  'good-input': none,
  'good-queues': none,
  'good-topic': none,
  'good-at-home': none,
  'home-and-run': [elsewhere, /^Other variables of the run changed dedupe_key/],
  'node-good': none,
  'node-utc-day': [elsewhere, /^A moved clock changed dedupe_key: "\d{4}-\d\d-\d\d" → /],
  // The time zones are never on the same day.
  today: [elsewhere, /^Another time zone changed dedupe_key/],
  time: [twice, /^Another process .* changed payload\.at/],
  uuid: [twice, /^Another process .* changed event_id/],
  'random-group': [
    `replay-window: replay-differs, ${environment}`,
    /^Another process .* changed the MessageGroupId/,
  ],
  'local-time': [elsewhere, /^Another time zone changed payload\.at: "12:00" → "14:00"/],
  hash: [elsewhere, /^Another hash seed changed dedupe_key/],
  'set-order': [elsewhere, /^Another hash seed changed payload\.tags\.0/],
  home: [elsewhere, /^Another home folder/],
  temporary: [elsewhere, /^Another folder for temporary files/],
  directory: [elsewhere, /^Another working directory/],
  'run-id': [elsewhere, /^Other variables of the run/],
  later: [elsewhere, /^Another process .* changed payload\.day: 1 → 2\. .*$/],
  pid: [twice, /^Another process \(its pid/],
  'member-order': [elsewhere, /^Another order of members changed dedupe_key/],
  none: ['envelope: key-meaningless'],
  object: ['envelope: key-meaningless'],
  'one-key': ['hash-behavior: key-shared'],
  attributes: ['attribute-ignorance: attributes-decide'],
  groups: ['attribute-ignorance: attributes-decide'],
  'one-id': ['hash-behavior: events-collapsed, replay-window: replay-differs'],
  'other-id': ['envelope: deduplication-id-contradicts'],
  'second-queue': [twice, /^Another process .* changed payload\.at/],
  topic: [twice, /^Another process .* changed payload\.at/],
  'good-pairs': none,
  'good-pairs-dated': none,
  'node-good-pairs': none,
  'pairs-dash': ambiguous,
  'pairs-joined': ambiguous,
  'pairs-hashed': ambiguous,
  'pairs-number': ambiguous,
  'node-pairs-slash': ambiguous,
  nothing: ['envelope: nothing-sent'],
};

/** Two queues have rules of their own in the contract file. */
function queueOf(way: string): string {
  return /keyed|bound/.test(way) ? `${way.replace('good-', '')}.fifo` : 'planted.fifo';
}

interface Reported {
  readonly subject: string;
  readonly file?: string;
  readonly notes?: readonly string[];
  readonly checks: readonly {
    readonly check: string;
    readonly findings: readonly { readonly code: string; readonly text: string }[];
  }[];
}

function verify(cwd: string, words: readonly string[]): Promise<Reported[]> {
  return new Promise((resolve, reject) => {
    const args = [main, 'verify', ...words, '--format', 'json'];
    execFile(process.execPath, args, { cwd, maxBuffer: 2 ** 26 }, (_, out, error) => {
      try {
        resolve((JSON.parse(out) as { subjects: Reported[] }).subjects);
      } catch {
        reject(new Error(error));
      }
    });
  });
}

function foundIn({ checks }: Reported): string {
  const found = checks.flatMap(({ check, findings }) =>
    findings.map(({ code }) => `${check}: ${code}`),
  );
  return [...new Set(found)].join(', ');
}

function blamedIn({ checks }: Reported): string {
  const texts = checks
    .filter(({ check }) => check === 'environment')
    .flatMap(({ findings }) => findings.map(({ text }) => text));
  return texts.join('\n');
}

function assertExpected(reported: Reported | undefined, [found, blamed]: Expected): void {
  assert.ok(reported !== undefined);
  assert.equal(foundIn(reported), found, JSON.stringify(reported.checks, undefined, 1));
  if (blamed !== undefined) assert.match(blamedIn(reported), blamed);
}

describe('planted modules', () => {
  const all = verify(
    root,
    Object.keys(modules).map((file) => join(folder, file)),
  );
  for (const [file, producers] of Object.entries(modules)) {
    for (const [name, expected] of Object.entries(producers)) {
      test(`${file}: ${name} ${expected[0] === '' ? 'passes' : `has ${expected[0]}`}`, async () => {
        const reported = (await all).find(
          (each) => each.file === join(folder, file) && each.subject.startsWith(`${name} (`),
        );
        assertExpected(reported, expected);
      });
    }
  }

  test('the tables list every producer of the files', async () => {
    const listed = Object.values(modules).flatMap((producers) => Object.keys(producers));
    assert.equal((await all).length, listed.length);
  });
});

const hasPython = spawnSync('python3', ['--version']).status === 0;
const skip = hasPython ? false : 'python3 is not installed';

/** The programs are registered in a contract file, as users do it, and verified by `oncemq verify` without arguments. */
describe('planted programs', { skip }, () => {
  const place = mkdtempSync(join(tmpdir(), 'oncemq-planted-'));
  writeFileSync(join(place, 'rows.jsonl'), '{"id":"a","n":1.0}\n{"id":"b","n":2}\n');
  writeFileSync(join(place, 'runs.txt'), '');
  writeFileSync(
    join(place, 'pairs.jsonl'),
    ['o1', 'o2']
      .map((id) => ({ id, shop: 'north', n: 1, day: '2025-12-04', tags: ['gift', 'blue'] }))
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(''),
  );
  const producers = [...Object.keys(programs), 'host', 'utc-year'].map((way) => ({
    name: way,
    command: way.startsWith('node')
      ? `"${process.execPath}" "${join(folder, 'program.mjs')}" ${way}`
      : `python3 "${join(folder, 'programs.py')}" ${way}`,
    ...(way.includes('topic') ? { topic: 'planted.fifo' } : { queue: queueOf(way) }),
    ...(/input|member/.test(way) ? { input: 'rows.jsonl' } : {}),
    ...(way.includes('pairs') ? { input: 'pairs.jsonl' } : {}),
    paths: ['programs.py'],
  }));
  const queues = [
    { queue: 'keyed.fifo', contract: 'keyed' },
    { queue: 'bound.fifo', schema: { required: ['order'] } },
  ];
  writeFileSync(join(place, 'oncemq.contract.json'), JSON.stringify({ queues, producers }));
  const all = verify(place, []).finally(() => rmSync(place, { recursive: true }));
  for (const [way, expected] of Object.entries(programs)) {
    test(`${way} ${expected[0] === '' ? 'passes' : `has ${expected[0]}`}`, async () => {
      assertExpected(
        (await all).find(({ subject }) => subject === way),
        expected,
      );
    });
  }

  test('a program that fails in the other environment runs there without what it need not survive', async () => {
    const { notes } = (await all).find(({ subject }) => subject === 'good-at-home') as Reported;
    assert.ok(notes?.includes('Not varied, because the program then fails: another home folder.'));
  });

  const maybe: readonly (readonly [string, string, RegExp])[] = [
    ['host', 'The host name', /^Another host name changed dedupe_key/],
    ['utc-year', 'The clock', /^A moved clock changed payload\.year/],
  ];
  for (const [way, noted, blamed] of maybe) {
    test(`${way} is found, or the report says what could not be changed`, async () => {
      const reported = (await all).find(({ subject }) => subject === way) as Reported;
      const isTold = reported.notes?.some((note) => note.startsWith(noted));
      if (isTold) assert.equal(foundIn(reported), '');
      else assertExpected(reported, [elsewhere, blamed]);
    });
  }
});

test('at least 40 bad and 15 good producers are planted', () => {
  const every = [...Object.values(modules), programs].flatMap((table) => Object.values(table));
  const good = every.filter(([found]) => found === '').length;
  assert.ok(good >= 15 && every.length - good >= 40, `${good} good of ${every.length}`);
});
