/**
 * The tables, brought up to date by the first node that starts: each migration is an SQL file (migrations/postgres), applied
 * once and in order, under a lock.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { type Connection, isFromServer, type Statement } from './connection.ts';

const folder = new URL('../../../../migrations/postgres/', import.meta.url);

export const defaultSchema = 'oncemq';

/** Any number that nobody else uses. */
const lockKey = 7_276_202;

/** Of the table `store`: how far a copy into these tables is (copy-target.ts). */
export const copyRow = 'copy';

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** The schema's name as it stands in SQL. */
export function quoted(schema: string): string {
  return `"${schema.replaceAll('"', '""')}"`;
}

export function migrations(schema: string): readonly Migration[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  return names.sort().map((name) => ({
    name,
    sql: readFileSync(new URL(name, folder), 'utf8').replaceAll('{schema}', quoted(schema)),
  }));
}

/** Creates what is missing. Returns the names of the migrations that were applied. */
export async function migrate(connection: Connection, schema: string): Promise<readonly string[]> {
  const pending = await pendingMigrations(connection, schema);
  if (pending.length === 0) return [];
  return withRights(connection, migrateAdvice, async () => {
    const results = await connection.run(
      ...creationOf(schema, await hasSchema(connection, schema)),
      { text: `SELECT name FROM ${quoted(schema)}.migration` },
    );
    // Others may have been first.
    const applied = new Set(results.at(-1)?.rows.map(({ name }) => String(name)));
    const missing = pending.filter(({ name }) => !applied.has(name));
    await connection.goOn(...missing.flatMap((each) => applicationOf(each, schema)), {
      text: 'COMMIT',
    });
    return missing.map(({ name }) => name);
  });
}

/** Those that the tables lack, in order. */
export async function pendingMigrations(
  connection: Connection,
  schema: string,
): Promise<readonly Migration[]> {
  return withRights(connection, grantAdvice, async () => {
    const [found] = await connection.run({
      text: `SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'migration'`,
      values: [schema],
    });
    const all = migrations(schema);
    if (found?.rows.length === 0) return all;
    const [names] = await connection.run({ text: `SELECT name FROM ${quoted(schema)}.migration` });
    const applied = new Set(names?.rows.map(({ name }) => String(name)));
    return all.filter(({ name }) => !applied.has(name));
  });
}

/** The same as one text, for people and for psql; empty if nothing is missing. */
export async function migrationText(connection: Connection, schema: string): Promise<string> {
  const pending = await pendingMigrations(connection, schema);
  if (pending.length === 0) return '';
  const statements = [
    ...creationOf(schema, await hasSchema(connection, schema)),
    ...pending.flatMap((each) => applicationOf(each, schema)),
    { text: 'COMMIT' },
  ];
  return statements.map(({ text }) => `${text.trim().replace(/;$/, '')};\n`).join('\n');
}

async function hasSchema(connection: Connection, schema: string): Promise<boolean> {
  const [found] = await connection.run({
    text: 'SELECT 1 FROM pg_namespace WHERE nspname = $1',
    values: [schema],
  });
  return found?.rows.length === 1;
}

/** One node at a time. A schema that is there needs no right to create one. */
function creationOf(schema: string, isThere: boolean): Statement[] {
  const name = quoted(schema);
  return [
    { text: 'BEGIN' },
    { text: `SELECT pg_advisory_xact_lock(${lockKey})` },
    ...(isThere ? [] : [{ text: `CREATE SCHEMA IF NOT EXISTS ${name}` }]),
    { text: `CREATE TABLE IF NOT EXISTS ${name}.migration (name text PRIMARY KEY)` },
  ];
}

function applicationOf({ name, sql }: Migration, schema: string): Statement[] {
  // File names need no quoting.
  return [{ text: sql }, { text: `INSERT INTO ${quoted(schema)}.migration VALUES ('${name}')` }];
}

const insufficientPrivilege = '42501';

/** If the role may not do it, says what to do. */
async function withRights<T>(
  connection: Connection,
  advice: (role: string) => string,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    await connection.discard();
    if (!isFromServer(error) || error.code !== insufficientPrivilege) throw error;
    const [found] = await connection.run({ text: 'SELECT current_user AS role' });
    const role = String(found?.rows[0]?.['role']);
    throw new Error(`the role ${role}: ${error.message}; ${advice(role)}`, { cause: error });
  }
}

export function grantAdvice(role: string): string {
  return `let the owner of the tables run oncemq postgres grant --role ${role}`;
}

function migrateAdvice(role: string): string {
  return `let a role that may create tables run oncemq postgres migrate, and then oncemq postgres grant --role ${role}`;
}

/** A part of a copy is no state to serve. */
export async function refuseUnfinishedCopy(connection: Connection, schema: string): Promise<void> {
  const [rows] = await connection.run({
    text: `SELECT value::json->>'from' AS source FROM ${quoted(schema)}.store WHERE key = '${copyRow}'`,
  });
  const [begun] = rows?.rows ?? [];
  if (begun === undefined) return;
  throw new Error(
    `a copy of ${begun['source']} into it is not finished. Run the same oncemq copy again, which goes on with it`,
  );
}
