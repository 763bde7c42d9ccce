/**
 * The outbox that a command works on: a folder, or a table in PostgreSQL.
 */

import { existsSync } from 'node:fs';
import { type Outbox, openFileOutbox, type Pool, postgresOutbox } from '@oncemq/toolkit';
import { type Arguments, UsageError } from './usage.ts';

export const outboxFlags: readonly string[] = ['outbox', 'database', 'table'];

export const outboxFlagsUsage: string = `  --outbox FOLDER  an outbox in a folder; the producer must not be running
  --database URL   an outbox in PostgreSQL [DATABASE_URL]
  --table NAME     its table, with or without a schema [oncemq_outbox]
`;

export interface OpenOutbox {
  readonly outbox: Outbox;
  close(): Promise<void>;
}

export async function openOutbox(
  flags: Arguments['flags'],
  environment: NodeJS.ProcessEnv,
): Promise<OpenOutbox> {
  const { outbox: folder, table } = flags;
  const database =
    flags['database'] ?? (folder === undefined ? environment['DATABASE_URL'] : undefined);
  if ((folder === undefined) === (database === undefined)) {
    throw new UsageError('Give either --outbox FOLDER or --database URL (or DATABASE_URL).');
  }
  if (folder !== undefined) {
    if (table !== undefined) throw new UsageError('--table is for --database only.');
    // Opening a missing outbox would create it.
    if (!existsSync(folder)) throw new UsageError(`There is no outbox in ${folder}.`);
    const outbox = await openFileOutbox(folder);
    return { outbox, close: () => outbox.close() };
  }
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    throw new Error('--database needs pg. Install it with: npm install pg', { cause });
  });
  const pool = new pg.Pool({ connectionString: database, max: 3 });
  // A connection that breaks while idle is replaced; the next query reports what is wrong.
  pool.on('error', () => {});
  const outbox = postgresOutbox({
    pool: pool as unknown as Pool,
    ...(table === undefined ? {} : { table }),
  });
  return { outbox, close: () => pool.end() };
}
