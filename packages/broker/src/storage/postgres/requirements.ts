/**
 * What a database must be and a role must be allowed, checked before anything else: a refusal says what is missing and what
 * to do about it. A server needs few rights once the tables are there; whoever brings them up to date owns them.
 */

import type { Connection, Statement } from './connection.ts';
import { grantAdvice, migrate, quoted } from './schema.ts';

/** Of PostgreSQL, as `server_version_num` tells it. */
const serverVersionMin = 130_000;

/** What a server does with each table; nothing else is granted. */
const servingRights: Readonly<Record<string, readonly string[]>> = {
  owner: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  journal: ['SELECT', 'INSERT', 'DELETE'],
  record: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  checkpoint: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  store: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  node: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  migration: ['SELECT'],
};

/** Brings the tables up to date if they are not, and refuses a role that could not serve. Returns what was applied. */
export async function prepareTables(
  connection: Connection,
  schema: string,
): Promise<readonly string[]> {
  await requireVersion(connection);
  const applied = await migrate(connection, schema);
  await requireRights(connection, schema);
  return applied;
}

export async function requireVersion(connection: Connection): Promise<void> {
  const [version] = await connection.run({
    text: `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS name`,
  });
  const problem = versionProblem(version?.rows[0] as unknown as { number: number; name: string });
  if (problem !== undefined) throw new Error(problem);
}

/** Why such a server cannot be used; undefined if it can. */
export function versionProblem(server: {
  readonly number: number;
  readonly name: string;
}): string | undefined {
  if (server.number >= serverVersionMin) return undefined;
  return `PostgreSQL ${server.name} is too old: upgrade it to ${serverVersionMin / 10_000} or later`;
}

/** What a crash of the database can take from what was answered, by its settings; undefined if nothing. */
export async function carelessness(connection: Connection): Promise<string | undefined> {
  const [found] = await connection.run({
    text: `SELECT name, setting FROM pg_settings
      WHERE (name, setting) IN (('fsync', 'off'), ('full_page_writes', 'off'), ('synchronous_commit', 'off')) ORDER BY name`,
  });
  const careless = (found?.rows ?? []).map(({ name, setting }) => `${name} = ${setting}`);
  if (careless.length === 0) return undefined;
  return `the database has ${careless.join(', ')}: what was answered can be lost with it`;
}

async function requireRights(connection: Connection, schema: string): Promise<void> {
  const wanted = Object.entries(servingRights).flatMap(([table, rights]) =>
    rights.map((right) => ({ table: `${quoted(schema)}.${table}`, right })),
  );
  const [found] = await connection.run({
    text: `SELECT current_user AS role, string_agg(n.privilege || ' on ' || n.name, ', ') AS missing
      FROM unnest($1::text[], $2::text[]) AS n (name, privilege)
      WHERE NOT has_table_privilege(n.name, n.privilege)`,
    values: [wanted.map(({ table }) => table), wanted.map(({ right }) => right)],
  });
  const { role, missing } = found?.rows[0] ?? {};
  if (missing === null) return;
  throw new Error(`the role ${role} lacks ${missing}: ${grantAdvice(String(role))}`);
}

/** What a role needs to serve, now and after later migrations. To be run by the owner of the tables. */
export function grantStatements(schema: string, role: string): readonly Statement[] {
  const [name, grantee] = [quoted(schema), quoted(role)];
  const onTables = Object.entries(servingRights).map(
    ([table, rights]) => `GRANT ${rights.join(', ')} ON ${name}.${table} TO ${grantee}`,
  );
  return [
    `GRANT USAGE ON SCHEMA ${name} TO ${grantee}`,
    ...onTables,
    `ALTER DEFAULT PRIVILEGES IN SCHEMA ${name} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${grantee}`,
  ].map((text) => ({ text }));
}
