/**
 * An outbox in the producer's own SQLite: a message is kept in the transaction that makes its event true, or not at all.
 * `append` uses the caller's connection. SQLite has one writer at a time, so the order of ids is the order of commits.
 *
 * A relay sends outside of a transaction, which would lock the database while the network is slow. Instead it holds a lease,
 * in a second table, so that of several relays one sends at a time.
 */

import { randomUUID } from 'node:crypto';
import { sha256 } from '../contract/canonical.ts';
import { ContractError } from '../contract/refusals.ts';
import { keyReused, scopedKey } from '../contract/reused-key.ts';
import { tableName } from '../database.ts';
import type { ProducerMessage } from '../producer/send.ts';
import { type RunSql, type SqlValue, Turns } from '../sqlite.ts';
import {
  countedMax,
  eventKeyOf,
  type KeptMessage,
  type Outbox,
  prunedMax,
  timeToKeep,
} from './outbox.ts';

export interface SqliteOutboxOptions {
  /** The relay's connection. */
  readonly run: RunSql;
  /** Default oncemq_outbox. */
  readonly table?: string;
  /** Epoch milliseconds; default: the system clock. */
  readonly now?: () => number;
}

export interface SqliteOutbox extends Outbox {
  /**
   * Keeps the message in the transaction that is open on the connection and resolves to its id; for a message that is
   * kept already, to the id it has. Throws a ContractError if the key was used for another body.
   */
  append(run: RunSql, message: ProducerMessage): Promise<number>;
  /** Creates the tables and their indexes if they do not exist. */
  migrate(): Promise<void>;
}

interface Row {
  readonly id: number;
  readonly appended_at: number;
  readonly body: string;
  readonly group_id: string;
  readonly attributes: string | null;
  readonly parked_at: number | null;
  readonly parked_reason: string | null;
}

/** Longer than the requests of one take; a relay that was killed is replaced after this time. */
const leaseMs = 300_000;
const pageSize = 100;
const isWaiting = 'sent_at is null and parked_at is null';

export function sqliteOutbox(options: SqliteOutboxOptions): SqliteOutbox {
  const { run, now = Date.now } = options;
  const name = options.table ?? 'oncemq_outbox';
  const table = tableName(name);
  const lease = tableName(`${name}_lease`);
  const holder = randomUUID();
  const turns = new Turns();
  /** The last group that was taken. */
  let lastGroup = '';

  const rowsOf = async (text: string, values: SqlValue[]): Promise<readonly Row[]> =>
    (await run(text, values)) as readonly Row[];

  const append = async (connection: RunSql, message: ProducerMessage): Promise<number> => {
    const { body, groupId, attributes } = message;
    const time = timeToKeep(message);
    const event = eventKeyOf(message);
    const eventKey = sha256(scopedKey(event));
    const find = async (): Promise<Row | undefined> =>
      (await connection(`select id, body from ${table} where event_key = ?`, [eventKey]))[0] as
        | Row
        | undefined;
    const kept = await find();
    if (kept !== undefined) {
      if (kept.body !== body) throw new ContractError(keyReused(event));
      return kept.id;
    }
    await connection(
      `insert into ${table} (appended_at, event_time, group_id, body, attributes, event_key)
       values (?, ?, ?, ?, ?, ?)`,
      [
        now(),
        time,
        groupId,
        body,
        attributes === undefined ? null : JSON.stringify(attributes),
        eventKey,
      ],
    );
    return ((await find()) as Row).id;
  };

  const holdLease = async (): Promise<boolean> => {
    await run(`insert or ignore into ${lease} (id, holder, until) values (1, '', 0)`, []);
    await run(`update ${lease} set holder = ?, until = ? where holder = ? or until <= ?`, [
      holder,
      now() + leaseMs,
      holder,
      now(),
    ]);
    const [row] = await run(`select holder from ${lease}`, []);
    return (row as { holder: string }).holder === holder;
  };

  /** The first waiting message of each group, beginning after the last group taken, so that every group gets its turn. */
  const heads = async (limit: number, leaveOut: ReadonlySet<string>): Promise<readonly Row[]> => {
    const found: Row[] = [];
    const start = lastGroup;
    for (const part of ['after', 'before'] as const) {
      let group = part === 'after' ? start : '';
      while (found.length < limit) {
        const [head] = await rowsOf(
          `select * from ${table} where ${isWaiting} and group_id > ? order by group_id, id limit 1`,
          [group],
        );
        if (head === undefined || (part === 'before' && head.group_id > start)) break;
        group = head.group_id;
        if (!leaveOut.has(group)) found.push(head);
      }
    }
    lastGroup = found.at(-1)?.group_id ?? lastGroup;
    return found.sort((a, b) => a.id - b.id);
  };

  let isTaken = false;
  const take: Outbox['take'] = async (limit, leaveOut, work) => {
    if (isTaken) return 0;
    isTaken = true;
    try {
      if (!(await turns.take(holdLease))) return 0;
      const taken = await turns.take(() => heads(limit, leaveOut));
      if (taken.length === 0) return 0;
      const { sent, parked = [] } = await work(taken.map(keptOf));
      await turns.take(async () => {
        for (const id of sent)
          await run(`update ${table} set sent_at = ? where id = ?`, [now(), id]);
        for (const { id, reason } of parked) {
          await run(`update ${table} set parked_at = ?, parked_reason = ? where id = ?`, [
            now(),
            reason,
            id,
          ]);
        }
      });
      return taken.length;
    } finally {
      isTaken = false;
      // What is not released, because the process was killed, is free again after its time.
      await turns.take(async () => run(`update ${lease} set until = 0 where holder = ?`, [holder]));
    }
  };

  const unpark = (id: number, sentAt: number | null): Promise<boolean> =>
    turns.take(async () => {
      const found = await run(`select id from ${table} where id = ? and parked_at is not null`, [
        id,
      ]);
      await run(
        `update ${table} set parked_at = null, parked_reason = null, sent_at = ?
         where id = ? and parked_at is not null`,
        [sentAt, id],
      );
      return found.length > 0;
    });

  return {
    append,
    take,
    retry: (id) => unpark(id, null),
    skip: (id) => unpark(id, now()),
    parked: async (limit, after = 0) =>
      (
        await rowsOf(
          `select * from ${table} where parked_at is not null and id > ? order by id limit ?`,
          [after, limit],
        )
      ).map((row) => ({
        ...keptOf(row),
        reason: row.parked_reason ?? '',
        parkedAt: Number(row.parked_at),
      })),
    backlog: async () => {
      const [row] = await run(
        `select
           (select count(*) from (select 1 from ${table} where ${isWaiting} limit ${countedMax})) as unsent,
           (select appended_at from ${table} where ${isWaiting} order by id limit 1) as oldest_at,
           (select count(*) from (select 1 from ${table}
              where parked_at is not null limit ${countedMax})) as parked`,
        [],
      );
      const { unsent, oldest_at, parked } = row as Record<string, number | null>;
      return {
        unsent: Number(unsent),
        oldestAt: oldest_at == null ? undefined : Number(oldest_at),
        parked: Number(parked),
      };
    },
    between: async function* ({ from, to }) {
      let after = 0;
      for (;;) {
        const rows = await rowsOf(
          `select * from ${table} where event_time >= ? and event_time < ? and id > ?
           order by id limit ${pageSize}`,
          [Math.max(from, -Number.MAX_VALUE), Math.min(to, Number.MAX_VALUE), after],
        );
        if (rows.length === 0) return;
        yield* rows.map(keptOf);
        after = (rows.at(-1) as Row).id;
      }
    },
    prune: async (before) => {
      const chosen = `select id from ${table} where sent_at is not null and appended_at < ?
        order by id limit ${prunedMax}`;
      while ((await run(chosen, [before])).length > 0) {
        await run(`delete from ${table} where id in (${chosen})`, [before]);
      }
    },
    migrate: async () => {
      await run(
        `create table if not exists ${table} (
           id integer primary key autoincrement,
           appended_at integer not null,
           event_time integer not null,
           sent_at integer,
           group_id text not null,
           body text not null,
           attributes text,
           event_key text unique,
           parked_at integer,
           parked_reason text
         )`,
        [],
      );
      await run(
        `create table if not exists ${lease} (id integer primary key, holder text, until integer)`,
        [],
      );
      await run(
        `create index if not exists ${tableName(`${name}_waiting`)} on ${table} (group_id, id)
         where ${isWaiting}`,
        [],
      );
    },
  };
}

function keptOf({ id, appended_at, body, group_id: groupId, attributes }: Row): KeptMessage {
  const message =
    attributes === null
      ? { body, groupId }
      : { body, groupId, attributes: JSON.parse(attributes) as Record<string, string> };
  return { id: Number(id), message, appendedAt: Number(appended_at) };
}
