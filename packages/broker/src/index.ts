/**
 * The public entry of the `oncemq` package: what applications may import, and nothing else. Everything under core,
 * storage, api and server stays internal, whatever the file layout.
 */

import { type Config, readConfig } from './server/config.ts';
import { type Started, start } from './server/start-server.ts';

export { ConfigError } from './server/config.ts';

/** A running server: where it listens, what it was told, and how to stop it. */
export type RunningServer = Omit<Started, 'backend'>;

/** What `oncemq serve` takes as flags, in camel case; absent ones have their defaults. */
export interface ServerOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 9324; 0 takes a free port. */
  readonly port?: number;
  /** Default real. */
  readonly clock?: 'real' | 'virtual' | 'manual';
  /** Default us-east-1. */
  readonly region?: string;
  /** Default 000000000000. */
  readonly account?: string;
  /** Default: the Host header of each request. */
  readonly publicUrl?: string;
  /** Default aws. */
  readonly profile?: 'aws' | 'yandex';
  /** Default strict. */
  readonly limits?: 'strict' | 'relaxed';
  /** Default pretty. */
  readonly log?: 'pretty' | 'json' | 'silent';
  /** A JSON file with these settings and queues to create. */
  readonly config?: string;
}

/** Starts a server in this process. The environment is not read. */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { backend: _, ...server } = await start(configOf(options));
  return server;
}

/** The whole configuration that the options stand for. */
export function configOf(options: ServerOptions): Config {
  const flags = Object.entries(options)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      String(value),
    ]);
  return readConfig(Object.fromEntries(flags), {});
}
