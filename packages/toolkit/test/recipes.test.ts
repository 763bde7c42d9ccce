/**
 * The recipes of docs/guide/stores.md for other database libraries: a message is kept in their transaction, and a handler
 * writes with them in the inbox's transaction. All of them run on a real PostgreSQL; scripts/prisma.ts gets Prisma.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
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

const { pool, url, newTable } = await startPostgres();
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

const prismaFolder = findPrisma();
test('with Prisma a message is kept with its transaction, or not at all', async (t) => {
  const mayLack = process.env['REQUIRE_CLIENTS'] !== '1';
  if (prismaFolder === undefined && mayLack) return t.skip('node .build/scripts/prisma.js gets it');
  const outbox = await openOutbox();
  const prisma = openPrisma(prismaFolder as string);
  t.after(() => prisma.$disconnect());
  await pool.query('create table prisma_orders (name text primary key)');
  const place = async (transaction: Prisma): Promise<void> => {
    await transaction.order.create({ data: { name: 'a' } });
    await outbox.append(viaPrisma(transaction), message);
  };
  const rolledBack = prisma.$transaction(async (transaction) => {
    await place(transaction);
    throw new Error('no stock');
  });
  await assert.rejects(rolledBack, /no stock/);
  assert.equal((await outbox.backlog()).unsent, 0);
  await prisma.$transaction(place);
  assert.equal((await outbox.backlog()).unsent, 1);
  // Appending it again answers the id of the kept one: rows are read through Prisma, too.
  const again = () => prisma.$transaction((tx) => outbox.append(viaPrisma(tx), message));
  assert.equal(await again(), await again());
});

/** As much of a Prisma client as the test uses. */
interface Prisma {
  $queryRawUnsafe(text: string, ...values: unknown[]): Promise<unknown>;
  $transaction<T>(work: (transaction: Prisma) => Promise<T>): Promise<T>;
  $disconnect(): Promise<void>;
  readonly order: { create(row: { data: { name: string } }): Promise<unknown> };
}

function openPrisma(folder: string): Prisma {
  const load = createRequire(join(folder, 'index.js'));
  const { PrismaPg } = load('@prisma/adapter-pg') as {
    PrismaPg: new (options: { connectionString: string }) => unknown;
  };
  const { PrismaClient } = load('./index.js') as {
    PrismaClient: new (options: { adapter: unknown }) => Prisma;
  };
  return new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
}

function findPrisma(): string | undefined {
  const script = fileURLToPath(new URL('../../../../.build/scripts/prisma.js', import.meta.url));
  const found = execFileSync(process.execPath, [script, '--find'], { encoding: 'utf8' });
  return (JSON.parse(found) as string | null) ?? undefined;
}

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
