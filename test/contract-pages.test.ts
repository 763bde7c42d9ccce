// Runs the pages of the contract and the guide to the toolkit: all TypeScript blocks of a page, in order, as one program.
// A page that no longer matches the code fails here.
//
// What a block imports is provided, and so is what a reader would have: a server whose clock can be moved, an AWS client
// and a queue, databases, a folder, and the producer that the pages talk about. With the same names, the compiler checks
// the types of all pages, as strictly as in a program into which the code is pasted.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SNS } from '@aws-sdk/client-sns';
import { SQS } from '@aws-sdk/client-sqs';
import * as toolkit from '@oncemq/toolkit';
import { inboxChecks } from '@oncemq/toolkit/testing';
import * as api from '@opentelemetry/api';
import { transform } from '@swc/wasm-typescript';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Redis } from 'ioredis';
import jsonld from 'jsonld';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import sqlite from 'node-sqlite3-wasm';
import { startTestServer } from 'oncemq/testing';
import pg from 'pg';

process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';

const pages = [
  'docs/contracts/producer-requirements.md',
  'docs/contracts/body-deduplication-contract.md',
  'docs/contracts/attribute-safety-notes.md',
  'docs/contracts/contract-file.md',
  'docs/tests/hash-behavior-test.md',
  'docs/tests/duplicate-window-test.md',
  'docs/telemetry/dedup-metrics.md',
  'docs/telemetry/message-provenance-events.md',
  'docs/guide/toolkit.md',
  'docs/guide/consumer.md',
  'docs/guide/relay.md',
  'docs/guide/stores.md',
];

for (const page of pages) {
  test(`the code shown in ${page} runs and its assertions hold`, async (t) => {
    await run(t, page, sourceOf(page));
  });
}

/** What a reader has, as declarations for the compiler. */
const declared: Readonly<Record<string, string>> = {
  assert: "import assert from 'node:assert/strict';",
  jsonld: "import jsonld from 'jsonld';",
  readdirSync: "import { readdirSync } from 'node:fs';",
  readFileSync: "import { readFileSync } from 'node:fs';",
  writeFileSync: "import { writeFileSync } from 'node:fs';",
  startTestServer: "import { startTestServer } from 'oncemq/testing';",
  SQS: "import { SQS } from '@aws-sdk/client-sqs';",
  client: "declare const client: import('@aws-sdk/client-sqs').SQS;",
  db: 'declare const db: { prepare(text: string): { all(...values: (string | number | null)[]): unknown[] } };',
  folder: 'declare const folder: string;',
  landsatRefresh:
    "declare const landsatRefresh: import('@oncemq/toolkit').Producer<{ tile: string; day: string }>;",
  pool: "declare const pool: import('pg').Pool;",
  queueUrl: 'declare const queueUrl: string;',
  server: "declare const server: import('oncemq/testing').TestServer;",
};

test('the code shown on all pages type-checks in strict mode', () => {
  const place = resolve('.build/pages-typed');
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const options = {
    extends: '../../tsconfig.base.json',
    compilerOptions: {
      ...{ composite: false, incremental: false, declaration: false, isolatedDeclarations: false },
      ...{ noEmit: true, noUnusedLocals: false },
    },
  };
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify(options));
  for (const page of pages) {
    const source = sourceOf(page);
    const isTaken = (name: string): boolean =>
      new RegExp(`(const|let|class|function) ${name}\\b|import [^;]*\\b${name}\\b[^;]* from`).test(
        source,
      );
    const isUsed = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(source);
    const names = Object.keys(toolkit).filter((name) => isUsed(name) && !isTaken(name));
    const prelude = [
      names.length === 0 ? '' : `import { ${names.join(', ')} } from '@oncemq/toolkit';`,
      ...Object.entries(declared)
        .filter(([name]) => isUsed(name) && !isTaken(name))
        .map(([, text]) => text),
    ];
    writeFileSync(
      join(place, `${page.replaceAll(/\W/g, '-')}.ts`),
      `${prelude.join('\n')}\n${source}\nexport {};\n`,
    );
  }
  const tsc = resolve('node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', place, '--pretty', 'false'], {
    encoding: 'utf8',
  });
  assert.equal(stdout, '');
});

function sourceOf(page: string): string {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)];
  assert.ok(blocks.length > 0);
  return blocks.map(([, code = '']) => code).join('\n');
}

async function run(t: TestContext, page: string, source: string): Promise<void> {
  const program = source.replace(/^import .*;$/gm, '').replace(/^export /gm, '');
  const names = await surroundings(t, {
    needsDatabase: /\bpool\b/.test(program),
    needsSqlite: /\bdb\b/.test(program),
  });
  // A name that the page declares itself is not provided.
  const given = Object.keys(names).filter(
    (name) => !new RegExp(`\\bconst ${name}\\b`).test(program),
  );
  const { code } = await transform(program, { mode: 'strip-only', module: true });
  mkdirSync('.build/pages', { recursive: true });
  const file = resolve('.build/pages', `${page.replaceAll(/\W/g, '-')}.mjs`);
  writeFileSync(file, `export const run = async ({ ${given.join(', ')} }) => {\n${code}\n};\n`);
  const module = (await import(pathToFileURL(file).href)) as { run(names: object): Promise<void> };
  await module.run(names);
}

async function surroundings(
  t: TestContext,
  { needsDatabase, needsSqlite }: Readonly<Record<'needsDatabase' | 'needsSqlite', boolean>>,
): Promise<Record<string, unknown>> {
  const server = await startTestServer();
  const client = new SQS(server.clientConfig);
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-pages-'));
  t.after(async () => {
    client.destroy();
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const { QueueUrl: queueUrl } = await client.createQueue({
    QueueName: 'scenes.fifo',
    Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  });
  const landsatRefresh = toolkit.defineProducer<{ tile: string; day: string }>({
    source: 'kfm.remote-sensing.landsat-refresh',
    dedupeKey: ({ tile, day }) => toolkit.key('landsat', tile, day),
    eventTime: ({ day }) => `${day}T00:00:00Z`,
    samples: [
      { tile: 'p32r29', day: '2025-12-04' },
      { tile: 'p32r30', day: '2025-12-04' },
    ],
  });
  const pool = needsDatabase ? await database(t) : undefined;
  const files = { readdirSync, readFileSync, writeFileSync };
  const libraries = {
    ...{ DynamoDBClient, Redis, CompiledQuery, Kysely, PostgresDialect, sql, drizzle, inboxChecks },
    ...{ api, assert, jsonld, SNS, SQS, startTestServer },
  };
  const db = needsSqlite ? sqliteIn(t, folder) : undefined;
  const run = t.test.bind(t);
  const here = { server, client, queueUrl, folder, landsatRefresh, pool, db, test: run };
  return { ...toolkit, ...files, ...libraries, ...here };
}

/** The part of node:sqlite that the page uses; Node 20 does not have it. */
function sqliteIn(t: TestContext, folder: string) {
  const database = new sqlite.Database(join(folder, 'inbox.sqlite'));
  t.after(() => database.close());
  return {
    prepare: (text: string) => ({
      all: (...values: (string | number | null)[]) => database.all(text, values),
    }),
  };
}

async function database(t: TestContext): Promise<pg.Pool> {
  const child = spawn(process.execPath, ['.build/scripts/postgres.js'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const pool = new pg.Pool({ connectionString: String(line).replace('postgres ready ', '') });
  t.after(async () => {
    await pool.end();
    child.stdin.end();
    await exited;
  });
  await pool.query('create table scenes (tile text)');
  return pool;
}
