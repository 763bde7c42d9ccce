/**
 * What commands do with a database without serving it. The second of the two doors of this folder; the first is open.ts.
 */

import type { ClusterNode } from '../backend.ts';
import type { CopySource, CopyTarget } from '../copying/copy.ts';
import { Connection } from './connection.ts';
import { openPostgresSource, refuseNodes } from './copy-source.ts';
import { PostgresTarget } from './copy-target.ts';
import { nodesSeen, returningMsMax } from './nodes.ts';
import { grantStatements, prepareTables, requireVersion } from './requirements.ts';
import { defaultSchema, migrate, migrationText, pendingMigrations } from './schema.ts';

/** Counting and building indexes of a large database takes its time. */
const patientMs = 600_000;

export interface SchemaOptions {
  readonly urls: readonly string[];
  readonly schema?: string;
}

export interface DatabaseOptions extends SchemaOptions {
  /** As people are told, without the password. */
  readonly name: string;
}

/** Of a database that no server uses. */
export async function openDatabaseSource({
  urls,
  name,
  schema = defaultSchema,
}: DatabaseOptions): Promise<CopySource> {
  const connection = new Connection(urls, 'oncemq copy', { answerMs: patientMs });
  try {
    await prepareTables(connection, schema);
    await refuseNodes(connection, schema);
    return await openPostgresSource({ connection, schema, name, isAlone: true });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

export function databaseTarget({
  urls,
  name,
  schema = defaultSchema,
}: DatabaseOptions): CopyTarget {
  const connection = new Connection(urls, 'oncemq copy', { answerMs: patientMs });
  return new PostgresTarget(connection, schema, name);
}

/** Brings the tables up to date. Returns the names of the migrations that were applied. */
export function migrateDatabase(options: SchemaOptions): Promise<readonly string[]> {
  return withDatabase(options, migrate);
}

/** What `migrateDatabase` would do, as SQL; empty if nothing is missing. */
export function migrationSql(options: SchemaOptions): Promise<string> {
  return withDatabase(options, migrationText);
}

/** What `grantRights` does, as SQL. */
export function grantSql(role: string, schema: string = defaultSchema): string {
  return grantStatements(schema, role)
    .map(({ text }) => `${text};\n`)
    .join('');
}

/** Lets a role serve, and nothing else. */
export function grantRights(options: SchemaOptions, role: string): Promise<void> {
  return withDatabase(options, async (connection, schema) => {
    const statements = grantStatements(schema, role);
    await connection.run({ text: 'BEGIN' }, ...statements, { text: 'COMMIT' });
  });
}

/** The servers that were seen within the last minute. */
export function nodesOf(options: SchemaOptions): Promise<readonly ClusterNode[]> {
  return withDatabase(options, async (connection, schema) => {
    if ((await pendingMigrations(connection, schema)).length > 0) {
      throw new Error('its tables are not up to date: run oncemq postgres migrate');
    }
    return nodesSeen(connection, schema, returningMsMax);
  });
}

async function withDatabase<T>(
  { urls, schema = defaultSchema }: SchemaOptions,
  use: (connection: Connection, schema: string) => Promise<T>,
): Promise<T> {
  const connection = new Connection(urls, 'oncemq postgres', { answerMs: patientMs });
  try {
    await requireVersion(connection);
    return await use(connection, schema);
  } finally {
    await connection.close();
  }
}
