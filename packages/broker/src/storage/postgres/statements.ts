/**
 * Statements about all owners at once: what is due at owners that no node may have loaded, and the end of everything, which
 * is for tests and for a look at an empty server.
 */

import { randomInt } from 'node:crypto';
import type { Connection } from './connection.ts';
import { catalogNumber, type Due, type StillDue } from './journal.ts';
import { quoted } from './schema.ts';

/** Owners that are loaded at once. */
const duePartMax = 100;

/** Owners with something due by this time, a part at a time, the earliest first. */
export async function* dueBy(
  connection: Connection,
  schema: string,
  time: number,
): AsyncGenerator<readonly Due[]> {
  let [at, number] = [Number.MIN_SAFE_INTEGER, 0];
  for (;;) {
    const [found] = await connection.run({
      text: `SELECT number, version, due_at AS "dueAt" FROM ${quoted(schema)}.owner
        WHERE due_at <= $1 AND NOT is_gone AND (due_at, number) > ($2, $3)
        ORDER BY due_at, number LIMIT ${duePartMax}`,
      values: [time, at, number],
    });
    const due = (found?.rows ?? []) as unknown as readonly Due[];
    const last = due.at(-1);
    if (last === undefined) return;
    yield due;
    if (due.length < duePartMax) return;
    [at, number] = [last.dueAt, last.number];
  }
}

/** Where others have locked an owner, they are writing it anew. */
export async function noteDue(
  connection: Connection,
  schema: string,
  owners: readonly StillDue[],
): Promise<void> {
  const table = `${quoted(schema)}.owner`;
  await connection.run({
    text: `WITH free AS (SELECT number FROM ${table} WHERE number = ANY($1::bigint[]) FOR UPDATE SKIP LOCKED)
      UPDATE ${table} o SET due_at = n.due_at, held = n.held
      FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS n (number, version, due_at, held) JOIN free USING (number)
      WHERE o.number = n.number AND o.version = n.version AND NOT o.is_gone`,
    values: [
      owners.map(({ number }) => number),
      owners.map(({ version }) => version),
      owners.map(({ dueAt }) => dueAt ?? null),
      owners.map(({ held }) => held ?? null),
    ],
  });
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
