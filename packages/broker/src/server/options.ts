/**
 * The settings as a program gives them: an object in camel case instead of flags. It goes through the same table and
 * the same checks; the environment is not read.
 */

import { type Config, readConfig } from './config.ts';

/** What `oncemq serve` takes as flags, in camel case; absent ones have their defaults. */
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
  /** Topics deliver only to queues whose policy allows it. Default false. */
  readonly enforcePolicies?: boolean;
  /** A JSON file with the contracts that queues are held to. */
  readonly contract?: string;
  /** A directory to keep an account of every message in, for `oncemq trace`. */
  readonly ledger?: string;
  /** What the ledger may take; default 1 GiB, at least 1,000,000. */
  readonly ledgerMaxBytes?: number;
  /** A JSON file with these settings, and queues and topics to create. */
  readonly config?: string;
}

/** The whole configuration that the options stand for. */
export function configOf(options: ServerOptions): Config {
  const flags = Object.entries(options)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      String(value),
    ]);
  return readConfig(Object.fromEntries(flags), {});
}
