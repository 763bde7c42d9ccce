/**
 * `oncemq relay`, `outbox` and `replay` as processes, on every store that a producer may keep its outbox in, with real servers.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQS } from '@aws-sdk/client-sqs';
import {
  defineProducer,
  dynamodbOutbox,
  openFileOutbox,
  type ProducerMessage,
  postgresOutbox,
  redisOutbox,
  sqliteOutbox,
} from '@oncemq/toolkit';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startTestServer } from '../../src/testing.ts';
import { startPostgres } from '../support/postgres.ts';
import { startStore } from '../support/stores.ts';

const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const keys = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: 'us-east-1',
};

async function oncemq(
  variables: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<{ code: number; said: string }> {
  const { DATABASE_URL: _, ...rest } = process.env;
  const env = {
    ...rest,
    ...keys,
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    NODE_NO_WARNINGS: '1',
    ...variables,
  };
  const child = spawn(process.execPath, [main, ...args], { env });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += String(chunk);
    });
  }
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
}

interface Kept {
  /** What tells the commands where the outbox is. */
  readonly flags: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  append(message: ProducerMessage): Promise<number>;
}

/** What becomes of a message that the queue refuses and of one that it accepts. */
async function relays(t: TestContext, { flags, variables = {}, append }: Kept): Promise<void> {
  const server = await startTestServer({ clock: 'manual' });
  const client = new SQS(server.clientConfig);
  t.after(async () => {
    client.destroy();
    await server.close();
  });
  const { QueueUrl: queueUrl = '' } = await client.createQueue({
    QueueName: 'days.fifo',
    Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  });
  const producer = defineProducer<{ day: string }>({
    source: 'kfm.calendar.days',
    dedupeKey: ({ day }) => day,
    eventTime: ({ day }) => `${day}T12:00:00Z`,
  });
  const [bad, good] = ['2025-12-01', '2025-12-02'].map((day) => producer.message({ day })) as [
    ProducerMessage,
    ProducerMessage,
  ];
  const ids = [await append({ ...bad, attributes: { region: '\u0001' } }), await append(good)];
  const run = (...args: string[]) => oncemq(variables, ...args, ...flags);
  const relay = ['relay', '--queue', queueUrl, '--once'];

  assert.match((await run(...relay)).said, /^1 sent, 1 set aside\.\n/);
  const id = String(ids[0]);
  const list = await run('outbox', 'list');
  assert.match(list.said, new RegExp(`^${id}  \\d{4}-.*Z  \\S+  InvalidParameterValue: `));
  assert.match((await run('outbox', 'retry', id)).said, /^The relay will send them again\.\n$/);
  // A relay that has ended leaves no lease behind: the next one begins at once.
  assert.match((await run(...relay)).said, /^0 sent, 1 set aside\.\n/);
  assert.match((await run('outbox', 'skip', id)).said, /^They will not be sent\.\n$/);
  assert.match((await run('outbox', 'list')).said, /^No message is set aside\.\n/);
  const range = ['--from', '2025-12-02', '--to', '2025-12-03'];
  const replayed = await run('replay', '--queue', queueUrl, ...range);
  assert.match(replayed.said, /^1 message sent, /);
  const types = server.events.map(({ type }) => type);
  assert.deepEqual(
    types.filter((type) => ['sent', 'duplicate'].includes(type)),
    ['sent', 'duplicate'],
  );
}

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-relay-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a relay sends from a folder', async (t) => {
  const folder = newFolder(t);
  const append = async (message: ProducerMessage): Promise<number> => {
    const outbox = await openFileOutbox(folder);
    const id = await outbox.append(message);
    await outbox.close();
    return id;
  };
  await relays(t, { flags: ['--outbox', folder], append });
});

test('a relay sends from PostgreSQL', async (t) => {
  const { url } = await startPostgres();
  const pool = new pg.Pool({ connectionString: url });
  t.after(() => pool.end());
  const outbox = postgresOutbox({ pool, table: 'kept' });
  await outbox.migrate();
  await relays(t, {
    flags: ['--outbox', url, '--table', 'kept'],
    append: (message) => outbox.append(pool, message),
  });
  const list = ['outbox', 'list', '--table', 'kept'];
  assert.equal((await oncemq({}, ...list, '--database', url)).said, 'No message is set aside.\n');
  const named = await oncemq({ DATABASE_URL: url }, ...list);
  assert.equal(named.said, 'No message is set aside.\n');
});

test('a relay sends from SQLite, where Node.js has it', async (t) => {
  const file = join(newFolder(t), 'shop.db');
  const flags = ['--outbox', `sqlite:${file}`, '--table', 'kept'];
  const missing = await oncemq({}, 'outbox', 'list', ...flags);
  assert.equal(missing.said, `oncemq: There is no database in ${file}.\n`);
  if (!isBuiltin('node:sqlite')) {
    const { code, said } = await oncemq({}, 'outbox', 'list', '--outbox', `sqlite:${main}`);
    assert.equal(code, 1);
    assert.match(said, /An outbox in SQLite needs Node\.js 22\.13 or newer; this is v/);
    return;
  }
  const { DatabaseSync } = await import('node:sqlite' as string);
  const database = new DatabaseSync(file);
  t.after(() => database.close());
  const run = (text: string, values: readonly unknown[]) => database.prepare(text).all(...values);
  const outbox = sqliteOutbox({ run, table: 'kept' });
  await outbox.migrate();
  await relays(t, { flags, append: (message) => outbox.append(run, message) });
});

test('a relay sends from Redis', async (t) => {
  const redisServer = await startStore('redis');
  if (redisServer === undefined) return t.skip('redis is missing');
  const url = `redis://${redisServer.address}`;
  const redis = new Redis(url);
  t.after(async () => {
    redis.disconnect();
    await redisServer.close();
  });
  const outbox = redisOutbox({
    run: ([name = '', ...args]) => redis.call(name, ...args),
    prefix: '{kept}:',
  });
  await relays(t, { flags: ['--outbox', url, '--prefix', '{kept}:'], append: outbox.append });
});

test('a relay sends from DynamoDB', async (t) => {
  const dynamodbServer = await startStore('dynamodb');
  if (dynamodbServer === undefined) return t.skip('dynamodb is missing');
  const endpoint = `http://${dynamodbServer.address}`;
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });
  t.after(async () => {
    client.destroy();
    await dynamodbServer.close();
  });
  const outbox = dynamodbOutbox({ client, table: 'kept' });
  await outbox.migrate();
  await relays(t, {
    flags: ['--outbox', 'dynamodb:kept'],
    variables: { AWS_ENDPOINT_URL_DYNAMODB: endpoint },
    append: outbox.append,
  });
});

test('an outbox that cannot be reached, or is none, is named', async (t) => {
  const list = ['outbox', 'list', '--outbox'];
  const wrong = [
    [[...list, 'mysql://h/d'], 2, /--outbox must be a folder, postgres:.*, not mysql:\/\/h\/d\./],
    [[...list, 'dynamodb:'], 2, /--outbox must be a folder/],
    [[...list, newFolder(t)], 2, /it has no files named like 00000001\.log/],
    [[...list, main], 2, /is a file, not an outbox/],
    [[...list, 'redis://h', '--table', 't'], 2, /--table is not for an outbox in redis:\/\/h\./],
    [[...list, 'dynamodb:t', '--prefix', 'p'], 2, /--prefix is not for an outbox in dynamodb:t/],
    // Nothing listens on port 1.
    [[...list, 'redis://127.0.0.1:1'], 1, /Redis cannot be reached: connect ECONNREFUSED/],
    [[...list, 'postgres://127.0.0.1:1/d'], 1, /ECONNREFUSED/],
  ] as const;
  for (const [args, code, text] of wrong) {
    const ran = await oncemq({}, ...args);
    assert.equal(ran.code, code, ran.said);
    assert.match(ran.said, text);
  }
});
