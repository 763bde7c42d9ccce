/**
 * What commands do with a database without serving it. The second of the two doors of this folder; the first is open.ts.
 */

import type { CopySource, CopyTarget } from '../copying/copy.ts';
import { Connection } from './connection.ts';
import { openPostgresSource, refuseNodes } from './copy-source.ts';
import { PostgresTarget } from './copy-target.ts';
import { defaultSchema, migrate } from './schema.ts';

/** Counting and building indexes of a large database takes its time. */
const patientMs = 600_000;

export interface DatabaseOptions {
  readonly urls: readonly string[];
  /** As people are told, without the password. */
  readonly name: string;
  readonly schema?: string;
}

/** Of a database that no server uses. */
export async function openDatabaseSource({
  urls,
  name,
  schema = defaultSchema,
}: DatabaseOptions): Promise<CopySource> {
  const connection = new Connection(urls, 'oncemq copy', { answerMsMax: patientMs });
  try {
    await migrate(connection, schema);
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
  const connection = new Connection(urls, 'oncemq copy', { answerMsMax: patientMs });
  return new PostgresTarget(connection, schema, name);
}
