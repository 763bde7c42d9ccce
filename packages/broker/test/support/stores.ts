/**
 * The servers of other stores for the tests of one file, as scripts/stores.ts starts them: Redis, DynamoDB Local, and PgBouncer in
 * transaction mode before a test's database. If one is not on this machine, its tests are skipped; where REQUIRE_CLIENTS is 1, as
 * in `.ci/run`, they fail.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../../../../.build/scripts/stores.js', import.meta.url));

export interface StoreServer {
  /** Host and port. */
  readonly address: string;
  close(): Promise<void>;
}

/** Undefined if it is not on this machine. */
export async function startStore(
  name: 'redis' | 'dynamodb' | 'pgbouncer',
  ...args: readonly string[]
): Promise<StoreServer | undefined> {
  const child = spawn(process.execPath, [script, name, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
    exited.then(([code]) => `${name} ended with ${code}`),
  ]);
  const address = / ready (\S+)$/.exec(line)?.[1];
  const close = async (): Promise<void> => {
    child.stdin.end();
    await exited;
  };
  if (address === undefined) {
    await close();
    assert.notEqual(process.env['REQUIRE_CLIENTS'], '1', line);
    return undefined;
  }
  return { address, close };
}

export interface Pooler {
  /** Of the database, through the pooler. */
  readonly url: string;
  close(): Promise<void>;
}

/** Undefined if it is not on this machine. */
export async function startPooler(database: string): Promise<Pooler | undefined> {
  const server = await startStore('pgbouncer', database);
  if (server === undefined) return undefined;
  const url = new URL(database);
  url.host = server.address;
  return { url: url.href, close: server.close };
}
