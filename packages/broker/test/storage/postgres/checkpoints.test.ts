/**
 * Rows of the journal become records and leave it, and nobody can tell: a node that loads, one that was there before, and
 * one that knows only rows that have gone give the same answers. What is removed leaves the database.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../../src/server/clock.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { Checkpoints } from '../../../src/storage/postgres/checkpoints.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';

let database: Promise<TestDatabase> | undefined;
const queue = 'jobs.fifo';
const patient = new AbortController();

interface Home {
  readonly open: () => Promise<Backend>;
  /** Every row becomes a record; those that did so before leave the journal. */
  readonly checkpoint: () => Promise<void>;
  readonly count: (table: 'journal' | 'record' | 'owner') => Promise<number>;
}

async function withHome(run: (home: Home) => Promise<void>): Promise<void> {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const schema = newSchema();
  const connection = new Connection([url], 'test');
  const checkpoints = new Checkpoints({ schema, connection });
  const opened: Backend[] = [];
  try {
    await run({
      open: async () => {
        const clock = manualClock(1_800_000_000_000);
        const backend = await openPostgresBackend({ clock }, { urls: [url], schema });
        opened.push(backend);
        return backend;
      },
      checkpoint: async () => {
        await connection.run({ text: `UPDATE ${schema}.checkpoint SET trim_at = 0` });
        await checkpoints.round(() => false);
      },
      count: async (table) => {
        const [rows] = await connection.run({
          text: `SELECT count(*)::int AS count FROM ${schema}.${table}`,
        });
        return Number(rows?.rows[0]?.['count']);
      },
    });
  } finally {
    for (const backend of opened) await backend.close();
    await connection.close();
  }
}

async function send(backend: Backend, body: string, groupId = body): Promise<string> {
  const entries = [{ body, groupId, deduplicationId: body }];
  const sent = await backend.run({ type: 'send', queue, isBatch: false, entries });
  const result = sent.ok ? sent.results[0] : sent;
  assert.ok(result?.ok === true && 'messageId' in result);
  return result.messageId;
}

async function bodies(backend: Backend): Promise<string[]> {
  const peeked = await backend.peek({ type: 'peek-messages', queue, limit: 100 });
  assert.ok(peeked.ok);
  return peeked.messages.map(({ content, state }) => `${content.body} ${state}`);
}

async function create(backend: Backend): Promise<void> {
  const attributes = { FifoQueue: 'true' };
  assert.ok((await backend.run({ type: 'create-queue', queue, attributes })).ok);
}

async function takeOne(backend: Backend): Promise<string | undefined> {
  const received = await backend.receive({ type: 'receive', queue }, patient);
  assert.ok(received.ok);
  return received.messages[0]?.receiptHandle;
}

test('what was sent, received and removed is the same before and after a checkpoint', async () => {
  await withHome(async ({ open, checkpoint, count }) => {
    const first = await open();
    await create(first);
    const ids = [];
    for (const body of ['one', 'two', 'three']) ids.push(await send(first, body));
    await checkpoint();
    const receiptHandle = await takeOne(first);
    await takeOne(first);
    const entries = [{ receiptHandle }];
    await first.run({ type: 'delete-messages', queue, isBatch: false, entries });
    const expected = ['two in-flight', 'three visible'];
    assert.deepEqual(await bodies(first), expected);
    assert.deepEqual(await bodies(await open()), expected, 'records and rows');
    await checkpoint();
    await checkpoint();
    assert.equal(await count('journal'), 0);
    const late = await open();
    assert.deepEqual(await bodies(late), expected, 'records alone');
    assert.equal(await send(late, 'one'), ids[0], 'the window was loaded');
    assert.deepEqual(await bodies(first), expected);
    const explained = await late.explain({ type: 'explain', queue, limit: 10 });
    assert.ok(explained.ok);
    const texts = explained.entries.map(({ deduplicationId }) => deduplicationId);
    assert.deepEqual(texts, ['three', 'two', 'one']);
  });
});

test('a node that knows only rows that have left the journal loads again', async () => {
  await withHome(async ({ open, checkpoint, count }) => {
    const [stale, busy] = [await open(), await open()];
    await create(stale);
    await send(stale, 'one');
    await send(busy, 'two');
    await busy.run({ type: 'tag-queue', queue, tags: { team: 'blue' } });
    await checkpoint();
    await checkpoint();
    assert.equal(await count('journal'), 0);
    await send(stale, 'three');
    assert.deepEqual(await bodies(stale), ['one visible', 'two visible', 'three visible']);
    const tags = await stale.run({ type: 'list-tags', queue });
    assert.deepEqual(tags.ok && tags.tags, { team: 'blue' });
  });
});

test('a node that loads what others have set since it last looked has their settings, too', async () => {
  await withHome(async ({ open, checkpoint, count }) => {
    const setting = await open();
    await create(setting);
    const late = await open();
    await setting.run({ type: 'tag-queue', queue, tags: { team: 'blue' } });
    await checkpoint();
    await checkpoint();
    assert.equal(await count('journal'), 0);
    const command = { type: 'list-tags', queue } as const;
    const [one, other] = [await late.run(command), await setting.run(command)];
    assert.deepEqual(one, other);
    assert.deepEqual(one.ok && one.tags, { team: 'blue' });
  });
});

test('what was purged or deleted leaves the database', async () => {
  await withHome(async ({ open, checkpoint, count }) => {
    const backend = await open();
    await create(backend);
    const empty = await count('record');
    for (const body of ['one', 'two']) await send(backend, body);
    await checkpoint();
    assert.ok((await count('record')) > empty);
    await backend.run({ type: 'purge-queue', queue });
    await send(backend, 'fresh');
    await checkpoint();
    const another = await open();
    assert.deepEqual(await bodies(another), ['fresh visible']);
    await another.run({ type: 'delete-queue', queue });
    for (let round = 0; round < 4; round += 1) await checkpoint();
    assert.equal(await count('owner'), 1, 'the catalog alone');
    assert.equal(await count('journal'), 0);
    // The name, which stays taken for a minute.
    assert.equal(await count('record'), 1);
    const listed = await (await open()).run({ type: 'list-queues' });
    assert.deepEqual(listed.ok && listed.queues, []);
  });
});
