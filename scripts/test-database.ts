/**
 * One PostgreSQL for all test files of a run, each of which makes a database of its own: to create a server takes longer than
 * most of their tests. packages/broker/test/support/postgres.ts finds it by the variable; without it, each file starts a
 * server.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Returns how to stop it. */
export async function startTestDatabase(): Promise<() => void> {
  const program = join('.build', 'scripts', 'postgres.js');
  const server = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: server.stdout });
  const [line] = await Promise.race([once(lines, 'line'), once(server, 'exit')]);
  const url = /^postgres ready (\S+)$/.exec(String(line))?.[1];
  if (url !== undefined) process.env['ONCEMQ_TEST_POSTGRES_URL'] = url;
  return () => server.stdin.end();
}
