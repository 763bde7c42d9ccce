/**
 * An outbox in the producer's own PostgreSQL: a message is kept in the transaction that makes its event true, or not at
 * all. `append` uses the caller's connection; `pg` itself is not imported.
 *
 * No lock orders the appends of a group, because the order that matters holds without one. An id is drawn when a message
 * is inserted, and the sequence only grows. If an append begins after another one was committed, it therefore has the larger
 * id; and whoever sees the later message also sees the earlier one, because a snapshot in PostgreSQL that contains a commit
 * contains all commits before it. So if the relay reads a group in one statement, and of its unsent messages takes the one
 * with the smallest id, everything that was committed before that message was appended has been sent or parked. Appends of
 * transactions that overlap have no order: a smaller id can be committed, and sent, after a larger one. Hence append after
 * the change that the message tells of: where the rows of two changes exclude each other, their messages are in order.
 *
 * Two conditions: the sequence of the ids must not be changed to draw numbers in advance (CACHE above 1), and the relay must
 * read the primary, because on a standby commits can become visible in another order. Each append notifies the relay, which
 * PostgreSQL tells at the commit.
 *
 * After an outage there can be any number of unsent messages, in one group or in as many groups. So `take` reads neither
 * all messages nor all groups: it goes through the index from group to group and reads only the first entry of each,
 * beginning where the last `take` ended, so that every group gets its turn.
 */

import { sha256 } from '../contract/canonical.ts';
import { ContractError } from '../contract/refusals.ts';
import { keyReused, scopedKey } from '../contract/reused-key.ts';
import { inTransaction, listenTo, type Pool, type Queryable, tableName } from '../database.ts';
import type { ProducerMessage } from '../producer/send.ts';
import {
  countedMax,
  eventKeyOf,
  type KeptMessage,
  type Outbox,
  prunedMax,
  type TimeRange,
  timeToKeep,
} from './outbox.ts';

export interface PostgresOutboxOptions {
  readonly pool: Pool;
  /** With or without a schema; default oncemq_outbox. */
  readonly table?: string;
  /** Epoch milliseconds; default: the system clock. */
  readonly now?: () => number;
}

export interface PostgresOutbox extends Outbox {
  /**
   * Keeps the message in the transaction that is open on the connection and resolves to its id; for a message that is
   * kept already, to the id it has. Throws a ContractError if the key was used for another body. Waits for a transaction
   * that has appended the same key: two that append the same keys in opposite order deadlock (40P01), as on any unique
   * index, and the one that fails can be repeated.
   */
  append(connection: Queryable, message: ProducerMessage): Promise<number>;
  /** The same for several messages, also of several groups; at most 1,000. */
  append(connection: Queryable, messages: readonly ProducerMessage[]): Promise<number[]>;
  /** Creates the table and its indexes if they do not exist, and adds what a table of an earlier version lacks. */
  migrate(): Promise<void>;
}

interface Row {
  /** pg returns 64-bit integers as strings. */
  readonly id: string;
  readonly appended_at: string;
  readonly body: string;
  readonly group_id: string;
  readonly attributes: Readonly<Record<string, string>> | null;
}

interface ParkedRow extends Row {
  readonly parked_at: string;
  readonly parked_reason: string;
}

type Head = Pick<Row, 'id' | 'group_id'>;

const columns = 'id, appended_at, body, group_id, attributes';
const pageSize = 100;
const appendedMax = 1_000;
/** The largest time a Date can hold; a range may be open-ended (Infinity), which a bigint column cannot take. */
const timeMax = 8.64e15;

export function postgresOutbox(options: PostgresOutboxOptions): PostgresOutbox {
  const { pool, now = Date.now } = options;
  const name = options.table ?? 'oncemq_outbox';
  const table = tableName(name);
  /** PostgreSQL cuts longer names off. */
  const channel = `oncemq ${sha256(name).slice(0, 32)}`;

  const appendAll = async (
    connection: Queryable,
    messages: readonly ProducerMessage[],
  ): Promise<number[]> => {
    if (messages.length > appendedMax) {
      throw new RangeError(`An append takes at most ${appendedMax} messages.`);
    }
    for (const message of messages) timeToKeep(message);
    const ids: number[] = [];
    for (const message of messages) ids.push(await insert(connection, message));
    await connection.query('select pg_notify($1, $2)::text', [channel, '']);
    return ids;
  };

  const insert = async (connection: Queryable, message: ProducerMessage): Promise<number> => {
    const { body, groupId, attributes } = message;
    const time = timeToKeep(message);
    const event = eventKeyOf(message);
    // Its hash, because an index entry has room for 2,704 bytes.
    const eventKey = sha256(scopedKey(event));
    const kept = attributes === undefined ? null : attributes;
    const { rows } = await connection.query(
      `insert into ${table} (appended_at, event_time, group_id, body, attributes, event_key)
       values ($1, $2, $3, $4, $5, $6) on conflict (event_key) do nothing returning id`,
      [now(), time, groupId, body, kept, eventKey],
    );
    const [row] = rows as Row[];
    if (row !== undefined) return Number(row.id);
    const { rows: known } = await connection.query(
      `select id, body from ${table} where event_key = $1`,
      [eventKey],
    );
    const [before] = known as Row[];
    if (before?.body !== body) throw new ContractError(keyReused(event));
    return Number(before.id);
  };

  /** The last group that was taken. */
  let lastGroup = '';

  /**
   * The oldest unsent message of each group, at most `limit`, in order of the groups. PostgreSQL computes only as many
   * rows of the recursion as the limit asks for; the groups left out are passed on the way, with one index lookup each.
   * Each statement has a snapshot of its own, but a group belongs to one of the two.
   */
  const heads = async (
    connection: Queryable,
    limit: number,
    leaveOut: ReadonlySet<string>,
  ): Promise<readonly Head[]> => {
    const found: Head[] = [];
    for (const part of ['group_id > $1', 'group_id <= $1']) {
      const { rows } = await connection.query(
        `with recursive heads as (
           (select group_id, id from ${table}
            where sent_at is null and parked_at is null and ${part} order by group_id, id limit 1)
           union all
           select next.* from heads, lateral (
             select group_id, id from ${table}
             where sent_at is null and parked_at is null and ${part} and group_id > heads.group_id
             order by group_id, id limit 1
           ) next
         )
         select group_id, id from heads where group_id <> all ($2) limit $3`,
        [lastGroup, [...leaveOut], limit - found.length],
      );
      found.push(...(rows as Head[]));
    }
    return found;
  };

  const take: Outbox['take'] = (limit, leaveOut, work) =>
    inTransaction(pool, async (connection) => {
      const { rows: locked } = await connection.query(
        'select pg_try_advisory_xact_lock(hashtextextended($1, 1)) as is_mine',
        [name],
      );
      if (!(locked[0] as { is_mine: boolean }).is_mine) return 0;
      const taken = await heads(connection, limit, leaveOut);
      lastGroup = taken.at(-1)?.group_id ?? lastGroup;
      const { rows } = await connection.query(
        `select ${columns} from ${table} where id = any ($1) order by id`,
        [taken.map(({ id }) => id)],
      );
      if (rows.length === 0) return 0;
      const { sent, parked = [] } = await work((rows as Row[]).map(keptOf));
      await connection.query(`update ${table} set sent_at = $1 where id = any ($2)`, [now(), sent]);
      for (const { id, reason } of parked) {
        await connection.query(
          `update ${table} set parked_at = $1, parked_reason = $2 where id = $3`,
          [now(), reason, id],
        );
      }
      return rows.length;
    });

  const between = async function* ({ from, to }: TimeRange): AsyncIterable<KeptMessage> {
    let after = 0;
    for (;;) {
      const { rows } = await pool.query(
        `select ${columns} from ${table}
         where event_time >= $1 and event_time < $2 and id > $3 order by id limit $4`,
        [timeOf(from), timeOf(to), after, pageSize],
      );
      if (rows.length === 0) return;
      const page = (rows as Row[]).map(keptOf);
      yield* page;
      after = (page.at(-1) as KeptMessage).id;
    }
  };

  const unpark = async (change: string, values: readonly unknown[]): Promise<boolean> => {
    const { rows } = await pool.query(
      `update ${table} set parked_at = null, parked_reason = null${change}
       where id = $1 and parked_at is not null returning id`,
      [...values],
    );
    return rows.length > 0;
  };

  const append = async (
    connection: Queryable,
    given: ProducerMessage | readonly ProducerMessage[],
  ): Promise<number | number[]> =>
    isList(given)
      ? appendAll(connection, given)
      : ((await appendAll(connection, [given]))[0] as number);

  return {
    append: append as PostgresOutbox['append'],
    take,
    between,
    parked: async (limit, after = 0) => {
      const { rows } = await pool.query(
        `select ${columns}, parked_at, parked_reason from ${table}
         where parked_at is not null and id > $1 order by id limit $2`,
        [after, limit],
      );
      return (rows as ParkedRow[]).map((row) => ({
        ...keptOf(row),
        reason: row.parked_reason,
        parkedAt: Number(row.parked_at),
      }));
    },
    retry: async (id) => {
      const isFound = await unpark('', [id]);
      if (isFound) await pool.query('select pg_notify($1, $2)', [channel, '']);
      return isFound;
    },
    skip: (id) => unpark(', sent_at = $2', [id, now()]),
    backlog: async () => {
      const { rows } = await pool.query(
        `select
           (select count(*) from (select from ${table}
              where sent_at is null and parked_at is null limit ${countedMax}) as counted) as unsent,
           (select appended_at from ${table}
              where sent_at is null and parked_at is null order by id limit 1) as oldest_at,
           (select count(*) from (select from ${table}
              where parked_at is not null limit ${countedMax}) as counted) as parked`,
      );
      const { unsent, oldest_at, parked } = rows[0] as Record<string, string | null>;
      return {
        unsent: Number(unsent),
        oldestAt: oldest_at == null ? undefined : Number(oldest_at),
        parked: Number(parked),
      };
    },
    listen: (wake, lost) => listenTo(pool, channel, wake, lost),
    prune: async (before) => {
      for (;;) {
        const { rows } = await pool.query(
          `delete from ${table} where id in (
             select id from ${table} where sent_at is not null and appended_at < $1
             order by id limit ${prunedMax}
           ) returning id`,
          [before],
        );
        if (rows.length < prunedMax) return;
      }
    },
    migrate: async () => {
      await pool.query(
        `create table if not exists ${table} (
           id bigint generated always as identity primary key,
           appended_at bigint not null,
           event_time bigint not null,
           sent_at bigint,
           group_id text not null,
           body text not null,
           attributes jsonb,
           event_key text,
           parked_at bigint,
           parked_reason text
         )`,
      );
      await pool.query(
        `alter table ${table} add column if not exists event_key text,
           add column if not exists parked_at bigint, add column if not exists parked_reason text`,
      );
      const index = (suffix: string): string => tableName(`${name.split('.').at(-1)}_${suffix}`);
      await pool.query(
        `create unique index if not exists ${index('keys')} on ${table} (event_key)`,
      );
      await pool.query(
        `create index if not exists ${index('waiting')} on ${table} (group_id, id)
         where sent_at is null and parked_at is null`,
      );
      await pool.query(
        `create index if not exists ${index('parked')} on ${table} (id) where parked_at is not null`,
      );
      // Of versions that parked nothing.
      await pool.query(`drop index if exists ${tableName(`${name}_unsent`)}`);
    },
  };
}

function isList(
  given: ProducerMessage | readonly ProducerMessage[],
): given is readonly ProducerMessage[] {
  return Array.isArray(given);
}

function timeOf(time: number): number {
  return Math.trunc(Math.min(Math.max(time, -timeMax), timeMax));
}

function keptOf({ id, appended_at, body, group_id: groupId, attributes }: Row): KeptMessage {
  const message = attributes === null ? { body, groupId } : { body, groupId, attributes };
  return { id: Number(id), message, appendedAt: Number(appended_at) };
}
