/**
 * The fixture of the tests with real clients: a listening server for each test, with a clock that stands still until the
 * test moves it, and a way to know what has reached the server, so that no test has to sleep. Everything is closed when
 * the test ends, the clients before the server.
 */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { TestContext } from 'node:test';
import type { ApiRequest } from '../../src/api/handler.ts';
import type { RequestNotice } from '../../src/server/http/http-request.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../../src/testing.ts';
import { temporaryDirectory } from '../storage/backends.ts';
import type { ClientKind, WireClient } from './wire-client.ts';

/** Long enough for a machine under load; on a clock that stands still, what has not happened by then never will. */
export const testMsMax = 30_000;

export async function openServer(
  t: TestContext,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const server = await startTestServer({ clock: 'manual', ...options });
  atEnd(t, () => server.close());
  return server;
}

export async function open(
  t: TestContext,
  kind: ClientKind,
): Promise<{ server: TestServer; client: WireClient }> {
  const server = await openServer(t, kind.isKept === true ? keptIn(t) : {});
  const client = kind.open(server.url);
  atEnd(t, () => client.close());
  return { server, client };
}

/** Keeps everything in a directory that is removed after the test. */
export function keptIn(t: TestContext): TestServerOptions {
  const { path, remove } = temporaryDirectory();
  atEnd(t, remove);
  return { data: path };
}

type Step = () => void | Promise<void>;

const steps: WeakMap<TestContext, Step[]> = new WeakMap();

/** Like `t.after`, but what was opened last is closed first. */
export function atEnd(t: TestContext, step: Step): void {
  const known = steps.get(t);
  if (known !== undefined) {
    known.push(step);
    return;
  }
  const own = [step];
  steps.set(t, own);
  t.after(async () => {
    for (const each of own.reverse()) await each();
  });
}

export interface Arrival {
  readonly headers: ApiRequest['headers'];
  /** The client has closed its connection. */
  readonly ended: Promise<void>;
}

/**
 * The next request that the server gets, once it has been read and acted upon: a receive that finds nothing is waiting by
 * then. The server publishes each request right before it acts, and parks a receive within microtasks, which are done
 * before the next immediate.
 */
export function nextArrival(server: TestServer): Promise<Arrival> {
  const channel = 'oncemq.request';
  const port = Number(new URL(server.url).port);
  return new Promise((resolve) => {
    const onRequest = (message: unknown): void => {
      const { request, socket } = message as RequestNotice;
      if (socket.localPort !== port) return;
      unsubscribe(channel, onRequest);
      const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      setImmediate(resolve, { headers: request.headers, ended });
    };
    subscribe(channel, onRequest);
  });
}
