/**
 * The configuration: one typed object, defaults < file < environment < flags, read once, fully checked, frozen. One table
 * describes every setting, so that the flag, the variable, the key in the file and the help text agree. The error for an
 * unknown name suggests the nearest known one.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nearestName } from '@oncemq/toolkit/nearest-name';
import type { Credential } from '../../api/auth/credential.ts';
import { endpointProblem } from '../endpoint-addresses.ts';
import { isServiceLink } from '../service-links.ts';
import { exportsOf, type TelemetryExports } from '../telemetry/otel-environment.ts';
import { ConfigError } from './config-error.ts';
import { credentialsOf, credentialVariables, environmentCredentials } from './credentials.ts';
import { databaseUrl, embedded, embeddedUrl } from './database-text.ts';
import { type QueueConfig, queuesOf } from './queues-at-start.ts';
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

interface Setting {
  readonly doc: string;
  /** How the help shows the value; absent for a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly pattern?: RegExp;
  /** Whether it may be given several times; the values are also written as one, with commas. Patterns check each. */
  readonly isList?: true;
  /** What the pattern asks for, where the doc does not say it. */
  readonly form?: string;
  readonly default?: string;
  /** Set for a planned setting that is not implemented: the error text, with what to do instead. */
  readonly notYet?: string;
}

/** Relative to the working directory. */
export const dataDefault = './oncemq-data';

/** By flag name. The config file uses camel case; the environment uses capitals with the prefix ONCEMQ_. */
export const settings: Readonly<Record<string, Setting>> = {
  host: {
    doc: 'address to listen on',
    value: 'ADDRESS',
    pattern: /^\S+$/,
    default: '127.0.0.1',
  },
  port: {
    doc: 'port to listen on; 0 takes a free one',
    value: 'PORT',
    form: 'a number from 0 to 65535',
    pattern: /^([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$/,
    default: '9324',
  },
  data: {
    doc: 'directory to store everything in',
    value: 'DIR',
    default: dataDefault,
  },
  durability: {
    doc: 'fsync: answers wait for the disk; os: a power cut can lose the latest changes',
    value: 'KIND',
    choices: ['fsync', 'os'],
    default: 'fsync',
  },
  'accept-loss': {
    doc: 'start without what is damaged in the data directory, and remove it; for one start',
  },
  memory: { doc: 'keep everything in memory and nothing on disk, instead of --data' },
  postgres: {
    doc: 'PostgreSQL database to store everything in, shared by any number of servers; repeated for its standbys. embedded: one of its own, for a first look',
    value: 'URL',
    isList: true,
    pattern: new RegExp(`${databaseUrl.source}|^${embedded}$`),
    form: 'a URL that begins with postgres://, or embedded',
  },
  'postgres-listen': {
    doc: 'off: waiting receivers are woken by looking about once a second instead of LISTEN, as behind a pooler',
    value: 'on|off',
    choices: ['on', 'off'],
    default: 'on',
  },
  clock: {
    doc: 'real; virtual: runs, and can be moved forward; manual: stands still until it is moved',
    value: 'KIND',
    choices: ['real', 'virtual', 'manual'],
    default: 'real',
  },
  region: {
    doc: 'region in ARNs; default: us-east-1, or ru-central1 with the profile yandex',
    value: 'NAME',
    pattern: /^[a-z0-9-]{1,32}$/,
    form: '1 to 32 lower-case letters, digits and -',
  },
  account: {
    doc: 'account in ARNs and queue URLs, 12 digits',
    value: 'ID',
    pattern: /^[0-9]{12}$/,
    default: '000000000000',
  },
  'public-url': {
    doc: 'URL under which clients reach the server; default: the Host header of each request',
    value: 'URL',
    pattern: /^https?:\/\/[^/?#\s]+\/?$/,
    form: 'http:// or https:// and a host, with or without a port, without a path',
  },
  'allow-host': {
    doc: 'host name under which browsers may use the server; can be repeated',
    value: 'NAME',
    isList: true,
    pattern: /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)$/,
    form: 'a host name or address, without a port',
  },
  'bodies-max-bytes': {
    doc: 'maximum memory for the bodies of all requests together, at least 10000000',
    value: 'BYTES',
    pattern: /^[1-9][0-9]{7,14}$/,
    form: 'a number of bytes, at least 10000000',
    default: '268435456',
  },
  http: {
    doc: 'plain: usual requests are read without node:http, in half the time; node: none is',
    value: 'KIND',
    choices: ['plain', 'node'],
    default: 'plain',
  },
  profile: {
    doc: 'aws, or yandex: FIFO queues also treat equal bodies as duplicates',
    value: 'NAME',
    choices: ['aws', 'yandex'],
    default: 'aws',
  },
  limits: {
    doc: 'strict, or relaxed: no 60 s wait before a name can be reused or a queue purged again',
    value: 'KIND',
    choices: ['strict', 'relaxed'],
    default: 'strict',
  },
  auth: {
    doc: 'sigv4: requests must be signed with a key from the config file or the environment',
    value: 'KIND',
    choices: ['off', 'sigv4'],
    default: 'off',
  },
  'enforce-policies': {
    doc: 'topics deliver only to queues whose policy allows it, as on AWS',
  },
  'allow-endpoints': {
    doc: 'address range (CIDR) or host that topics may call although it is not public; with --auth sigv4; can be repeated',
    value: 'CIDR|HOST',
    isList: true,
    pattern: /^([0-9a-fA-F:.]+\/\d{1,3}|[0-9a-fA-F:.]+|[A-Za-z0-9._-]+)$/,
    form: 'an address, a range like 10.0.0.0/8, or a host name',
  },
  contract: {
    doc: 'JSON file with the contracts of queues',
    value: 'FILE',
  },
  ledger: {
    doc: 'directory for a record of what happens to every message, for oncemq trace',
    value: 'DIR',
  },
  'ledger-max-bytes': {
    doc: 'maximum size of the ledger, at least 1000000; its oldest part is removed first',
    value: 'BYTES',
    pattern: /^[1-9][0-9]{6,14}$/,
    form: 'a number of bytes, at least 1000000',
    default: '1073741824',
  },
  log: {
    doc: 'pretty, json or silent: how errors are logged, to standard error',
    value: 'FORM',
    choices: ['pretty', 'json', 'silent'],
    default: 'pretty',
  },
  config: {
    doc: 'JSON file with these settings, credentials, and queues and topics to create',
    value: 'FILE',
  },
};

const names = Object.keys(settings);
const environmentPrefix = 'ONCEMQ_';

/**
 * Variables with the same prefix that are not in the table: those of other commands, and those of the clone's scripts and
 * tests, which the servers that they start inherit.
 */
const otherVariables: readonly string[] = [
  'ONCEMQ_URL',
  'ONCEMQ_NO_INSTALL',
  'ONCEMQ_TEST_POSTGRES_URL',
  ...credentialVariables,
];

/** What is no single value: a key of the config file, or an option of a program. Not checked yet. */
export interface Lists {
  readonly credentials?: unknown;
  readonly queues?: unknown;
  readonly topics?: unknown;
}

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
    for (const [name, value] of Object.entries(values)) check(name, value, spell(name));
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

type Given = Readonly<Record<string, string>>;

/** The settings of one origin, and how one of them is named there, for errors. */
interface Source {
  readonly values: Given;
  spell(name: string): string;
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

/** Whether a switch is given and not turned off. */
function isOn(value: string | undefined): boolean {
  return value === 'true' || value === '1';
}

const switchValues = ['true', 'false', '1', '0'];

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

function check(name: string, value: string, spelled: string): void {
  const setting = settings[name] as Setting;
  const { pattern, notYet, value: taken, doc, form = doc } = setting;
  const choices = taken === undefined ? switchValues : setting.choices;
  if (value === '') throw new ConfigError(`${spelled} needs a value: ${doc}.`);
  if (notYet !== undefined) throw new ConfigError(notYet);
  if (choices !== undefined && !choices.includes(value)) {
    throw new ConfigError(`${spelled} must be one of ${choices.join(', ')}, not ${value}.`);
  }
  const wrong = (setting.isList ? listOf(value) : [value]).find((each) => !pattern?.test(each));
  if (pattern !== undefined && wrong !== undefined) {
    throw new ConfigError(`${spelled}: ${wrong} is not valid (${form}).`);
  }
}

/** The values of a setting that is a list. */
function listOf(value = ''): string[] {
  return value === '' ? [] : value.split(',').map((each) => each.trim());
}

function checkNames(
  given: Readonly<Record<string, string>>,
  kind: string,
  spell: (name: string) => string,
  others: readonly string[] = [],
): Record<string, string> {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(settings, name)) continue;
    const near = nearestName(name, [...names, ...others]);
    const hint = near === undefined ? '' : ` Did you mean ${spell(near)}?`;
    throw new ConfigError(`There is no ${kind} ${spell(name)}.${hint}`);
  }
  return { ...given };
}

function environmentSettings(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith(environmentPrefix) || value === undefined) continue;
    if (otherVariables.includes(variable) || isServiceLink(variable, value)) continue;
    const name = variable.slice(environmentPrefix.length).toLowerCase().replaceAll('_', '-');
    found[name] = value;
  }
  return checkNames(found, 'variable', variableOf);
}

function variableOf(name: string): string {
  return `${environmentPrefix}${name.toUpperCase().replaceAll('-', '_')}`;
}

/** The setting's key in a config file. */
function keyOf(name: string): string {
  return name.replace(/-[a-z]/g, (pair) => (pair[1] as string).toUpperCase());
}

interface FileSettings {
  readonly settings: Readonly<Record<string, string>>;
  readonly lists: Lists;
}

const noFile: FileSettings = { settings: {}, lists: {} };

function fileSettings(file: string): FileSettings {
  const { queues, topics, credentials, ...others } = parseFile(file);
  const found = Object.entries(others).map(([key, value]): [string, string] => {
    const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (name === 'config')
      throw new ConfigError(`${file}: a config file cannot refer to another one.`);
    const isPlain = ['string', 'number', 'boolean'].includes(typeof value);
    const isList = settings[name]?.isList === true && isListOfTexts(value);
    if (Object.hasOwn(settings, name) && !isPlain && !isList) {
      const form = settings[name]?.isList ? 'a string or a list of strings' : plainForm;
      throw new ConfigError(`${file}: ${key} must be ${form}.`);
    }
    return [name, isPlain || isList ? String(value) : ''];
  });
  const lists = ['queues', 'topics', 'credentials'];
  return {
    settings: checkNames(Object.fromEntries(found), `setting in ${file}:`, keyOf, lists),
    lists: { queues, topics, credentials },
  };
}

const plainForm = 'a string, a number, true or false';

function isListOfTexts(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string')
  );
}

function parseFile(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`The config file ${file} cannot be read: ${(cause as Error).message}.`, {
      cause,
    });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch (error) {
    // Omits the part of the file that JSON.parse quotes, and the cause, which contains it: it may be a secret.
    const reason = (error as Error).message.replace(/, (\.\.\.)?".*$/s, '');
    throw new ConfigError(`${file} is not JSON: ${reason}.`);
  }
  throw new ConfigError(`${file} must contain a JSON object.`);
}
