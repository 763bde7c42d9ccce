/**
 * `oncemq/testing`: a server in the test's own process, on a free port, with a clock that the test controls. It keeps
 * everything in memory unless given a data directory or a database. It starts in milliseconds, so each test file, or even each test,
 * can have its own.
 */

import { advanceMsOf, advanceSecondsMax } from './api/inspect/clock-advance.ts';
import type { Event } from './core/events.ts';
import { configOf, type ServerOptions } from './server/config/options.ts';
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
  /**
   * Resolves to the first message of the queue that fits, sent before or after the call. It looks at the events, so it
   * receives nothing and changes nothing. Rejects after `timeoutMs` of real time, 5 s by default.
   */
  waitForMessage(queue: string, options?: WaitOptions): Promise<SentMessage>;
  /**
   * Rejects if a message that fits is sent to the queue until the clock has moved by `seconds`, 0 by default: then only
   * what has been sent counts. It moves the clock itself, and does not sleep.
   */
  expectNoMessage(queue: string, options?: ExpectOptions): Promise<void>;
  /** Removes all queues and events. The clock stays where it is. */
  reset(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export type SentMessage = Extract<Event, { type: 'sent' }>;

/** Which message is meant; default: any. */
type Fits = (message: SentMessage) => boolean;

export interface WaitOptions {
  readonly fits?: Fits;
  readonly timeoutMs?: number;
}

export interface ExpectOptions {
  readonly fits?: Fits;
  readonly seconds?: number;
}

const eventsMax = 10_000;
/** Without `auth`, the server accepts any credentials. */
const anyCredentials = { accessKeyId: 'test', secretAccessKey: 'test' };

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { clock = 'virtual', ...others } = options;
  const memory = others.data === undefined && others.postgres === undefined;
  const server = await start(configOf({ log: 'silent', memory, ...others, clock, port: 0 }));
  const { backend, url, close } = server;
  const [first] = server.config.credentials;
  const { accessKeyId, secretAccessKey } = first ?? anyCredentials;
  const events: Event[] = [];
  const listeners = new Set<(event: Event) => void>();
  backend.listen((event) => {
    events.push(event);
    if (events.length > eventsMax) events.shift();
    for (const listener of listeners) listener(event);
  });
  const isSent = (event: Event, queue: string, fits: Fits): event is SentMessage =>
    event.type === 'sent' && event.queue === queue && fits(event);
  const advance = async (seconds: number): Promise<number> => {
    const milliseconds = advanceMsOf(seconds);
    if (milliseconds !== undefined) return backend.advance(milliseconds);
    throw new RangeError(
      `clock.advance takes a number of seconds from 0 to ${advanceSecondsMax}, not ${String(seconds)}.`,
    );
  };
  return {
    url,
    clientConfig: {
      endpoint: url,
      region: server.config.region,
      credentials: { accessKeyId, secretAccessKey },
    },
    clock: {
      now: () => backend.now(),
      advance,
    },
    waitForMessage: (queue, { fits = any, timeoutMs = 5_000 } = {}) =>
      new Promise((resolve, reject) => {
        const found = events.find((event) => isSent(event, queue, fits));
        if (found !== undefined) return resolve(found as SentMessage);
        const end = (): void => {
          clearTimeout(timer);
          listeners.delete(listener);
        };
        const listener = (event: Event): void => {
          if (!isSent(event, queue, fits)) return;
          end();
          resolve(event);
        };
        const timer = setTimeout(() => {
          end();
          reject(new Error(`No such message was sent to ${queue} within ${timeoutMs} ms.`));
        }, timeoutMs);
        listeners.add(listener);
      }),
    expectNoMessage: async (queue, { fits = any, seconds = 0 } = {}) => {
      await advance(seconds);
      const found = events.find((event) => isSent(event, queue, fits)) as SentMessage | undefined;
      if (found === undefined) return;
      throw new Error(`${queue} has a message that was not expected: ${found.messageId}.`);
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

function any(): boolean {
  return true;
}
