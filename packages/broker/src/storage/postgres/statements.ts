/**
 * Statements about all owners at once: what is due at owners that no node may have loaded, and the end of everything, which
 * is for tests and for a look at an empty server.
 */

import { randomInt } from 'node:crypto';
import type { Connection } from './connection.ts';
import { catalogNumber, type Known } from './journal.ts';
import { quoted } from './schema.ts';

/** More than fall due at one time; the rest is found the next time. */
const dueMax = 1_000;

/** Owners with something due by this time. */
export async function dueBy(
  connection: Connection,
  schema: string,
  time: number,
): Promise<readonly Known[]> {
  const [rows] = await connection.run({
    text: `SELECT number, version FROM ${quoted(schema)}.owner
      WHERE due_at <= $1 AND NOT is_gone ORDER BY due_at LIMIT ${dueMax}`,
    values: [time],
  });
  return (rows?.rows ?? []) as unknown as Known[];
}

/** Removes everything. Nodes notice that the catalog's rows do not lead to its version, and load it again. */
export async function clearedBy(connection: Connection, schema: string): Promise<void> {
  const name = quoted(schema);
  await connection.run(
    { text: 'BEGIN' },
    { text: `SELECT version FROM ${name}.owner ORDER BY number FOR UPDATE` },
    { text: `DELETE FROM ${name}.journal` },
    { text: `DELETE FROM ${name}.record` },
    { text: `DELETE FROM ${name}.checkpoint` },
    { text: `DELETE FROM ${name}.owner WHERE number <> ${catalogNumber}` },
    {
      text: `UPDATE ${name}.owner SET version = version + 1, tail = $1, due_at = NULL`,
      values: [randomInt(1, 2 ** 47)],
    },
    {
      text: `INSERT INTO ${name}.checkpoint SELECT number, version, version, 0 FROM ${name}.owner`,
    },
    { text: 'COMMIT' },
  );
}
