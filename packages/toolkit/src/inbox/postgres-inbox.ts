/**
 * An inbox in PostgreSQL, in the very transaction of the effect: key and effect are kept together or not at all, so there
 * is no moment between them in which a crash could fall. Any number of consumers on any number of machines share it: the
 * second one that comes with a key waits for the first to end, and then knows how it ended.
 *
 * That holds for effects that are written through the transaction which the handler is given. What else a handler does
 * (a mail, a call) happens again when the transaction fails.
 */

import { sha256 } from '../contract/canonical.ts';
import { inTransaction, type Pool, type Queryable, tableName } from '../database.ts';
import { type Inbox, type InboxOptions, keepMsOf } from './inbox.ts';

export interface PostgresInboxOptions extends InboxOptions {
  readonly pool: Pool;
  /** With or without a schema; default oncemq_inbox. */
  readonly table?: string;
  /** How long to wait for another consumer at the same key before the message is left to come again; default 5 s. */
  readonly waitMs?: number;
}

export interface PostgresInbox extends Inbox<Queryable> {
  /** Creates the table if it is not there. */
  migrate(): Promise<void>;
  /** Removes the keys whose time is over; now and then is enough. */
  prune(): Promise<void>;
}

/** PostgreSQL's code for a lock that was not to be had in time. */
const lockNotAvailable = '55P03';

/** An index takes 2,704 bytes; 1,024 characters can be more. */
const keyBytesMax = 2_600;

/** The key itself, or its hash where PostgreSQL cannot hold it: such a message would come again and again. */
function keptKey(key: string): string {
  const fits = Buffer.byteLength(key) <= keyBytesMax && !key.includes('\0');
  return fits ? key : `sha256 ${sha256(key)}`;
}

export function postgresInbox(options: PostgresInboxOptions): PostgresInbox {
  const { pool, waitMs = 5_000, now = Date.now } = options;
  const keepMs = keepMsOf(options);
  const table = tableName(options.table ?? 'oncemq_inbox');

  /** Versions before kept long keys plainly where the index could compress them. */
  const isKeptPlainly = async (transaction: Queryable, key: string): Promise<boolean> => {
    if (key === keptKey(key) || key.includes('\0')) return false;
    const { rows } = await transaction.query(
      `select from ${table} where key = $1 and expires_at > $2`,
      [key, now()],
    );
    return rows.length > 0;
  };

  const isFirst = async (transaction: Queryable, key: string): Promise<boolean> => {
    if (await isKeptPlainly(transaction, key)) return false;
    await transaction.query(`set local lock_timeout = ${Math.ceil(waitMs)}`);
    const { rows } = await transaction.query(
      `insert into ${table} as kept (key, expires_at) values ($1, $2)
       on conflict (key) do update set expires_at = excluded.expires_at where kept.expires_at <= $3
       returning key`,
      [keptKey(key), Math.min(Math.trunc(now() + keepMs), Number.MAX_SAFE_INTEGER), now()],
    );
    // The wait was for the key; what the effect waits for is its own business.
    await transaction.query('set local lock_timeout to default');
    return rows.length > 0;
  };

  return {
    once: async (key, effect) => {
      let isWaiting = true;
      try {
        return await inTransaction(pool, async (transaction) => {
          const isMine = await isFirst(transaction, key);
          isWaiting = false;
          if (!isMine) return 'duplicate';
          await effect(transaction);
          return 'done';
        });
      } catch (error) {
        if (isWaiting && (error as { code?: string }).code === lockNotAvailable) return 'busy';
        throw error;
      }
    },
    migrate: async () => {
      await pool.query(
        `create table if not exists ${table} (key text primary key, expires_at bigint not null)`,
      );
    },
    prune: async () => {
      await pool.query(`delete from ${table} where expires_at <= $1`, [now()]);
    },
  };
}
