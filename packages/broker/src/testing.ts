/**
 * `oncemq/testing`: a server in the test's own process, on a free port, with a clock that the test controls. It keeps
 * everything in memory unless given a data directory. It starts in milliseconds, so each test file, or even each test,
 * can have its own.
 */

import { advanceMsOf, advanceSecondsMax } from './api/inspect/clock-advance.ts';
import type { Event } from './core/events.ts';
import { configOf, type ServerOptions } from './server/options.ts';
import { start } from './server/start-server.ts';

export type { Event } from './core/events.ts';

export interface TestServerOptions extends Omit<ServerOptions, 'port' | 'host' | 'clock'> {
  /** Default virtual: runs at wall speed and can be moved forward. A manual clock stands still until it is moved. */
  readonly clock?: 'virtual' | 'manual';
}

export interface TestServer {
  /** For the AWS client: `new SQSClient(server.clientConfig)`. */
  readonly clientConfig: {
    readonly endpoint: string;
    readonly region: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  };
  readonly url: string;
  readonly clock: {
    /** Epoch milliseconds. */
    now(): number;
    /**
     * Moves time forward, performs everything that falls due on the way, and resolves to the new time. Rejects with a
     * RangeError, without moving time, if `seconds` is not a number from 0 to ten years.
     */
    advance(seconds: number): Promise<number>;
  };
  /** The events since the start or the last reset, oldest first; at most the latest 10,000. */
  readonly events: readonly Event[];
  /** Removes all queues and events. The clock stays where it is. */
  reset(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const eventsMax = 10_000;
/** Without `auth`, the server accepts any credentials. */
const anyCredentials = { accessKeyId: 'test', secretAccessKey: 'test' };

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { clock = 'virtual', ...others } = options;
  const memory = others.data === undefined;
  const server = await start(configOf({ log: 'silent', memory, ...others, clock, port: 0 }));
  const { backend, url, close } = server;
  const [first] = server.config.credentials;
  const { accessKeyId, secretAccessKey } = first ?? anyCredentials;
  const events: Event[] = [];
  backend.listen((event) => {
    events.push(event);
    if (events.length > eventsMax) events.shift();
  });
  return {
    url,
    clientConfig: {
      endpoint: url,
      region: server.config.region,
      credentials: { accessKeyId, secretAccessKey },
    },
    clock: {
      now: () => backend.now(),
      advance: async (seconds) => {
        const milliseconds = advanceMsOf(seconds);
        if (milliseconds !== undefined) return backend.advance(milliseconds);
        throw new RangeError(
          `clock.advance takes a number of seconds from 0 to ${advanceSecondsMax}, not ${String(seconds)}.`,
        );
      },
    },
    events,
    reset: async () => {
      await backend.reset();
      events.length = 0;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
