/**
 * Keeps the journal short: rows become records (checkpoint.ts), and leave the journal a while later, so that nodes that are
 * a little behind need not load their owners again. One node at a time works on an owner, under the lock of its row in
 * `checkpoint`; batches do not wait for it.
 */

import { catalog } from '../../core/changes.ts';
import { DamagedError } from '../records/bytes.ts';
import { checkpointOf } from './checkpoint.ts';
import type { Connection, Statement } from './connection.ts';
import { contentsIn } from './content-codec.ts';
import { catalogNumber, type JournalRow } from './journal.ts';
import { UnknownFormat } from './journal-row.ts';
import { quoted } from './schema.ts';

export interface CheckpointsOptions {
  readonly schema: string;
  readonly connection: Connection;
  /** The latest format of journal rows that this node reads. */
  readonly reads?: number;
}

/** Owners of one round; checkpoints of one owner in a round; rows of one checkpoint, and their bytes. */
const ownersMax = 200;
const checkpointsMax = 20;
const rowsMax = 500;
const rowBytesMax = 16 * 1024 * 1024;
/** Rows stay in the journal for about this long after they have become records. */
const keptMs = 60_000;
/** Rows and records of an owner that is gone are removed so many at a time. */
const sweptMax = 5_000;

interface State {
  readonly version: number;
  readonly trimTo: number;
  readonly trimAt: number;
  /** Of the owner. */
  readonly latest: number;
}

export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #schema: string;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
    this.#schema = quoted(options.schema);
  }

  async round(isOver: () => boolean): Promise<void> {
    const { connection } = this.#options;
    const schema = this.#schema;
    const [rows] = await connection.run({
      text: `SELECT o.number, o.name, o.is_gone AS "isGone" FROM ${schema}.owner o
        LEFT JOIN ${schema}.checkpoint c USING (number)
        WHERE o.is_gone OR o.version > coalesce(c.version, 0) OR (c.trim_to > 0 AND c.trim_at < $1)
        -- Those with the most rows first: where many are busy, none is passed over for ever.
        ORDER BY o.version - coalesce(c.version, 0) DESC LIMIT ${ownersMax}`,
      values: [Date.now()],
    });
    for (const { number, name, isGone } of rows?.rows ?? []) {
      if (isOver()) return;
      if (isGone === true) await this.sweep(Number(number));
      else {
        await this.#checkpointAll(Number(number), String(name)).catch(async (error: unknown) => {
          await connection.goOn({ text: 'ROLLBACK' });
          // Rows of a later version are left to its servers; and no damaged row keeps other owners from their turn.
          if (!(error instanceof UnknownFormat || error instanceof DamagedError)) throw error;
        });
      }
    }
  }

  async #checkpointAll(number: number, name: string): Promise<void> {
    for (let count = 0; count < checkpointsMax; count += 1) {
      if (await this.checkpoint(number, name)) return;
    }
  }

  /** Turns the owner's next rows into records. Returns whether those were all. */
  async checkpoint(number: number, name: string): Promise<boolean> {
    const { connection } = this.#options;
    const schema = this.#schema;
    await connection.run({
      text: `INSERT INTO ${schema}.checkpoint VALUES ($1, 0, 0, 0) ON CONFLICT DO NOTHING`,
      values: [number],
    });
    const [, held, found] = await connection.run(
      { text: "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'" },
      {
        text: `SELECT c.version, c.trim_to AS "trimTo", c.trim_at AS "trimAt", o.version AS latest
          FROM ${schema}.checkpoint c JOIN ${schema}.owner o USING (number)
          WHERE c.number = $1 FOR UPDATE OF c SKIP LOCKED`,
        values: [number],
      },
      {
        text: `WITH next AS (
            SELECT * FROM ${schema}.journal
            WHERE number = $1 AND version > (SELECT version FROM ${schema}.checkpoint WHERE number = $1)
            ORDER BY version LIMIT ${rowsMax}
          ), sized AS (
            SELECT *, sum(octet_length(changes) + octet_length(contents)) OVER w AS bytes,
              row_number() OVER w AS nth
            FROM next WINDOW w AS (ORDER BY version)
          )
          SELECT number, version, id, changes, contents FROM sized
          WHERE nth = 1 OR bytes <= ${rowBytesMax} ORDER BY version`,
        values: [number],
      },
    );
    const state = held?.rows[0] as unknown as State | undefined;
    if (state === undefined) {
      await connection.goOn({ text: 'ROLLBACK' });
      return true;
    }
    const rows = (found?.rows ?? []) as unknown as (JournalRow & { contents: Buffer })[];
    const owner = number === catalogNumber ? catalog : name;
    const records = checkpointOf(
      owner,
      rows.map((row) => ({ row, contents: contentsIn(row.contents) })),
      this.#options.reads,
    );
    const now = Date.now();
    const isTrimming = state.trimAt < now;
    const version = rows.at(-1)?.version ?? state.version;
    const next = isTrimming
      ? { trimTo: version, trimAt: now + keptMs }
      : { trimTo: state.trimTo, trimAt: state.trimAt };
    const statements: Statement[] = [
      ...records.ranges.map(({ start, end }) => ({
        text: `DELETE FROM ${schema}.record WHERE number = $1 AND key >= $2 AND key < $3`,
        values: [number, start, end],
      })),
      {
        text: `DELETE FROM ${schema}.record WHERE number = $1 AND key = ANY($2::bytea[])`,
        values: [number, records.removed],
      },
      {
        text: `INSERT INTO ${schema}.record SELECT $1, * FROM unnest($2::bytea[], $3::bytea[])
          ON CONFLICT (number, key) DO UPDATE SET value = excluded.value`,
        values: [
          number,
          records.written.map(({ key }) => key),
          records.written.map(({ value }) => value),
        ],
      },
      ...(isTrimming
        ? [
            {
              text: `DELETE FROM ${schema}.journal WHERE number = $1 AND version <= $2`,
              values: [number, state.trimTo],
            },
          ]
        : []),
      {
        text: `UPDATE ${schema}.checkpoint SET version = $2, trim_to = $3, trim_at = $4 WHERE number = $1`,
        values: [
          number,
          version,
          next.trimTo === state.trimTo && isTrimming ? 0 : next.trimTo,
          next.trimAt,
        ],
      },
      { text: 'COMMIT' },
    ];
    await connection.goOn(...statements);
    return version >= state.latest;
  }

  /** Removes what is left of an owner that is gone, a part at a time. */
  async sweep(number: number): Promise<void> {
    const schema = this.#schema;
    const part = (table: string, key: string): Statement => ({
      text: `DELETE FROM ${schema}.${table} WHERE number = $1 AND ${key} IN
        (SELECT ${key} FROM ${schema}.${table} WHERE number = $1 LIMIT ${sweptMax}) RETURNING 1`,
      values: [number],
    });
    const [rows, records] = await this.#options.connection.run(
      part('journal', 'version'),
      part('record', 'key'),
      { text: `DELETE FROM ${schema}.checkpoint WHERE number = $1`, values: [number] },
    );
    if ((rows?.rows.length ?? 0) + (records?.rows.length ?? 0) > 0) return;
    await this.#options.connection.run({
      text: `DELETE FROM ${schema}.owner WHERE number = $1 AND is_gone`,
      values: [number],
    });
  }
}
