/**
 * A real PostgreSQL for the tests of one file, as scripts/postgres.ts starts it. Each test has a schema of its own. It ends
 * with the file's tests; if they are killed, it notices and ends too.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../../../../.build/scripts/postgres.js', import.meta.url));

export interface TestDatabase {
  readonly url: string;
  /** A name that no other test uses. */
  newSchema(): string;
}

/** To be called while tests run or before; what it started ends after the last of them. */
export async function startPostgres(): Promise<TestDatabase> {
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
  let schemas = 0;
  return {
    url,
    newSchema: () => {
      schemas += 1;
      return `test_${schemas}`;
    },
  };
}

const endings: (() => Promise<void>)[] = [];

after(async () => {
  for (const end of endings) await end();
});
