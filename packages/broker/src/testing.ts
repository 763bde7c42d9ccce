/**
 * `oncemq/testing`: a server in the test's own process, on a free port, with a clock that the test moves. In memory,
 * unless a data directory is named. Starts in milliseconds, so each test file, or each test, can have its own.
 */

import { advanceMsOf, advanceSecondsMax } from './api/inspect/clock-advance.ts';
import type { Event } from './core/events.ts';
import { configOf, type ServerOptions } from './server/options.ts';
import { start } from './server/start-server.ts';

export type { Event } from './core/events.ts';

export interface TestServerOptions extends Omit<ServerOptions, 'port' | 'host' | 'clock'> {
  /** Default virtual: runs at wall speed and can be moved forward. manual stands still until it is moved. */
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
     * Moves time forward and does what falls due on the way; resolves to the new time. Rejects with a RangeError, and moves
     * nothing, if the seconds are no number from 0 to ten years.
     */
    advance(seconds: number): Promise<number>;
  };
  /** Everything that has happened since the start or the last reset, oldest first; the latest 10,000. */
  readonly events: readonly Event[];
  /** Back to empty: no queues, no events. The clock stays where it is. */
  reset(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const eventsMax = 10_000;
/** Without `auth`, any will do. */
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
          `clock.advance takes seconds, from 0 to ${advanceSecondsMax}, not ${String(seconds)}.`,
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
