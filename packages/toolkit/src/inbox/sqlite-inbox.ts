/**
 * An inbox in SQLite, in the same transaction as the effect, as the one in PostgreSQL. The connection is the inbox's own
 * while an effect runs: its handlers take turns, since SQLite has one writer at a time anyway, and anything else that uses
 * the connection in between becomes part of the transaction. Give it a connection that nothing else uses.
 */

import { sha256 } from '../contract/canonical.ts';
import { tableName } from '../database.ts';
import { inSqliteTransaction, isBusy, type RunSql, Turns } from '../sqlite.ts';
import { type Inbox, type InboxOptions, keepMsOf, outcomeOf, scopedKey } from './inbox.ts';

export interface SqliteInboxOptions extends InboxOptions {
  readonly run: RunSql;
  /** Default oncemq_inbox. */
  readonly table?: string;
}

export interface SqliteInbox extends Inbox<RunSql> {
  /** Creates the table if it does not exist. */
  migrate(): Promise<void>;
  /** Removes expired keys; calling it now and then is enough. */
  prune(): Promise<void>;
}

export function sqliteInbox(options: SqliteInboxOptions): SqliteInbox {
  const { run, now = Date.now } = options;
  const keepMs = keepMsOf(options);
  const table = tableName(options.table ?? 'oncemq_inbox');
  const turns = new Turns();

  const once: Inbox<RunSql>['once'] = (event, effect) =>
    turns.take(async () => {
      try {
        await run('begin immediate', []);
      } catch (error) {
        // Another process writes for longer than the connection's busy timeout.
        if (isBusy(error)) return 'busy';
        throw error;
      }
      return inSqliteTransaction(run, async () => {
        // Its hash, because SQLite ends a text at a NUL.
        const key = sha256(scopedKey(event));
        const [kept] = await run(`select digest from ${table} where key = ? and expires_at > ?`, [
          key,
          now(),
        ]);
        if (kept !== undefined) return outcomeOf(event, (kept as { digest: string }).digest);
        const until = Math.min(Math.trunc(now() + keepMs), Number.MAX_SAFE_INTEGER);
        await run(`insert or replace into ${table} (key, digest, expires_at) values (?, ?, ?)`, [
          key,
          event.digest,
          until,
        ]);
        await effect(run);
        return 'done';
      });
    });

  return {
    once,
    migrate: () =>
      turns.take(async () => {
        await run(
          `create table if not exists ${table} (
             key text primary key, digest text not null, expires_at integer not null)`,
          [],
        );
      }),
    prune: () =>
      turns.take(async () => {
        await run(`delete from ${table} where expires_at <= ?`, [now()]);
      }),
  };
}
