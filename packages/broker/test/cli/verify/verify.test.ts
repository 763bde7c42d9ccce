/**
 * `oncemq verify` as its users run it: a process with arguments and flags, an exit code, and a report in one of six
 * formats. What the checks themselves find is tested in the toolkit.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findingTexts } from '@oncemq/toolkit';
import { reportForms, type Verified } from '../../../src/cli/verify/report.ts';

const root = fileURLToPath(new URL('../../../../../../', import.meta.url));
const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
const compiled = relative(root, fileURLToPath(new URL('.', import.meta.url)));
const sources = compiled.replace(/dist\/(?=test)/, '');
const sender = `"${process.execPath}" ${compiled}/sender.js`;

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

async function verify(...args: string[]): Promise<Ran> {
  const child = spawn(process.execPath, [main, 'verify', ...args], { cwd: root });
  let [out, error] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    error += String(chunk);
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, error };
}

describe('producer modules', { concurrency: true }, () => {
  for (const [what, file] of [
    ['TypeScript', `${sources}/landsat.producer.ts`],
    ['JavaScript', `${compiled}/landsat.producer.js`],
  ] as const) {
    test(`a good one in ${what} passes all checks and ends with 0`, async () => {
      const { code, out, error } = await verify(file);
      assert.equal(code, 0, out + error);
      assert.equal(out.match(/ passed /g)?.length, 8);
      assert.match(out, /landsatRefresh \(kfm\.remote-sensing\.landsat-refresh\) +replay-window/);
    });
  }

  test('a bad one ends with 1 and its findings, each with the file', async () => {
    const file = `${sources}/unsafe-prices.ts`;
    const { code, out } = await verify(file);
    assert.equal(code, 1);
    assert.ok(out.includes(`\nprices (kfm.parts.prices) in ${file}, determinism: `), out);
    assert.match(out, /determinism: not-deterministic\n.* differ in payload/);
    assert.match(out, /escaping: key-ambiguous\n.* differ in part and shop/);
    assert.match(out, /replay-window: replay-not-suppressed\n.* it differs in payload\./);
  });

  test('folders, patterns and no argument at all find every module of this repository, and all pass', async () => {
    const every = [
      'examples/08-landsat-refresh/landsat.producer.ts',
      `${sources}/landsat.producer.ts`,
    ];
    for (const words of [
      [],
      ['examples', 'packages'],
      ['**/*.producer.{ts,js}'],
      ['examples/*/*.ts', `packages/**/verify/*.ts`],
    ]) {
      const { code, out, error } = await verify(...words, '--format', 'json');
      assert.equal(code, 0, out + error);
      const { subjects } = JSON.parse(out) as { subjects: { file: string }[] };
      const files = subjects.map(({ file }) => file);
      assert.deepEqual(files, every);
    }
  });

  test('enums, default exports and imports without an extension are loaded', async (t) => {
    // Below our own node_modules, so that the toolkit is found.
    const folder = mkdtempSync(join(root, compiled, 'loaded-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const write = (name: string, ...lines: string[]): void =>
      writeFileSync(join(folder, name), lines.join('\n'));
    const definition = `{
      source: 'kfm.a.b', dedupeKey: keyOf, eventTime: () => 0, samples: [{ id: 'a' }, { id: 'b' }],
    }`;
    write(
      'old.producer.mjs',
      "import { defineProducer } from '@oncemq/toolkit';",
      'const keyOf = ({ id }) => id;',
      `export default { old: defineProducer(${definition}) };`,
    );
    write(
      'keys.ts',
      'export interface Id { id: string }',
      "export enum Kind { A = 'a' }",
      'export const keyOf = ({ id }: Id): string => Kind.A + id;',
    );
    write(
      'new.producer.ts',
      "import { defineProducer } from '@oncemq/toolkit';",
      "import { Id, keyOf } from './keys';",
      `export default defineProducer<Id>(${definition});`,
    );
    const { code, out, error } = await verify(relative(root, folder));
    assert.equal(code, 0, out + error);
    assert.match(out, /default \(kfm\.a\.b\)/);
    assert.match(out, /old \(kfm\.a\.b\)/);
  });

  test('a module that cannot be loaded or has no producer is a finding, and the others are verified', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'oncemq-verify-'));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'broken.producer.js'), 'export const = 1;');
    writeFileSync(join(folder, 'empty.producer.mjs'), 'setInterval(() => {}, 1000);');
    const { code, out } = await verify(folder, `${sources}/landsat.producer.ts`);
    assert.equal(code, 1);
    assert.match(out, /broken\.producer\.js, module: module-broken/);
    assert.match(out, /empty\.producer\.mjs, module: producer-missing/);
    assert.match(out, /replay-window +passed/);
  });
});

test('the output of a module is not part of the report', async (t) => {
  const folder = mkdtempSync(join(root, compiled, 'loud-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, 'loud.producer.mjs'),
    "console.log('loaded'); export * from '../landsat.producer.js';",
  );
  const { out, error } = await verify(relative(root, folder), '--format', 'json');
  assert.equal((JSON.parse(out) as { ok: boolean }).ok, true);
  assert.match(error, /^loaded$/m);
});

test('a pattern may be absolute, and an argument that matches nothing is named', async (t) => {
  const { code, out, error } = await verify(`${join(root, sources)}/landsat*.ts`);
  assert.equal(code, 0, out + error);
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-verify-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const word of [folder, `${folder}/*.producer.ts`]) {
    const found = await verify(`${sources}/landsat.producer.ts`, word);
    assert.equal(found.code, 2);
    assert.ok(found.error.includes(`in ${word}.`), found.error);
  }
});

describe('a verify that is terminated also ends what it runs', { concurrency: true }, () => {
  const body = `
    require('node:fs').writeFileSync(process.env.PID_FILE, String(process.pid));
    for (;;);`;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    for (const kind of ['a module', 'a program']) {
      test(`${kind}, by ${signal}`, { timeout: 120_000 }, async (t) => {
        const folder = mkdtempSync(join(tmpdir(), 'oncemq-verify-'));
        t.after(() => rmSync(folder, { recursive: true }));
        const file = join(folder, 'endless.producer.cjs');
        writeFileSync(file, body);
        const exec = ['--exec', `"${process.execPath}" "${file}"`, '--queue', 'orders.fifo'];
        const words = kind === 'a module' ? [file] : exec;
        const pidFile = join(folder, 'pid');
        const child = spawn(process.execPath, [main, 'verify', ...words], {
          env: { ...process.env, PID_FILE: pidFile },
          stdio: 'ignore',
        });
        t.after(() => child.kill('SIGKILL'));
        const exited = once(child, 'exit');
        while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '') {
          await new Promise((resolve) => setImmediate(resolve));
        }
        child.kill(signal);
        await exited;
        const pid = Number(readFileSync(pidFile, 'utf8'));
        t.after(() => isRunning(pid) && process.kill(pid, 'SIGKILL'));
        // A killed process takes a moment to disappear; if it was not killed, this loops until the test times out.
        while (isRunning(pid)) await new Promise((resolve) => setImmediate(resolve));
      });
    }
  }
});

/** A zombie process does not count as running. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, 'utf8'));
  } catch {
    return false;
  }
}

describe('producer modules that do not finish', { concurrency: true }, () => {
  const definition = (dedupeKey: string): string => `
    import { defineProducer } from '@oncemq/toolkit';
    export const stuck = defineProducer({
      source: 'kfm.a.b', dedupeKey: ${dedupeKey}, eventTime: () => 0,
      samples: [{ id: 'a' }, { id: 'b' }],
    });`;
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['loops while it is loaded', 'for (;;);', /did not end within 6 s/],
    [
      'waits for a timer that is too long',
      'await new Promise((done) => setTimeout(done, 1e6));',
      /within 6 s/,
    ],
    [
      'waits for another program',
      'import { execFileSync } from "node:child_process"; execFileSync("sleep", ["600"]);',
      /within 6 s/,
    ],
    [
      'waits for nothing',
      'await new Promise(() => {});',
      /ended its process before it could be verified/,
    ],
    ['loops in its key', definition('() => { for (;;); }'), /did not end within 6 s/],
    ['ends the process', 'process.exit(0);', /ended its process before it could be verified/],
    [
      'throws later',
      'setTimeout(() => { throw new Error("too late"); }); await new Promise((done) => setTimeout(done, 1e6));',
      /failed: too late/,
    ],
  ];
  for (const [what, text, told] of cases) {
    test(`one that ${what} ends with 2 and its name`, async (t) => {
      const folder = mkdtempSync(join(root, compiled, 'stuck-'));
      t.after(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, 'good.producer.mjs'), definition('({ id }) => id'));
      writeFileSync(join(folder, 'stuck.producer.mjs'), text);
      const { code, error } = await verify(relative(root, folder), '--timeout', '6');
      assert.equal(code, 2, error);
      assert.match(error, /^oncemq: .*stuck\.producer\.mjs /);
      assert.match(error, told);
    });
  }
});

test('producers of the same name are distinguished by their files', async (t) => {
  const folder = mkdtempSync(join(root, compiled, 'names-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const text = readFileSync(join(root, compiled, 'landsat.producer.js'), 'utf8');
  for (const name of ['one', 'two']) {
    writeFileSync(join(folder, `${name}.producer.mjs`), text.replaceAll("'./", "'../"));
  }
  const { code, out, error } = await verify(relative(root, folder));
  assert.equal(code, 0, out + error);
  assert.match(out, /landsat-refresh\) in .*one\.producer\.mjs +envelope/);
  assert.match(out, /landsat-refresh\) in .*two\.producer\.mjs +envelope/);
});

describe('a program in any language', { concurrency: true }, () => {
  const cases: readonly (readonly [string, string[], string])[] = [
    [
      'with-new-ids',
      ['replay-not-suppressed', 'replay-differs', 'environment-dependent'],
      'differs in event_id',
    ],
    ['with-bare-bodies', ['body-not-envelope'], '{"order":1}'],
    ['with-ids-and-new-bodies', ['replay-differs', 'environment-dependent'], 'another body'],
  ];
  for (const [way, expected, detail] of cases) {
    test(`that sends ${way} ends with 1 and ${expected.join(' and ')}`, async () => {
      const command = `${sender} ${way}`;
      const { code, out } = await verify(
        '--exec',
        command,
        '--queue',
        'orders.fifo',
        '--format',
        'json',
      );
      assert.equal(code, 1, out);
      const { subjects } = JSON.parse(out) as {
        subjects: { checks: { findings: { code: string; text: string; message?: string }[] }[] }[];
      };
      const findings = subjects.flatMap(({ checks }) => checks.flatMap((check) => check.findings));
      assert.deepEqual([...new Set(findings.map((each) => each.code))], expected);
      assert.ok(
        findings.some(({ text, message = '' }) => `${text} ${message}`.includes(detail)),
        out,
      );
    });
  }

  for (const way of ['well', 'with-attempts', 'and-receives']) {
    test(`that sends ${way} ends with 0`, async () => {
      const { code, out, error } = await verify('--exec', `${sender} ${way}`, '--queue', 'a.fifo');
      assert.equal(code, 0, out + error);
    });
  }

  test('reads the same input each time', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'oncemq-verify-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const input = join(folder, 'orders.txt');
    writeFileSync(input, 'a\nb\n');
    const flags = ['--exec', `${sender} of-its-input`, '--queue', 'orders.fifo', '--input', input];
    const { code, out, error } = await verify(...flags);
    assert.equal(code, 0, out + error);
  });

  test('that fails ends with 2 and its error output', async () => {
    const { code, error } = await verify('--exec', `${sender} fail`, '--queue', 'orders.fifo');
    assert.equal(code, 2);
    assert.match(error, /ended with exit code 3\.\nthe disk is full/);
  });

  test('that does not end is killed', async () => {
    const flags = ['--queue', 'orders.fifo', '--timeout', '1'];
    const { code, error } = await verify('--exec', `${sender} hang`, ...flags);
    assert.equal(code, 2);
    assert.match(error, /It did not end within 1 s \(--timeout\) and was killed/);
  });
});

test('wrong usage ends with 2 and says what is wrong', async () => {
  const wrong: readonly (readonly [string[], RegExp])[] = [
    [['--exec', 'true'], /--exec needs --queue/],
    [['--exec', 'true', '--queue', 'orders'], /must be the name of a FIFO queue .*, not orders\./],
    [['--exec', 'true', '--queue', 'a.fifo', '--input', 'nowhere'], /no file nowhere/],
    [['--exec', 'true', '--queue', 'a.fifo', 'word'], /no files can be given: word/],
    [['--namespace', 'acme'], /--namespace can only be used with --exec/],
    [['--harmless', 'acme'], /--harmless can only be used with --exec/],
    [['--contract', 'nowhere.json'], /The contract file .*nowhere\.json cannot be read/],
    [['--queue', 'a.fifo', sources], /--queue can only be used with --exec/],
    [
      ['--format', 'yaml'],
      /must be one of table, tap, junit, json, github, gitlab, sarif, not yaml/,
    ],
    [['--fromat', 'tap'], /no flag --fromat/],
    [['nowhere.producer.ts'], /no file or folder nowhere/],
    [['docs'], /No producers found/],
  ];
  for (const [args, text] of wrong) {
    const { code, error } = await verify(...args);
    assert.equal(code, 2, args.join(' '));
    assert.match(error, text);
  }
});

describe('the report', { concurrency: true }, () => {
  const both = [`${sources}/landsat.producer.ts`, `${sources}/unsafe-prices.ts`];
  // One run for all formats.
  const run = verify(...both, '--format', 'json');
  const as = async (form: string): Promise<string> => {
    const { subjects } = JSON.parse((await run).out) as { subjects: Verified[] };
    return reportForms.get(form)?.(subjects) ?? '';
  };

  test('as TAP has a line per check', async () => {
    const out = await as('tap');
    assert.match(out, /^TAP version 14\n1\.\.16\nok 1 - landsatRefresh/);
    assert.equal(out.match(/^not ok /gm)?.length, 4);
    assert.match(out, / {2}---\n {2}findings:\n {4}- \{"code":"not-deterministic"/);
  });

  test('of a large message shows the beginning in text, and all of it in JSON', async () => {
    const words = ['--exec', `${sender} with-large-bodies`, '--queue', 'orders.fifo'];
    const { out } = await verify(...words);
    assert.match(out, /message: \{"order":"x+…\n/);
    assert.ok(out.length < 5_000);
    const asJson = await verify(...words, '--format', 'json');
    assert.match(asJson.out, /x{100000}/);
  });

  test('as JUnit XML has a failure per finding, fully escaped', async () => {
    const out = await as('junit');
    assert.match(out, /<testsuite name="prices [^>]*tests="8" failures="4"/);
    assert.match(
      out,
      /<failure type="key-ambiguous" message="Two events that differ in part and shop have the same key, &quot;/,
    );
    assert.equal(out.match(/<testcase /g)?.length, 16);
  });

  test('for GitHub annotates the file', async () => {
    const out = await as('github');
    const place = `file=${sources}/unsafe-prices.ts,title=prices (kfm.parts.prices)%3A escaping`;
    assert.ok(out.includes(`::error ${place}::Two events`), out);
  });

  test('goes to a file, and a table to standard output', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'oncemq-verify-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const output = join(folder, 'report.xml');
    const { out } = await verify(both[0] as string, '--format', 'junit', '--output', output);
    assert.match(out, /^subject /);
    assert.match(readFileSync(output, 'utf8'), /^<\?xml/);
  });
});

test('each finding has its row in the guide', () => {
  const page = readFileSync(join(root, 'docs/guide/verify.md'), 'utf8');
  for (const code of Object.keys(findingTexts))
    assert.match(page, new RegExp(`^### ${code}$`, 'm'));
});

describe('the contract file', { concurrency: true }, () => {
  const file = (content: object): string => {
    const folder = mkdtempSync(join(tmpdir(), 'oncemq-verify-'));
    const path = join(folder, 'oncemq.contract.json');
    writeFileSync(path, JSON.stringify(content));
    return path;
  };

  test('holds for modules, unless they have options of their own', async () => {
    const module = `${sources}/landsat.producer.ts`;
    const other = await verify(module, '--contract', file({ namespace: 'shop' }));
    assert.equal(other.code, 1, other.error);
    assert.match(other.out, /envelope: source-invalid/);
    const same = await verify(module, '--contract', file({ namespace: 'kfm' }));
    assert.equal(same.code, 0, same.out + same.error);
  });

  test('holds for programs, and flags add to it', async () => {
    const way = [...['--exec', `${sender} with-attributes`], ...['--queue', 'a.fifo']];
    const codes = async (...flags: string[]): Promise<boolean> =>
      (await verify(...way, ...flags)).out.includes('value-only-in-attributes');
    assert.equal(await codes(), false);
    assert.equal(await codes('--critical', 'warehouse', '--critical', 'shop'), true);
    assert.equal(await codes('--contract', file({ critical: ['shop'] })), true);
    const contract = ['--contract', file({ critical: ['shop'], namespace: 'other' })];
    const { out } = await verify(...way, ...contract);
    assert.match(out, /source-invalid/);
    assert.equal(await codes(...contract, '--namespace', 'kfm', '--harmless', 'the_shop'), true);
  });

  test('is found in the folder where the command runs, and its mistakes are errors of usage', async () => {
    const path = file({ namspace: 'shop' });
    const child = spawn(process.execPath, [main, 'verify', '--exec', 'true', '--queue', 'a.fifo'], {
      cwd: join(path, '..'),
    });
    let error = '';
    child.stderr.on('data', (chunk) => {
      error += String(chunk);
    });
    const [code] = (await once(child, 'close')) as [number];
    assert.equal(code, 2);
    assert.match(error, /no setting namspace\. Did you mean namespace\?/);
  });
});
