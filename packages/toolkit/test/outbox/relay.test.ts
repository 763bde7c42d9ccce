/**
 * The relay that runs: it wakes when a message is committed, goes on after failures, removes old messages, and tells how
 * far it is behind. With a real PostgreSQL and a real server; an hour between polls shows that it was woken.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openFileOutbox } from '../../src/outbox/file-outbox.ts';
import type { Outbox } from '../../src/outbox/outbox.ts';
import { postgresOutbox } from '../../src/outbox/postgres-outbox.ts';
import { createRelay, type RelayOptions } from '../../src/outbox/relay.ts';
import type { RelayStatus, RunOptions } from '../../src/outbox/relay-loop.ts';
import { landsat, scene, scenes } from '../support/landsat.ts';
import { startPostgres } from '../support/postgres.ts';
import { type OpenQueue, openQueue } from '../support/server.ts';

const { pool, newTable } = await startPostgres();
const byTile = landsat({ groupId: ({ tile }) => tile });

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

function sentCount({ server }: OpenQueue): number {
  return server.events.filter(({ type }) => type === 'sent').length;
}

async function openOutbox(now?: () => number) {
  const outbox = postgresOutbox({ pool, table: newTable(), ...(now === undefined ? {} : { now }) });
  await outbox.migrate();
  return outbox;
}

/** Runs a relay until `end` is called. */
function running(
  t: TestContext,
  queue: OpenQueue,
  outbox: Outbox,
  options: Partial<RunOptions> & Partial<Pick<RelayOptions, 'now'>> = {},
) {
  const ending = new AbortController();
  const failures: string[] = [];
  const statuses: RelayStatus[] = [];
  const { now, ...others } = options;
  const { client, queueUrl } = queue;
  const relay = createRelay({
    client,
    queueUrl,
    outbox,
    onPastWindow: () => {},
    ...(now === undefined ? {} : { now }),
  });
  const run = relay.run({
    signal: ending.signal,
    pollSeconds: 3_600,
    onFailure: (reason) => void failures.push(reason),
    onStatus: (status) => void statuses.push(status),
    ...others,
  });
  t.after(() => ending.abort());
  const end = async (): Promise<void> => {
    ending.abort();
    await run;
  };
  return { failures, statuses, end };
}

test('it sends what is committed at once, and nothing before', async (t) => {
  const queue = await openQueue(t);
  const outbox = await openOutbox();
  const { statuses, failures, end } = running(t, queue, outbox);
  await until(() => statuses.length === 1);
  const connection = await pool.connect();
  await connection.query('begin');
  await outbox.append(
    connection,
    scenes(3).map((event) => byTile.message(event)),
  );
  const status = await outbox.backlog();
  assert.equal(status.unsent, 0);
  await connection.query('commit');
  connection.release();
  await until(() => sentCount(queue) === 3);
  await until(() => statuses.at(-1)?.unsent === 0 && statuses.length > 1);
  await end();
  assert.deepEqual(failures, []);
  assert.equal(
    statuses.reduce((sum, { sent }) => sum + sent, 0),
    3,
  );
});

test('it sends what is appended to a folder at once', async (t) => {
  const queue = await openQueue(t);
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-relay-'));
  t.after(() => rmSync(folder, { recursive: true }));
  await using outbox = await openFileOutbox(folder);
  const { statuses, end } = running(t, queue, outbox);
  await until(() => statuses.length === 1);
  await outbox.append(byTile.message(scene));
  await until(() => sentCount(queue) === 1);
  await end();
});

test('it goes on when its listening connection breaks, and listens again', async (t) => {
  const queue = await openQueue(t);
  const outbox = await openOutbox();
  // Real time: without the connection, only a poll notices.
  const { statuses, failures, end } = running(t, queue, outbox, { pollSeconds: 0.01 });
  await until(() => statuses.length === 1);
  const listening = `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %'`;
  await pool.query(listening);
  await until(() => failures.length > 0);
  assert.match(failures[0] as string, /no longer hears of new messages/);
  await outbox.append(pool, byTile.message(scene));
  await until(() => sentCount(queue) === 1);
  const after = statuses.length;
  await until(() => statuses.length > after + 1);
  const { rows } = await pool.query(
    `select from pg_stat_activity where query like 'listen %' and state = 'idle'`,
  );
  assert.equal(rows.length, 1);
  await end();
});

test('it survives a queue that is not there, and sends when it is', async (t) => {
  const queue = await openQueue(t);
  const outbox = await openOutbox();
  await outbox.append(pool, byTile.message(scene));
  const queueUrl = queue.queueUrl.replace('events', 'later');
  const { failures, statuses, end } = running(t, { ...queue, queueUrl }, outbox);
  await until(() => failures.length > 0);
  assert.match(failures[0] as string, /queue does not exist/i);
  await until(() => statuses.at(-1)?.failed === 1 && statuses.at(-1)?.unsent === 1);
  const Attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
  await queue.client.createQueue({ QueueName: 'later.fifo', Attributes });
  await until(() => sentCount(queue) === 1);
  await end();
});

test('its status tells the lag, and what waits for a decision', async (t) => {
  const queue = await openQueue(t);
  let time = 1_765_000_000_000;
  const outbox = await openOutbox(() => time);
  const message = byTile.message(scene);
  await outbox.append(pool, { ...message, attributes: { region: '\u0001' } });
  const nowhere = { ...queue, queueUrl: queue.queueUrl.replace('events', 'none') };
  time += 90_000;
  const broken = running(t, nowhere, outbox, { now: () => time });
  await until(() => broken.statuses.length > 0);
  await broken.end();
  const [behind] = broken.statuses;
  assert.deepEqual([behind?.lagMs, behind?.unsent, behind?.parked], [90_000, 1, 0]);
  const { statuses, end } = running(t, queue, outbox, { now: () => time });
  await until(() => statuses.length > 0);
  await end();
  const [parked] = statuses;
  assert.deepEqual([parked?.lagMs, parked?.unsent, parked?.parked, parked?.failed], [0, 0, 1, 1]);
});

test('it removes sent messages after their time, in steps', async (t) => {
  const queue = await openQueue(t);
  let time = 1_765_000_000_000;
  const table = newTable();
  const outbox = postgresOutbox({ pool, table, now: () => time });
  await outbox.migrate();
  const { body } = byTile.message(scene);
  await pool.query(
    `insert into ${table} (appended_at, event_time, sent_at, group_id, body)
     select $1, 0, $1, 'old', $2 from generate_series(1, 2500)`,
    [time, body],
  );
  await pool.query(`insert into ${table} (appended_at, event_time, sent_at, group_id, body)
     values (${time + 60_000}, 0, ${time}, 'kept', 'x')`);
  time += 86_400_000;
  const deletes: number[] = [];
  const query = pool.query.bind(pool) as unknown as (
    ...all: unknown[]
  ) => Promise<{ rows: unknown[] }>;
  t.mock.method(pool, 'query', async (...all: unknown[]) => {
    const answer = await query(...all);
    if (String(all[0]).startsWith('delete')) deletes.push(answer.rows.length);
    return answer;
  });
  const { statuses, end } = running(t, queue, outbox, {
    now: () => time,
    keepSentMs: 86_400_000 - 30_000,
  });
  await until(() => statuses.length > 0);
  await end();
  assert.deepEqual(deletes, [1_000, 1_000, 500]);
  const { rows } = await pool.query(`select group_id from ${table}`);
  assert.deepEqual(rows, [{ group_id: 'kept' }]);
});

test('an append of more messages than its bound is refused', async () => {
  const outbox = await openOutbox();
  const messages = Array.from({ length: 1_001 }, () => byTile.message(scene));
  await assert.rejects(outbox.append(pool, messages), /at most 1000 messages/);
});
