/**
 * The tables, brought up to date by the first node that starts: each migration is an SQL file (migrations/postgres), applied
 * once and in order, under a lock.
 */

import { readdirSync, readFileSync } from 'node:fs';
import type { Connection } from './connection.ts';

const folder = new URL('../../../../migrations/postgres/', import.meta.url);

export const defaultSchema = 'oncemq';

/** Of PostgreSQL, as `server_version_num` tells it. */
const serverVersionMin = 130_000;

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
  const name = quoted(schema);
  const [version] = await connection.run({
    text: `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS name`,
  });
  const server = version?.rows[0] as unknown as { number: number; name: string };
  if (server.number < serverVersionMin) {
    throw new Error(`PostgreSQL ${server.name} is too old: 13 or later is needed.`);
  }
  const known = await appliedIn(connection, schema);
  const all = migrations(schema);
  const isComplete = all.every((migration) => known.has(migration.name));
  if (isComplete) return [];
  await connection.run(
    { text: 'BEGIN' },
    { text: `SELECT pg_advisory_xact_lock(${lockKey})` },
    { text: `CREATE SCHEMA IF NOT EXISTS ${name}` },
    { text: `CREATE TABLE IF NOT EXISTS ${name}.migration (name text PRIMARY KEY)` },
  );
  const applied: string[] = [];
  try {
    const [done] = await connection.run({ text: `SELECT name FROM ${name}.migration` });
    const before = new Set(done?.rows.map((row) => String(row['name'])));
    for (const migration of all.filter((other) => !before.has(other.name))) {
      await connection.run(
        { text: migration.sql },
        { text: `INSERT INTO ${name}.migration VALUES ($1)`, values: [migration.name] },
      );
      applied.push(migration.name);
    }
    await connection.run({ text: 'COMMIT' });
  } catch (error) {
    await connection.discard();
    throw error;
  }
  return applied;
}

async function appliedIn(connection: Connection, schema: string): Promise<ReadonlySet<string>> {
  const table = `${quoted(schema)}.migration`;
  const [found] = await connection.run({
    text: 'SELECT to_regclass($1) IS NOT NULL AS "isThere"',
    values: [table],
  });
  if (found?.rows[0]?.['isThere'] !== true) return new Set();
  const [names] = await connection.run({ text: `SELECT name FROM ${table}` });
  return new Set(names?.rows.map((row) => String(row['name'])));
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
