/**
 * The settings as a program passes them: an object in camel case instead of flags. They go through the same table and the
 * same checks. The environment is not read.
 */

import { type Config, readConfig } from './config.ts';
import type { CredentialConfig } from './credentials.ts';

/** The flags of `oncemq serve` in camel case; omitted ones have their defaults. */
export interface ServerOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 9324; 0 takes a free port. */
  readonly port?: number;
  /** The directory to keep everything in; default ./oncemq-data. */
  readonly data?: string;
  /** Default fsync. */
  readonly durability?: 'fsync' | 'os';
  /** Keeps everything in memory and nothing on disk, instead of `data`. */
  readonly memory?: boolean;
  /** Default real. */
  readonly clock?: 'real' | 'virtual' | 'manual';
  /** Default us-east-1, or ru-central1 with the profile yandex. */
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
  /** sigv4: requests must be signed with one of the credentials. Default off. */
  readonly auth?: 'off' | 'sigv4';
  readonly credentials?: readonly CredentialConfig[];
  /** Topics deliver only to queues whose policy allows it. Default false; always true with auth. */
  readonly enforcePolicies?: boolean;
  /** A JSON file with the contracts that queues are held to. */
  readonly contract?: string;
  /** The directory of the ledger, a record of what happened to every message, for `oncemq trace`. */
  readonly ledger?: string;
  /** The maximum size of the ledger; default 1 GiB, at least 1,000,000. */
  readonly ledgerMaxBytes?: number;
  /** A JSON file with these settings, credentials, and queues and topics to create. */
  readonly config?: string;
}

/** The whole configuration that the options stand for. */
export function configOf({ credentials, ...options }: ServerOptions): Config {
  const flags = Object.entries(options)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      String(value),
    ]);
  return readConfig(Object.fromEntries(flags), {}, credentials);
}
