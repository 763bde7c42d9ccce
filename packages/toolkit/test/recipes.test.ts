/**
 * The recipes of docs/guide/stores.md for other database libraries: a message is kept in their transaction, and a handler
 * writes with them in the inbox's transaction. Kysely and Drizzle run on a real PostgreSQL. Prisma's engine is a program
 * that npm does not have, so its recipe is only checked for what it passes on.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import type { Queryable } from '../src/database.ts';
import type { InboxEvent } from '../src/inbox/inbox.ts';
import { postgresInbox } from '../src/inbox/postgres-inbox.ts';
import { postgresOutbox } from '../src/outbox/postgres-outbox.ts';
import { landsat, scene } from './support/landsat.ts';
import { startPostgres } from './support/postgres.ts';

const { pool, newTable } = await startPostgres();
const message = landsat().message(scene);
const event: InboxEvent = { source: 'orders', key: 'a', digest: '0'.repeat(64) };

async function openOutbox() {
  const outbox = postgresOutbox({ pool, table: newTable() });
  await outbox.migrate();
  return outbox;
}

/** The recipe for Kysely. */
function viaKysely(transaction: Pick<Kysely<unknown>, 'executeQuery'>): Queryable {
  return {
    query: async (text, values = []) => {
      const { rows } = await transaction.executeQuery(CompiledQuery.raw(text, values));
      return { rows };
    },
  };
}

/** The recipe for Drizzle on node-postgres. */
function viaDrizzle(transaction: { execute(query: ReturnType<typeof sql>): unknown }): Queryable {
  return {
    query: async (text, values = []) => {
      const parts = text
        .split(/\$(\d+)/)
        .map((part, at) =>
          at % 2 === 0 ? sql.raw(part) : sql`${sql.param(values[Number(part) - 1])}`,
        );
      return (await transaction.execute(sql.join(parts))) as { rows: unknown[] };
    },
  };
}

/** The recipe for Prisma. */
function viaPrisma(transaction: {
  $queryRawUnsafe(text: string, ...values: unknown[]): Promise<unknown>;
}): Queryable {
  return {
    query: async (text, values = []) => ({
      rows: (await transaction.$queryRawUnsafe(text, ...values)) as unknown[],
    }),
  };
}

test('with Kysely a message is kept with its transaction, or not at all', async () => {
  const outbox = await openOutbox();
  const db = new Kysely<Record<string, never>>({ dialect: new PostgresDialect({ pool }) });
  const rolledBack = db.transaction().execute(async (transaction) => {
    await outbox.append(viaKysely(transaction), message);
    throw new Error('no stock');
  });
  await assert.rejects(rolledBack, /no stock/);
  assert.equal((await outbox.backlog()).unsent, 0);
  await db.transaction().execute((transaction) => outbox.append(viaKysely(transaction), message));
  assert.equal((await outbox.backlog()).unsent, 1);
});

test('with Drizzle a message is kept with its transaction, or not at all', async () => {
  const outbox = await openOutbox();
  const db = drizzle({ client: pool });
  const rolledBack = db.transaction(async (transaction) => {
    await outbox.append(viaDrizzle(transaction), message);
    throw new Error('no stock');
  });
  await assert.rejects(rolledBack, /no stock/);
  assert.equal((await outbox.backlog()).unsent, 0);
  await db.transaction((transaction) => outbox.append(viaDrizzle(transaction), message));
  assert.equal((await outbox.backlog()).unsent, 1);
});

test('for Prisma, text and values are passed on, and no column is of a type that it cannot read', async () => {
  const outbox = await openOutbox();
  const connection = await pool.connect();
  const types = new Set<number>();
  const transaction = {
    $queryRawUnsafe: async (text: string, ...values: unknown[]): Promise<unknown> => {
      const { rows, fields } = await connection.query(text, values);
      for (const { dataTypeID } of fields) types.add(dataTypeID);
      return rows;
    },
  };
  await connection.query('begin');
  await outbox.append(viaPrisma(transaction), message);
  await connection.query('commit');
  connection.release();
  assert.equal((await outbox.backlog()).unsent, 1);
  const voidType = 2_278;
  assert.ok(!types.has(voidType));
});

test('a handler writes with Drizzle or Kysely in the transaction of its inbox', async () => {
  const table = newTable();
  await pool.query(`create table ${table} (name text)`);
  const inbox = postgresInbox({ pool, table: newTable() });
  await inbox.migrate();
  const insert = `insert into ${table} values ('a')`;
  const failing = inbox.once(event, async (transaction) => {
    await drizzle({ client: transaction as pg.PoolClient }).execute(sql.raw(insert));
    throw new Error('afterwards');
  });
  await assert.rejects(failing, /afterwards/);
  await inbox.once(event, async (transaction) => {
    await drizzle({ client: transaction as pg.PoolClient }).execute(sql.raw(insert));
    await kyselyOn(transaction).executeQuery(CompiledQuery.raw(insert));
  });
  assert.equal((await pool.query(`select from ${table}`)).rows.length, 2);
});

/** The recipe for Kysely in a handler: a pool that lends the inbox's connection. */
function kyselyOn(transaction: Queryable): Kysely<Record<string, never>> {
  const connection = {
    query: transaction.query.bind(transaction),
    release: () => {},
  } as unknown as pg.PoolClient;
  const lending = { connect: async () => connection, end: async () => {} };
  return new Kysely({ dialect: new PostgresDialect({ pool: lending as unknown as pg.Pool }) });
}
