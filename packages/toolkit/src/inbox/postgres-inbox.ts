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
import {
  type Inbox,
  type InboxEvent,
  type InboxOptions,
  type InboxOutcome,
  keepMsOf,
  outcomeOf,
  scopedKey,
} from './inbox.ts';

export interface PostgresInboxOptions extends InboxOptions {
  readonly pool: Pool;
  /** With or without a schema; default oncemq_inbox. */
  readonly table?: string;
  /** How long to wait for another consumer with the same key before the outcome is `busy`; default 5 s. */
  readonly waitMs?: number;
}

export interface PostgresInbox extends Inbox<Queryable> {
  /** Creates the table if it does not exist, and adds what a table of an earlier version lacks. */
  migrate(): Promise<void>;
  /** Removes expired keys; calling it now and then is enough. */
  prune(): Promise<void>;
}

/** PostgreSQL's code for a lock timeout (lock_not_available). */
const lockNotAvailable = '55P03';

/** An index entry can have 2,704 bytes, and a source with a key of 1,024 characters can have more. */
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

  /** Marks the event as handled in the transaction, or returns the outcome if its key is already there. */
  const mark = async (
    transaction: Queryable,
    event: InboxEvent,
  ): Promise<InboxOutcome | undefined> => {
    const keys = [keptKey(scopedKey(event)), keptKey(event.key)];
    const until = Math.min(Math.trunc(now() + keepMs), Number.MAX_SAFE_INTEGER);
    await transaction.query(`set local lock_timeout = ${Math.ceil(waitMs)}`);
    // Rows of earlier versions have the key without its source, and no digest.
    const { rows } = await transaction.query(
      `insert into ${table} as kept (key, digest, expires_at)
       select $1, $3, $4 where not exists (
         select from ${table} where key = $2 and digest is null and expires_at > $5)
       on conflict (key) do update set expires_at = excluded.expires_at, digest = excluded.digest
         where kept.expires_at <= $5
       returning key`,
      [...keys, event.digest, until, now()],
    );
    // The timeout is only for the key; locks that the effect waits for are its own concern.
    await transaction.query('set local lock_timeout to default');
    if (rows.length > 0) return undefined;
    const { rows: kept } = await transaction.query(
      `select digest from ${table} where key = $1 or (key = $2 and digest is null)
       order by key = $1 desc limit 1`,
      keys,
    );
    // Pruned in between: the message has to come again.
    if (kept.length === 0) return 'busy';
    return outcomeOf(event, (kept[0] as { digest: string | null }).digest ?? undefined);
  };

  return {
    once: async (event, effect) => {
      let isWaiting = true;
      try {
        return await inTransaction(pool, async (transaction) => {
          const known = await mark(transaction, event);
          isWaiting = false;
          if (known !== undefined) return known;
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
        `create table if not exists ${table} (
           key text primary key, digest text, expires_at bigint not null)`,
      );
      await pool.query(`alter table ${table} add column if not exists digest text`);
    },
    prune: async () => {
      await pool.query(`delete from ${table} where expires_at <= $1`, [now()]);
    },
  };
}
