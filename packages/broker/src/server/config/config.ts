/**
 * The configuration: one typed object, defaults < file < environment < flags, read once, fully checked, frozen. settings.ts
 * describes every setting, setting-sources.ts reads them; here they are put together, and those that exclude each other are
 * refused.
 */

import { join } from 'node:path';
import type { Credential } from '../../api/auth/credential.ts';
import { endpointProblem } from '../endpoint-addresses.ts';
import { exportsOf, type TelemetryExports } from '../telemetry/otel-environment.ts';
import { ConfigError } from './config-error.ts';
import { credentialsOf, environmentCredentials } from './credentials.ts';
import { embedded, embeddedUrl } from './database-text.ts';
import { type QueueConfig, queuesOf } from './queues-at-start.ts';
import {
  checkNames,
  environmentSettings,
  fileSettings,
  type Given,
  keyOf,
  type Lists,
  noFile,
  type Source,
  variableOf,
} from './setting-sources.ts';
import { checkValue, isOn, listOf, type Setting, settings } from './settings.ts';
import { type TopicConfig, topicsOf } from './topics-at-start.ts';

export { ConfigError } from './config-error.ts';

export interface Config {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly storage: Storage;
  readonly clock: 'real' | 'virtual' | 'manual';
  readonly region: string;
  readonly account: string;
  /** The URL by which clients reach the server, without a trailing slash; default: the Host header of each request. */
  readonly publicUrl: string | undefined;
  /** Host names under which browsers may use the server, beyond local names, `host` and that of `publicUrl`. */
  readonly allowedHosts: readonly string[];
  /** How many bytes the bodies of all requests may take together. */
  readonly bodyBytesMax: number;
  /** Who reads connections: our own reader while their requests are plain, or node:http from the start. */
  readonly http: 'plain' | 'node';
  readonly profile: 'aws' | 'yandex';
  readonly limits: 'strict' | 'relaxed';
  readonly log: 'pretty' | 'json' | 'silent';
  /** Whether requests must be signed by one of the credentials. */
  readonly auth: 'off' | 'sigv4';
  readonly credentials: readonly Credential[];
  /** Whether a queue's policy must allow a topic to send to it; always true if signatures are checked. */
  readonly arePoliciesEnforced: boolean;
  /** Addresses, address ranges and host names that topics may call although they are not public. */
  readonly allowedEndpoints: readonly string[];
  /** The file that binds queues to contracts. */
  readonly contract: string | undefined;
  /** Where the ledger, a record of what happened to every message, is kept; undefined if there is none. */
  readonly ledger: { readonly directory: string; readonly bytesMax: number } | undefined;
  /** Where metrics and traces are exported; configured only by the standard OTEL_* variables. */
  readonly exports: TelemetryExports;
  /** Created at startup if they do not exist. */
  readonly queues: readonly QueueConfig[];
  /** Created after the queues, with their subscriptions. */
  readonly topics: readonly TopicConfig[];
}

export type Storage =
  | { readonly kind: 'memory' }
  | {
      readonly kind: 'data';
      readonly directory: string;
      /** What an answer waits for: the disk, or the operating system only. */
      readonly durability: 'fsync' | 'os';
      /** Whether it starts without what is damaged, and removes that. */
      readonly acceptsLoss: boolean;
    }
  | {
      readonly kind: 'postgres';
      /** Of one database: the first that can be written to is used. */
      readonly urls: readonly string[];
      /** The directory of a database of the server's own, for a first look; `urls` is then its URL. */
      readonly embedded?: string;
      /** Whether the database tells what other servers have written; else it is looked up. */
      readonly isListening: boolean;
    };

/** `lists` are a program's; they are added to those of the file. */
export function readConfig(
  flags: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string | undefined>>,
  lists: Lists = {},
): Config {
  const fromFlags = checkNames(flags, 'flag', (name) => `--${name}`);
  const fromEnvironment = environmentSettings(environment);
  const file = fromFlags['config'] ?? fromEnvironment['config'];
  const fromFile = file === undefined ? noFile : fileSettings(file);
  const sources: readonly Source[] = [
    { values: fromFile.settings, spell: (name) => `${file}: ${keyOf(name)}` },
    { values: fromEnvironment, spell: variableOf },
    { values: fromFlags, spell: (name) => name },
  ];
  for (const { values, spell } of sources) {
    for (const [name, value] of Object.entries(values)) checkValue(name, value, spell(name));
  }
  const given = merged(sources);
  const spelled = (name: string): string =>
    sources.findLast(({ values }) => values[name] !== undefined)?.spell(name) ?? name;
  const value = (name: string): string => given[name] ?? (settings[name] as Setting).default ?? '';
  const auth = value('auth') as Config['auth'];
  const credentials = credentialsOf(
    [
      ['credentials', lists.credentials ?? []],
      [`${file}: credentials`, fromFile.lists.credentials ?? []],
      ['the environment', environmentCredentials(environment)],
    ],
    value('account'),
  );
  if (auth === 'sigv4' && credentials.length === 0) {
    throw new ConfigError(
      'auth: sigv4 needs keys to check signatures with. Set credentials in the config file, or ONCEMQ_ACCESS_KEY_ID and ONCEMQ_SECRET_ACCESS_KEY.',
    );
  }
  const profile = value('profile') as Config['profile'];
  return Object.freeze({
    host: value('host'),
    port: Number(value('port')),
    storage: storageOf(given, value, spelled),
    clock: value('clock') as Config['clock'],
    region: given['region'] ?? (profile === 'yandex' ? 'ru-central1' : 'us-east-1'),
    account: value('account'),
    publicUrl: given['public-url']?.replace(/\/$/, ''),
    allowedHosts: listOf(given['allow-host']).map((name) => name.toLowerCase()),
    bodyBytesMax: Number(value('bodies-max-bytes')),
    http: value('http') as Config['http'],
    profile,
    limits: value('limits') as Config['limits'],
    log: value('log') as Config['log'],
    auth,
    credentials,
    arePoliciesEnforced: auth === 'sigv4' || isOn(given['enforce-policies']),
    allowedEndpoints: allowedEndpointsOf(given, auth, spelled),
    contract: given['contract'],
    ledger:
      given['ledger'] === undefined
        ? undefined
        : { directory: given['ledger'], bytesMax: Number(value('ledger-max-bytes')) },
    exports: exportsOf(environment),
    queues: [
      ...queuesOf(fromFile.lists.queues ?? [], `${file}: queues`),
      ...queuesOf(lists.queues ?? [], 'queues'),
    ],
    topics: [
      ...topicsOf(fromFile.lists.topics ?? [], `${file}: topics`),
      ...topicsOf(lists.topics ?? [], 'topics'),
    ],
  });
}

/** Later sources win. `data`, `memory` and `postgres` are one choice of storage: each overrides those of earlier sources. */
function merged(sources: readonly Source[]): Given {
  const given: Record<string, string> = {};
  for (const { values } of sources) {
    const [isData, isPostgres] = [values['data'], values['postgres']].map((v) => v !== undefined);
    if (isData || isPostgres) delete given['memory'];
    if (isData || isOn(values['memory'])) delete given['postgres'];
    if (isPostgres || isOn(values['memory'])) {
      delete given['data'];
      delete given['durability'];
      delete given['accept-loss'];
    }
    Object.assign(given, values);
  }
  return given;
}

/** Without signatures topics may call every address, so the setting would have no effect. */
function allowedEndpointsOf(
  given: Given,
  auth: Config['auth'],
  spelled: (name: string) => string,
): string[] {
  const name = spelled('allow-endpoints');
  const allowed = listOf(given['allow-endpoints']);
  if (allowed.length > 0 && auth === 'off') {
    throw new ConfigError(
      `${name} has no effect without --auth sigv4: topics may call every address.`,
    );
  }
  const problem = allowed.map(endpointProblem).find((text) => text !== undefined);
  if (problem !== undefined) throw new ConfigError(`${name}: ${problem}`);
  return allowed;
}

function storageOf(
  given: Given,
  value: (name: string) => string,
  spelled: (name: string) => string,
): Storage {
  const isInMemory = isOn(given['memory']);
  const urls = listOf(given['postgres']);
  if (urls.length === 0 && given['postgres-listen'] !== undefined) {
    throw new ConfigError(`${spelled('postgres-listen')} has no effect without --postgres.`);
  }
  if (!isInMemory && urls.length === 0) {
    const durability = value('durability') as 'fsync' | 'os';
    const acceptsLoss = isOn(given['accept-loss']);
    return { kind: 'data', directory: value('data'), durability, acceptsLoss };
  }
  const isGiven = (name: string): boolean =>
    name === 'accept-loss' ? isOn(given[name]) : given[name] !== undefined;
  const isEmbedded = urls.includes(embedded);
  const others = [
    ...(isEmbedded ? [] : ['data']),
    'durability',
    'accept-loss',
    ...(isInMemory ? ['postgres'] : []),
  ];
  const unfit = others.find(isGiven);
  if (unfit === undefined && isInMemory) return { kind: 'memory' };
  if (unfit === undefined) {
    const isListening = value('postgres-listen') === 'on';
    if (!isEmbedded) return { kind: 'postgres', urls, isListening };
    if (urls.length > 1) {
      throw new ConfigError(`${spelled('postgres')}: ${embedded} stands alone, without URLs.`);
    }
    const directory = join(value('data'), 'postgres');
    return { kind: 'postgres', urls: [embeddedUrl(directory)], isListening, embedded: directory };
  }
  const reason = isInMemory
    ? 'in memory, nothing is stored on disk'
    : 'the database stores everything';
  throw new ConfigError(
    `${spelled(isInMemory ? 'memory' : 'postgres')} and ${spelled(unfit)} cannot be used together: ${reason}.`,
  );
}
