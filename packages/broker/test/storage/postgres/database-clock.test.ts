/**
 * The time of a request is the database's. Should its clock be set back, as by a failover to a machine whose clock is wrong, then
 * time goes on from where it was: it neither goes back nor stands still until the clock is there again.
 *
 * On the real clock, since that is what this is about.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../src/server/clock.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';

let database: Promise<TestDatabase> | undefined;
const queue = 'jobs';
const client = new AbortController();
const hourMs = 3_600_000;

async function sent(backend: Backend, body: string, delaySeconds: number): Promise<void> {
  const entries = [{ body, delaySeconds }];
  assert.ok((await backend.run({ type: 'send', queue, isBatch: false, entries })).ok);
}

async function received(backend: Backend): Promise<readonly string[]> {
  const got = await backend.receive({ type: 'receive', queue, waitSeconds: 20 }, client);
  assert.ok(got.ok);
  return got.messages.map(({ content }) => content.body);
}

test('time goes on when the clock of the database is set back, and at a server that starts then', async () => {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const schema = newSchema();
  const role = `clock_${schema}`;
  const owner = new Connection([url], 'test');
  // What the role's statements find in place of PostgreSQL's own.
  await owner.run(
    { text: `CREATE SCHEMA ${role}` },
    { text: `CREATE TABLE ${role}.shift AS SELECT interval '0' AS by` },
    {
      text: `CREATE FUNCTION ${role}.clock_timestamp() RETURNS timestamptz
        RETURN pg_catalog.clock_timestamp() + (SELECT by FROM ${role}.shift)`,
    },
    { text: `CREATE ROLE ${role} LOGIN SUPERUSER` },
    { text: `ALTER ROLE ${role} SET search_path = ${role}, pg_catalog` },
  );
  const roleUrl = new URL(url);
  roleUrl.username = role;
  const open = (): Promise<Backend> =>
    openPostgresBackend({ clock: realClock() }, { urls: [roleUrl.href], schema });
  const opened = [await open()];
  try {
    const [first] = opened as [Backend];
    await first.run({ type: 'create-queue', queue });
    await sent(first, 'before', 1);
    const before = first.now();
    await owner.run({ text: `UPDATE ${role}.shift SET by = '-1 hour'` });
    assert.deepEqual(await received(first), ['before']);
    await sent(first, 'after', 1);
    assert.deepEqual(await received(first), ['after']);
    const second = await open();
    opened.push(second);
    await sent(second, 'elsewhere', 1);
    assert.deepEqual(await received(second), ['elsewhere']);
    for (const node of opened) {
      assert.ok(node.now() >= before && node.now() < before + hourMs / 2, 'an hour is not added');
    }
  } finally {
    for (const node of opened) await node.close();
    await owner.close();
  }
});
