/**
 * Servers of two versions over one database: each writes what all of them read. What a later version has written in its own
 * format is refused with the reason, queue by queue; everything else goes on.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../../src/server/clock.ts';
import { type Backend, Unavailable } from '../../../src/storage/backend.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { latestFormat } from '../../../src/storage/postgres/journal-row.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';

let database: Promise<TestDatabase> | undefined;
const next = latestFormat + 1;
const refusal = new RegExp(`jobs was written by a later version of OnceMQ \\(format ${next};`);

interface Home {
  /** A node of this version, or of one that reads later formats. */
  readonly open: (reads?: number) => Promise<Backend>;
  /** Runs a statement on the database; `{schema}` stands for the tables' schema. */
  readonly ask: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

async function withHome(run: (home: Home) => Promise<void>): Promise<void> {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const schema = newSchema();
  const connection = new Connection([url], 'test');
  const opened: Backend[] = [];
  try {
    await run({
      open: async (reads = latestFormat) => {
        const clock = manualClock(1_800_000_000_000);
        const backend = await openPostgresBackend({ clock }, { urls: [url], schema, reads });
        opened.push(backend);
        return backend;
      },
      ask: async (sql) => {
        const [rows] = await connection.run({ text: sql.replaceAll('{schema}', schema) });
        return rows?.rows ?? [];
      },
    });
  } finally {
    await Promise.all(opened.map((backend) => backend.close()));
    await connection.close();
  }
}

async function create(backend: Backend, queue: string): Promise<void> {
  assert.ok((await backend.run({ type: 'create-queue', queue })).ok);
}

async function send(backend: Backend, queue: string, body: string): Promise<void> {
  const entries = [{ body }];
  assert.ok((await backend.run({ type: 'send', queue, isBatch: false, entries })).ok);
}

async function bodies(backend: Backend, queue: string): Promise<string[]> {
  const peeked = await backend.peek({ type: 'peek-messages', queue, limit: 100 });
  assert.ok(peeked.ok);
  return peeked.messages.map(({ content }) => content.body);
}

/** A row begins with its format. */
const formats = `SELECT DISTINCT encode(substr(changes, 1, 8), 'hex') AS format FROM {schema}.journal`;

function bytesOf(format: number): { format: string } {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(format);
  return { format: bytes.toString('hex') };
}

test('while a node of this version lives, one of the next writes what both read', async () => {
  await withHome(async ({ open, ask }) => {
    const [old, newer] = [await open(), await open(next)];
    await create(newer, 'jobs');
    await send(newer, 'jobs', 'one');
    await send(old, 'jobs', 'two');
    await send(newer, 'jobs', 'three');
    assert.deepEqual(await bodies(old, 'jobs'), ['one', 'two', 'three']);
    assert.deepEqual(await ask(formats), [bytesOf(latestFormat)]);
  });
});

test('nodes of the next version alone write its format, which this version refuses with the reason', async () => {
  await withHome(async ({ open, ask }) => {
    const old = await open();
    await create(old, 'jobs');
    await create(old, 'mails');
    await old.close();
    const newer = await open(next);
    await send(newer, 'jobs', 'one');
    assert.ok((await ask(formats)).some(({ format }) => format === bytesOf(next).format));
    // As when an upgrade is taken back.
    const back = await open();
    await assert.rejects(send(back, 'jobs', 'two'), (error: Error) => {
      assert.ok(error instanceof Unavailable);
      assert.match(error.message, refusal);
      return true;
    });
    await assert.rejects(bodies(back, 'jobs'), Unavailable);
    await send(back, 'mails', 'hello');
    assert.deepEqual(await bodies(back, 'mails'), ['hello']);
    assert.equal(back.unavailable(), undefined, 'the others are served');
    assert.deepEqual(await bodies(newer, 'jobs'), ['one']);
  });
});

test('a queue that another node writes in the next format is refused by a node that had loaded it', async () => {
  await withHome(async ({ open, ask }) => {
    const old = await open();
    await create(old, 'jobs');
    await send(old, 'jobs', 'one');
    // As if it had been frozen for longer than others wait for it.
    await ask('DELETE FROM {schema}.node');
    const newer = await open(next);
    await send(newer, 'jobs', 'two');
    await assert.rejects(send(old, 'jobs', 'three'), refusal);
    await create(old, 'mails');
    await send(old, 'mails', 'hello');
    assert.deepEqual(await bodies(newer, 'jobs'), ['one', 'two']);
  });
});

test('a list of queues in the next format stops a start, with the reason', async () => {
  await withHome(async ({ open }) => {
    const newer = await open(next);
    await create(newer, 'jobs');
    await assert.rejects(
      open(),
      /the list of queues and topics was written by a later version of OnceMQ .* upgrade this server/,
    );
  });
});
