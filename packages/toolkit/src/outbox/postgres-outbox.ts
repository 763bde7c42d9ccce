/**
 * An outbox in the producer's own PostgreSQL: a message is kept in the transaction that makes its event true, or not at
 * all. `append` uses the caller's connection; `pg` itself is not imported.
 *
 * Ids are assigned when a message is inserted, not when its transaction commits. To make the order of ids the order of
 * commits within a group, `append` holds a lock on the group until the transaction ends.
 *
 * After an outage there can be any number of unsent messages, in one group or in as many groups. So `take` reads neither
 * all messages nor all groups: it goes through the index from group to group and reads only the first entry of each,
 * beginning where the last `take` ended, so that every group gets its turn.
 */

import { inTransaction, type Pool, type Queryable, tableName } from '../database.ts';
import type { ProducerMessage } from '../producer/send.ts';
import { type KeptMessage, type Outbox, type TimeRange, timeToKeep } from './outbox.ts';

export interface PostgresOutboxOptions {
  readonly pool: Pool;
  /** With or without a schema; default oncemq_outbox. */
  readonly table?: string;
  /** Epoch milliseconds; default: the system clock. */
  readonly now?: () => number;
}

export interface PostgresOutbox extends Outbox {
  /** Keeps the message in the transaction that is open on the connection. */
  append(connection: Queryable, message: ProducerMessage): Promise<number>;
  /** Creates the table and its index if they do not exist. */
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

type Head = Pick<Row, 'id' | 'group_id'>;

const columns = 'id, appended_at, body, group_id, attributes';
const pageSize = 100;
/** The largest time a Date can hold; a range may be open-ended (Infinity), which a bigint column cannot take. */
const timeMax = 8.64e15;

export function postgresOutbox(options: PostgresOutboxOptions): PostgresOutbox {
  const { pool, now = Date.now } = options;
  const name = options.table ?? 'oncemq_outbox';
  const table = tableName(name);

  const append = async (connection: Queryable, message: ProducerMessage): Promise<number> => {
    const { body, groupId, attributes } = message;
    await connection.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `${name} ${groupId}`,
    ]);
    const { rows } = await connection.query(
      `insert into ${table} (appended_at, event_time, group_id, body, attributes)
       values ($1, $2, $3, $4, $5) returning id`,
      [now(), timeToKeep(message), groupId, body, attributes === undefined ? null : attributes],
    );
    return Number((rows[0] as Row).id);
  };

  /** The last group that was taken. */
  let lastGroup = '';

  /**
   * The oldest unsent message of each group, at most `limit`, in order of the groups. PostgreSQL computes only as many
   * rows of the recursion as the limit asks for; the groups left out are passed on the way, with one index lookup each.
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
            where sent_at is null and ${part} order by group_id, id limit 1)
           union all
           select next.* from heads, lateral (
             select group_id, id from ${table}
             where sent_at is null and ${part} and group_id > heads.group_id
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
      const sent = await work((rows as Row[]).map(keptOf));
      await connection.query(`update ${table} set sent_at = $1 where id = any ($2)`, [now(), sent]);
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

  return {
    append,
    take,
    between,
    prune: async (before) => {
      await pool.query(`delete from ${table} where sent_at is not null and appended_at < $1`, [
        before,
      ]);
    },
    migrate: async () => {
      const index = tableName(`${name.split('.').at(-1)}_unsent`);
      await pool.query(
        `create table if not exists ${table} (
           id bigint generated always as identity primary key,
           appended_at bigint not null,
           event_time bigint not null,
           sent_at bigint,
           group_id text not null,
           body text not null,
           attributes jsonb
         )`,
      );
      await pool.query(
        `create index if not exists ${index} on ${table} (group_id, id) where sent_at is null`,
      );
    },
  };
}

function timeOf(time: number): number {
  return Math.trunc(Math.min(Math.max(time, -timeMax), timeMax));
}

function keptOf({ id, appended_at, body, group_id: groupId, attributes }: Row): KeptMessage {
  const message = attributes === null ? { body, groupId } : { body, groupId, attributes };
  return { id: Number(id), message, appendedAt: Number(appended_at) };
}
