/**
 * A real PostgreSQL for the tests of one file, as scripts/postgres.ts starts it, and a pool of connections to it. Each
 * test creates its own tables. It ends with the file's tests; if the tests are killed, it notices and ends too.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const script = fileURLToPath(new URL('../../../../../.build/scripts/postgres.js', import.meta.url));

export interface Database {
  readonly url: string;
  readonly pool: pg.Pool;
  /** A unique table name. */
  newTable(): string;
}

export async function startPostgres(): Promise<Database> {
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
    exited.then(([code]) => `ended with ${code}`),
  ]);
  const url = /^postgres ready (\S+)$/.exec(line)?.[1];
  assert.ok(url !== undefined, line);
  const pool = new pg.Pool({ connectionString: url });
  after(async () => {
    await pool.end();
    child.stdin.end();
    await exited;
  });
  let tables = 0;
  return {
    url,
    pool,
    newTable: () => {
      tables += 1;
      return `table_${tables}`;
    },
  };
}
