/**
 * A real PostgreSQL for the tests of one file: a database of the server that scripts/test.ts has started for all files, or else
 * a server of the file's own, as scripts/postgres.ts starts it. Each test has a schema of its own. It ends with the file's
 * tests; if they are killed, the server notices and ends too.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const script = fileURLToPath(new URL('../../../../../.build/scripts/postgres.js', import.meta.url));

export interface TestDatabase {
  readonly url: string;
  /** A name that no other test uses. */
  newSchema(): string;
}

/** To be called while tests run or before; what it started ends after the last of them. */
export async function startPostgres(): Promise<TestDatabase> {
  const shared = process.env['ONCEMQ_TEST_POSTGRES_URL'];
  const url = shared === undefined ? await startServer() : await createDatabase(shared);
  let schemas = 0;
  return {
    url,
    newSchema: () => {
      schemas += 1;
      return `test_${schemas}`;
    },
  };
}

/** For tests that stop it or slow it down. */
export async function startServer(): Promise<string> {
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  endings.push(async () => {
    child.stdin.end();
    await exited;
  });
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
    exited.then(([code]) => `ended with ${code}`),
  ]);
  const url = /^postgres ready (\S+)$/.exec(line)?.[1];
  assert.ok(url !== undefined, line);
  return url;
}

let databases = 0;

async function createDatabase(server: string): Promise<string> {
  databases += 1;
  const name = `test_${process.pid}_${databases}`;
  await runOn(server, `CREATE DATABASE ${name}`);
  endings.push(() => runOn(server, `DROP DATABASE ${name} WITH (FORCE)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function runOn(server: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(sql);
  await client.end();
}

const endings: (() => Promise<void>)[] = [];

after(async () => {
  for (const end of endings) await end();
});
