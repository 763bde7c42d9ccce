/**
 * The base of the tests of what the console asks the server for: a server on a manual clock with the queue `jobs.fifo`,
 * a send to it, and an answer of `/_oncemq/`.
 */

import type { TestContext } from 'node:test';
import { startTestServer, type TestServer, type TestServerOptions } from '../../src/testing.ts';
import { type Answer, ask } from './calls.ts';
import { createFifo, send as sendTo } from './scenes.ts';

export async function open(t: TestContext, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer({ clock: 'manual', ...options });
  t.after(() => server.close());
  await createFifo(server, 'jobs.fifo');
  return server;
}

export const send = (
  server: TestServer,
  body: string,
  { group = 'g', tenant = '' }: { group?: string; tenant?: string } = {},
): Promise<Answer> =>
  sendTo(server, 'jobs.fifo', body, { group, attributes: tenant === '' ? {} : { tenant } });

/** The body of an answer below `/_oncemq/`. */
export const get = async (server: TestServer, path: string): Promise<Answer['body']> =>
  (await ask(server, path)).body;
