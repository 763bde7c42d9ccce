/**
 * What all servers of a database must have in common, such as the clock: whoever joins others that were started differently is
 * refused, with what differs. The first server of all may change it. It is kept in the row `settings` of the table `store`.
 */

import type { Connection } from './connection.ts';
import { databaseNow, runningMsMax } from './nodes.ts';
import { quoted } from './schema.ts';

export interface AgreementOptions {
  readonly connection: Connection;
  readonly schema: string;
  /** By the names of their flags. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Joins the servers that run, unless the settings are not theirs; one server at a time does. */
export async function joinAgreed(
  { connection, schema, settings }: AgreementOptions,
  join: () => Promise<void>,
): Promise<void> {
  const tables = quoted(schema);
  const [, row, running] = await connection.run(
    { text: `BEGIN; SET LOCAL lock_timeout = ${joinMsMax}` },
    {
      text: `INSERT INTO ${tables}.store AS s VALUES ('settings', '{}')
        ON CONFLICT (key) DO UPDATE SET value = s.value RETURNING value`,
    },
    {
      text: `SELECT count(*) AS count FROM ${tables}.node WHERE seen_at > ${databaseNow} - ${runningMsMax}`,
    },
  );
  const wanted = new Map(Object.entries(settings));
  const kept = new Map(Object.entries<string>(JSON.parse(String(row?.rows[0]?.['value']))));
  const different = [...wanted.keys()].filter(
    (name) => kept.has(name) && kept.get(name) !== wanted.get(name),
  );
  if (different.length > 0 && running?.rows[0]?.['count'] !== 0) {
    await connection.goOn({ text: 'ROLLBACK' });
    const said = (values: ReadonlyMap<string, string>): string =>
      different.map((name) => `--${name} ${values.get(name)}`).join(' ');
    throw new Error(
      `other servers that use it have ${said(kept)}, and this one has ${said(wanted)}: start all with the same, or stop the others first; one that was killed counts for ${runningMsMax / 1000} seconds`,
    );
  }
  await join();
  await connection.goOn(
    {
      text: `UPDATE ${tables}.store SET value = $1 WHERE key = 'settings'`,
      values: [JSON.stringify(Object.fromEntries([...kept, ...wanted]))],
    },
    // The time of another kind of clock means something else.
    {
      text: `DELETE FROM ${tables}.store WHERE key = 'clock' AND $1`,
      values: [different.includes('clock')],
    },
    { text: 'COMMIT' },
  );
}

/** Others join in milliseconds. */
const joinMsMax = 5_000;
