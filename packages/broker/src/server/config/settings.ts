/**
 * Every setting in one table, so that the flag, the variable, the key in the config file and the help text agree; and what is
 * wrong with a value.
 */

import { ConfigError } from './config-error.ts';
import { databaseUrl, embedded } from './database-text.ts';

export interface Setting {
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

/** Whether a switch is given and not turned off. */
export function isOn(value: string | undefined): boolean {
  return value === 'true' || value === '1';
}

const switchValues = ['true', 'false', '1', '0'];

export function checkValue(name: string, value: string, spelled: string): void {
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
export function listOf(value = ''): string[] {
  return value === '' ? [] : value.split(',').map((each) => each.trim());
}
