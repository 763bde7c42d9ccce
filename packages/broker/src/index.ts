/**
 * The public entry point of the `oncemq` package: exactly what applications may import. Everything under core, storage,
 * api and server stays internal, whatever the file layout.
 */

import { configOf, type ServerOptions } from './server/config/options.ts';
import { type Started, start } from './server/start-server.ts';

export { type Config, ConfigError } from './server/config/config.ts';
export type { CredentialConfig } from './server/config/credentials.ts';
export type {
  AttributeOptions,
  QueueOptions,
  ServerOptions,
  SubscriptionOptions,
  TopicOptions,
} from './server/config/options.ts';

/** A running server: where it listens, its configuration, and how to stop it. */
export type RunningServer = Omit<Started, 'backend'>;

/** Starts a server in this process. It does not read the environment. */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { backend: _, ...server } = await start(configOf(options));
  return server;
}
