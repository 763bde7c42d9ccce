/**
 * A database that answers, and takes no changes: it became read-only, a right was taken from the role, or the tables are gone.
 * Requests are refused at once with the database's own reason, health tells it for as long as it lasts, also of a server that
 * nobody uses, and the server goes on by itself when it is over.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../../src/server/clock.ts';
import { type Backend, Unavailable } from '../../../src/storage/backend.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { grantStatements } from '../../../src/storage/postgres/requirements.ts';
import { migrate } from '../../../src/storage/postgres/schema.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';

let database: Promise<TestDatabase> | undefined;
const queue = 'jobs';
/** Much less than a request may wait: a refusal that lasts is told at once. */
const toldMsMax = 5_000;

interface Home {
  readonly backend: Backend;
  /** As the owner of the tables, whom nothing of this concerns. */
  readonly owner: Connection;
  readonly schema: string;
  readonly role: string;
}

async function withHome(run: (home: Home) => Promise<void>): Promise<void> {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const schema = newSchema();
  const role = `refused_${schema}`;
  const owner = new Connection([url], 'test');
  await owner.run({ text: `CREATE ROLE ${role} LOGIN` });
  await migrate(owner, schema);
  await owner.run(...grantStatements(schema, role));
  const roleUrl = new URL(url);
  roleUrl.username = role;
  const clock = manualClock(1_800_000_000_000);
  const backend = await openPostgresBackend({ clock }, { urls: [roleUrl.href], schema });
  try {
    assert.ok((await backend.run({ type: 'create-queue', queue })).ok);
    await send(backend, 'before');
    await run({ backend, owner, schema, role });
  } finally {
    await backend.close();
    await owner.close();
  }
}

async function send(backend: Backend, body: string): Promise<void> {
  const entries = [{ body }];
  assert.ok((await backend.run({ type: 'send', queue, isBatch: false, entries })).ok);
}

async function refusal(backend: Backend): Promise<string> {
  const began = performance.now();
  const error = await send(backend, 'refused').then(
    () => assert.fail('it was sent'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Unavailable, String(error));
  assert.ok(performance.now() - began < toldMsMax, 'told at once');
  assert.equal(backend.unavailable(), error.message, 'and by health');
  return error.message;
}

/** Resolves when changes are accepted again. The end of a test's time ends it, too. */
async function back(backend: Backend): Promise<void> {
  while (backend.unavailable() !== undefined) await new Promise((resolve) => setImmediate(resolve));
}

async function bodies(backend: Backend): Promise<string[]> {
  const peeked = await backend.peek({ type: 'peek-messages', queue, limit: 100 });
  assert.ok(peeked.ok);
  return peeked.messages.map(({ content }) => content.body);
}

/** Its connections are made anew, with the settings that new ones get. */
async function reconnect(owner: Connection, role: string): Promise<void> {
  await owner.run({
    text: 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1',
    values: [role],
  });
}

test('a database that is read-only is told at once, and used again when it is not', () =>
  withHome(async ({ backend, owner, role }) => {
    await owner.run({ text: `ALTER ROLE ${role} SET default_transaction_read_only = on` });
    await reconnect(owner, role);
    assert.match(
      await refusal(backend),
      /^the database refuses: cannot execute .* in a read-only transaction$/,
    );
    await owner.run({ text: `ALTER ROLE ${role} RESET default_transaction_read_only` });
    await back(backend);
    await send(backend, 'after');
    assert.deepEqual(await bodies(backend), ['before', 'after']);
  }));

test('a server that nobody uses notices, too', () =>
  withHome(async ({ backend, owner, role }) => {
    await owner.run({ text: `ALTER ROLE ${role} SET default_transaction_read_only = on` });
    await reconnect(owner, role);
    while (backend.unavailable() === undefined) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.match(backend.unavailable() ?? '', /read-only transaction/);
    await owner.run({ text: `ALTER ROLE ${role} RESET default_transaction_read_only` });
    await back(backend);
  }));

for (const [right, table] of [
  ['INSERT', 'journal'],
  ['UPDATE', 'owner'],
] as const) {
  test(`a role that loses the right to ${right} on ${table} is told so, and goes on with it`, () =>
    withHome(async ({ backend, owner, schema, role }) => {
      await owner.run({ text: `REVOKE ${right} ON ${schema}.${table} FROM ${role}` });
      assert.equal(
        await refusal(backend),
        `the database refuses: permission denied for table ${table}`,
      );
      await owner.run({ text: `GRANT ${right} ON ${schema}.${table} TO ${role}` });
      await back(backend);
      await send(backend, 'after');
      assert.deepEqual(await bodies(backend), ['before', 'after']);
    }));
}

test('tables that are gone, as in a database restored from before them, are told', () =>
  withHome(async ({ backend, owner, schema, role }) => {
    await owner.run({ text: `ALTER SCHEMA ${schema} RENAME TO ${schema}_away` });
    assert.match(await refusal(backend), /^the database refuses: relation .* does not exist$/);
    await owner.run({ text: `ALTER SCHEMA ${schema}_away RENAME TO ${schema}` });
    await reconnect(owner, role);
    await back(backend);
    await send(backend, 'after');
    assert.deepEqual(await bodies(backend), ['before', 'after']);
  }));
