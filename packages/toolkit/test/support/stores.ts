/**
 * The real servers of the store tests, as scripts/stores.ts starts them: one per test file, which ends with the file. If a
 * server is not on this machine, its tests are skipped by name; where REQUIRE_CLIENTS is 1, as in `.ci/run`, they fail.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../../../../.build/scripts/stores.js', import.meta.url));

export interface StoreServer {
  /** Host and port. */
  readonly address: string;
  /** The options of its tests: they say why the tests cannot run here, if that is so. */
  readonly needed: { readonly skip: string | false };
}

export async function startStore(name: 'redis' | 'dynamodb'): Promise<StoreServer> {
  const child = spawn(process.execPath, [script, name], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
    exited.then(([code]) => `${name} ended with ${code}`),
  ]);
  after(async () => {
    child.stdin.end();
    await exited;
  });
  const address = / ready (\S+)$/.exec(line)?.[1];
  if (address !== undefined) return { address, needed: { skip: false } };
  const skip = process.env['REQUIRE_CLIENTS'] === '1' ? false : line;
  return { address: '', needed: { skip } };
}
