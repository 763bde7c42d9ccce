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
  /** Starts without what is damaged in `data`, and removes it. Default false: any damage is an error. */
  readonly acceptLoss?: boolean;
  /** Keeps everything in memory and nothing on disk, instead of `data`. */
  readonly memory?: boolean;
  /**
   * The URL of a PostgreSQL database that any number of servers share, and those of its standbys; instead of `data`. `embedded`: one of
   * its own below `data`, for a first look.
   */
  readonly postgres?: string | readonly string[];
  /** off: waiting receivers are woken by looking about once a second, as behind a pooler. Default on. */
  readonly postgresListen?: 'on' | 'off';
  /** Default real. */
  readonly clock?: 'real' | 'virtual' | 'manual';
  /** Default us-east-1, or ru-central1 with the profile yandex. */
  readonly region?: string;
  /** Default 000000000000. */
  readonly account?: string;
  /** Default: the Host header of each request. */
  readonly publicUrl?: string;
  /** Host names under which browsers may use the server, beyond local names, `host` and that of `publicUrl`. */
  readonly allowHost?: string | readonly string[];
  /** How many bytes the bodies of all requests may take together; default 256 MiB, at least 10,000,000. */
  readonly bodiesMaxBytes?: number;
  /** node: node:http reads every request. Default plain: usual requests are read without it, in half the time. */
  readonly http?: 'plain' | 'node';
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
  /** With auth: addresses, address ranges and host names that topics may call although they are not public. */
  readonly allowEndpoints?: string | readonly string[];
  /** A JSON file with the contracts that queues are held to. */
  readonly contract?: string;
  /** The directory of the ledger, a record of what happened to every message, for `oncemq trace`. */
  readonly ledger?: string;
  /** The maximum size of the ledger; default 1 GiB, at least 1,000,000. */
  readonly ledgerMaxBytes?: number;
  /** Queues to create if they do not exist, by name, or with attributes and tags. */
  readonly queues?: readonly (string | QueueOptions)[];
  /** Topics to create after the queues if they do not exist, by name, or with attributes, tags and subscriptions. */
  readonly topics?: readonly (string | TopicOptions)[];
  /** A JSON file with these settings; its queues and topics are created before those given here. */
  readonly config?: string;
}

/** A queue to create; a name that ends in `.fifo` makes it a FIFO queue. */
export interface QueueOptions {
  readonly name: string;
  readonly attributes?: AttributeOptions;
  readonly tags?: Readonly<Record<string, string>>;
}

/** A topic to create; a name that ends in `.fifo` makes it a FIFO topic. */
export interface TopicOptions {
  readonly name: string;
  readonly attributes?: AttributeOptions;
  readonly tags?: Readonly<Record<string, string>>;
  /** A bare name is a queue of this server, which must exist. */
  readonly subscriptions?: readonly (string | SubscriptionOptions)[];
}

/** A queue of this server, by name, or an endpoint by its protocol. */
export type SubscriptionOptions = { readonly attributes?: AttributeOptions } & (
  | { readonly queue: string }
  | { readonly protocol: string; readonly endpoint: string }
);

/** By AWS's names; numbers, booleans and, for policies, objects become strings. */
export type AttributeOptions = Readonly<Record<string, string | number | boolean | object>>;

/** The whole configuration that the options stand for. */
export function configOf({ credentials, queues, topics, ...options }: ServerOptions): Config {
  const flags = Object.entries(options)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      String(value),
    ]);
  return readConfig(Object.fromEntries(flags), {}, { credentials, queues, topics });
}
