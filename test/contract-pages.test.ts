// Runs the pages of the contract and the guide to the toolkit: all TypeScript blocks of a page, in order, as one program.
// A page that no longer matches the code fails here.
//
// What a block imports is provided, and so is what a reader would have: a server whose clock can be moved, an AWS client
// and a queue, a database, a folder, and the producer that the pages talk about.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { SNS } from '@aws-sdk/client-sns';
import { SQS } from '@aws-sdk/client-sqs';
import * as toolkit from '@oncemq/toolkit';
import * as api from '@opentelemetry/api';
import { transform } from '@swc/wasm-typescript';
import jsonld from 'jsonld';
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
];

for (const page of pages) {
  test(`the code shown in ${page} runs and its assertions hold`, async (t) => {
    const blocks = [...readFileSync(page, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)];
    assert.ok(blocks.length > 0);
    const source = blocks.map(([, code = '']) => code).join('\n');
    await run(t, page, source);
  });
}

async function run(t: TestContext, page: string, source: string): Promise<void> {
  const program = source.replace(/^import .*;$/gm, '').replace(/^export /gm, '');
  const names = await surroundings(t, /\bpool\b/.test(program));
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
  needsDatabase: boolean,
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
  const imported = { ...toolkit, ...files, api, assert, jsonld, SNS, SQS, startTestServer };
  return { ...imported, server, client, queueUrl, folder, landsatRefresh, pool };
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
