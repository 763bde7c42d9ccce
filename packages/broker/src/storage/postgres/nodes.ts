/**
 * The table of nodes: each renews its row every few seconds. From the rows of those that live follows which format of
 * journal rows all of them read; no node writes a later one, so that servers of two versions can run side by side. Nothing
 * else depends on it: a node that is not in the table works as well.
 */

import { randomUUID } from 'node:crypto';
import type { ClusterNode } from '../backend.ts';
import type { Connection } from './connection.ts';
import { latestFormat } from './journal-row.ts';
import { quoted } from './schema.ts';

export interface NodesOptions {
  readonly schema: string;
  readonly connection: Connection;
  /** Of the program. */
  readonly version: string;
  /** For people: which of the nodes this is. */
  readonly name?: string | undefined;
  /** The latest format that this node reads; default: the one of this version. */
  readonly reads?: number | undefined;
  /** Where other nodes reach this one. */
  readonly address?: string | undefined;
  /** The database did not answer, twice, or refused. */
  readonly onFailure: (error: unknown) => void;
}

const beatMs = 2_000;
/** A node that was not seen for this long is not running. */
export const runningMsMax = 10_000;
/** It may still come back, as after a pause, and read what others have written meanwhile. */
export const returningMsMax = 60_000;
const forgottenMsMin = 3_600_000;

/** In SQL, as milliseconds. */
export const databaseNow = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** The nodes that were seen within so many milliseconds, the longest running first. */
export async function nodesSeen(
  connection: Connection,
  schema: string,
  withinMs: number = runningMsMax,
): Promise<readonly ClusterNode[]> {
  const [rows] = await connection.run({
    text: `SELECT id, name, started_at AS "startedAt", seen_at AS "seenAt", version, reads AS format, address,
        seen_at > ${databaseNow} - ${runningMsMax} AS "isRunning"
      FROM ${quoted(schema)}.node WHERE seen_at > ${databaseNow} - $1::bigint ORDER BY started_at, id`,
    values: [withinMs],
  });
  return (rows?.rows ?? []) as unknown as ClusterNode[];
}

export class Nodes {
  readonly id: string = randomUUID();
  readonly #options: NodesOptions;
  readonly #reads: number;
  readonly #table: string;
  #writes: number;
  #seen: readonly ClusterNode[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isGone = false;

  constructor(options: NodesOptions) {
    const { reads = latestFormat, schema } = options;
    this.#options = options;
    this.#reads = reads;
    this.#writes = reads;
    this.#table = `${quoted(schema)}.node`;
  }

  /** The latest format of journal rows that every living node reads. */
  get writes(): number {
    return this.#writes;
  }

  /** Those that live, and those that were seen within the last minute, as of the last beat. */
  get seen(): readonly ClusterNode[] {
    return this.#seen;
  }

  /** Before anything is written. */
  async join(): Promise<void> {
    await this.#beat();
    this.#plan();
  }

  /** The others need not wait for it any more. */
  async leave(): Promise<void> {
    this.#isGone = true;
    clearTimeout(this.#timer);
    const { connection } = this.#options;
    const left = { text: `DELETE FROM ${this.#table} WHERE id = $1`, values: [this.id] };
    // A database that is away forgets it later.
    if (connection.isOpen) await connection.run(left).catch(() => {});
  }

  /** A connection may have broken; another one is made at once. */
  #plan(): void {
    if (this.#isGone) return;
    this.#timer = setTimeout(() => {
      this.#beat()
        .catch(() => this.#beat())
        .catch((error: unknown) => this.#options.onFailure(error))
        .finally(() => this.#plan());
    }, beatMs);
    this.#timer.unref();
  }

  /** Says that this node lives, and looks who else does. */
  async #beat(): Promise<void> {
    const { connection, version, name = null, address = null, schema } = this.#options;
    await connection.run(
      { text: 'BEGIN; SET LOCAL synchronous_commit = off' },
      {
        text: `INSERT INTO ${this.#table} (id, started_at, seen_at, reads, version, name, address)
          VALUES ($1, ${databaseNow}, ${databaseNow}, $2, $3, $4, $5)
          ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, address = excluded.address`,
        values: [this.id, this.#reads, version, name, address],
      },
      {
        text: `DELETE FROM ${this.#table} WHERE seen_at < ${databaseNow} - ${forgottenMsMin}`,
      },
      { text: 'COMMIT' },
    );
    this.#seen = await nodesSeen(connection, schema, returningMsMax);
    this.#writes = Math.min(this.#reads, ...this.#seen.map(({ format }) => format));
  }
}
