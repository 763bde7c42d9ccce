/**
 * How long the journal is, and how far the records are behind it, for people and alerts. It is looked at every few seconds
 * and not when somebody asks, so that any number of scrapes costs the database nothing. Size and rows are what the database
 * knows anyway; the age of the oldest row is looked up for a bounded number of owners: where a checkpoint fails, an owner
 * that is in use has the most rows, and one that is not has been left alone for the longest.
 */

import type { JournalState } from '../backend.ts';
import type { Connection } from './connection.ts';
import { rowHeadBytes, timeOfRow } from './journal-row.ts';
import { quoted } from './schema.ts';

export interface JournalLookOptions {
  readonly schema: string;
  readonly connection: Connection;
  /** The latest format of journal rows that this node reads. */
  readonly reads: number;
  /** The time by which rows are written, given the database's own. */
  readonly now: (databaseNow: number) => number;
}

const lookMs = 10_000;
/** Of either order. */
const ownersMax = 50;

export class JournalLook {
  readonly #options: JournalLookOptions;
  #state: JournalState | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: JournalLookOptions) {
    this.#options = options;
  }

  /** Undefined until it was looked at. */
  get state(): JournalState | undefined {
    return this.#state;
  }

  start(): void {
    if (this.#isClosed) return;
    // Health tells whether the database answers; it is looked at again with the next round.
    this.#looking = this.look()
      .catch(() => {})
      .finally(() => {
        if (this.#isClosed) return;
        this.#timer = setTimeout(() => this.start(), lookMs);
        this.#timer.unref();
      });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async look(): Promise<void> {
    const { connection, reads, now } = this.#options;
    const schema = quoted(this.#options.schema);
    const behind = `SELECT o.number, coalesce(c.version, 0) AS version,
        o.version - coalesce(c.version, 0) AS pending, o.time
      FROM ${schema}.owner o LEFT JOIN ${schema}.checkpoint c USING (number)
      WHERE NOT o.is_gone AND o.version > coalesce(c.version, 0)`;
    const [sizes, oldest] = await connection.run(
      {
        text: `SELECT pg_total_relation_size($1::regclass)::bigint AS bytes,
          coalesce(pg_stat_get_live_tuples($1::regclass), 0)::bigint AS rows,
          (SELECT coalesce(sum(pending), 0)::bigint FROM (${behind}) b) AS pending,
          (extract(epoch from clock_timestamp()) * 1000)::bigint AS now`,
        values: [`${schema}.journal`],
      },
      {
        text: `WITH behind AS (${behind})
          SELECT substring(j.changes FROM 1 FOR ${rowHeadBytes}) AS head
          FROM ((SELECT * FROM behind ORDER BY time LIMIT ${ownersMax}) UNION
            (SELECT * FROM behind ORDER BY pending DESC LIMIT ${ownersMax})) b
          CROSS JOIN LATERAL (SELECT changes FROM ${schema}.journal
            WHERE number = b.number AND version > b.version ORDER BY version LIMIT 1) j`,
      },
    );
    const found = sizes?.rows[0];
    const at = now(Number(found?.['now']));
    const times = (oldest?.rows ?? []).flatMap(
      ({ head }) => timeOfRow(head as Buffer, reads) ?? [],
    );
    this.#state = {
      rows: Number(found?.['rows']),
      bytes: Number(found?.['bytes']),
      pendingRows: Number(found?.['pending']),
      lagMs: Math.max(0, at - Math.min(at, ...times)),
    };
  }
}
