/**
 * The part of SQLite that the toolkit uses: a function that runs one statement with values on one connection. Any library
 * fits:
 *
 *   node:sqlite        (text, values) => db.prepare(text).all(...values)
 *   better-sqlite3     (text, values) => { const s = db.prepare(text);
 *                        return s.reader ? s.all(...values) : (s.run(...values), []); }
 *   node-sqlite3-wasm  (text, values) => db.all(text, values)
 *   libSQL             async (text, values) => (await db.execute({ sql: text, args: values })).rows
 */

export type SqlValue = string | number | null;

/** Returns the rows, each with its columns by name; none for a statement that returns none. */
export type RunSql = (
  text: string,
  values: SqlValue[],
) => readonly unknown[] | Promise<readonly unknown[]>;

/** Commits after the work, or rolls back. The transaction is open already. */
export async function inSqliteTransaction<T>(run: RunSql, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    await run('commit', []);
    return result;
  } catch (error) {
    // SQLite may have rolled back itself; then there is nothing left to roll back, and the error says why.
    await (async () => run('rollback', []))().catch(() => {});
    throw error;
  }
}

/** Whether another connection holds the database's lock. */
export function isBusy(error: unknown): boolean {
  return /SQLITE_BUSY|database is locked/i.test(`${(error as Error).name} ${String(error)}`);
}

/** Runs one piece of work at a time, in the order of asking. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => {});
    return mine;
  }
}
