/**
 * An inbox in PostgreSQL, in the same transaction as the effect: key and effect commit together or not at all, so a crash
 * cannot separate them. Any number of consumers on any number of machines can share it: a second consumer with the same
 * key waits for the first one's transaction and then knows its outcome.
 *
 * That holds for effects written through the transaction that the handler is given. Anything else a handler does (an
 * e-mail, a remote call) happens again if the transaction fails and the message is redelivered.
 */

import { sha256 } from '../contract/canonical.ts';
import { inTransaction, type Pool, type Queryable, tableName } from '../database.ts';
import { type Inbox, type InboxOptions, keepMsOf } from './inbox.ts';

export interface PostgresInboxOptions extends InboxOptions {
  readonly pool: Pool;
  /** With or without a schema; default oncemq_inbox. */
  readonly table?: string;
  /** How long to wait for another consumer with the same key before the outcome is `busy`; default 5 s. */
  readonly waitMs?: number;
}

export interface PostgresInbox extends Inbox<Queryable> {
  /** Creates the table if it does not exist. */
  migrate(): Promise<void>;
  /** Removes expired keys; calling it now and then is enough. */
  prune(): Promise<void>;
}

/** PostgreSQL's code for a lock timeout (lock_not_available). */
const lockNotAvailable = '55P03';

/** An index entry can have 2,704 bytes, and a key of 1,024 characters can have more. */
const keyBytesMax = 2_600;

/** The key, or its hash if PostgreSQL cannot store the key; otherwise such a message would fail on every delivery. */
function keptKey(key: string): string {
  const fits = Buffer.byteLength(key) <= keyBytesMax && !key.includes('\0');
  return fits ? key : `sha256 ${sha256(key)}`;
}

export function postgresInbox(options: PostgresInboxOptions): PostgresInbox {
  const { pool, waitMs = 5_000, now = Date.now } = options;
  const keepMs = keepMsOf(options);
  const table = tableName(options.table ?? 'oncemq_inbox');

  const isFirst = async (transaction: Queryable, key: string): Promise<boolean> => {
    await transaction.query(`set local lock_timeout = ${Math.ceil(waitMs)}`);
    const { rows } = await transaction.query(
      `insert into ${table} as kept (key, expires_at) values ($1, $2)
       on conflict (key) do update set expires_at = excluded.expires_at where kept.expires_at <= $3
       returning key`,
      [keptKey(key), Math.min(Math.trunc(now() + keepMs), Number.MAX_SAFE_INTEGER), now()],
    );
    // The timeout is only for the key; locks that the effect waits for are its own concern.
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
