/**
 * Where settings come from: flags, the environment, the config file. Each yields them under the names of the table, unchecked;
 * the error for an unknown name suggests the nearest known one.
 */

import { readFileSync } from 'node:fs';
import { nearestName } from '@oncemq/toolkit/nearest-name';
import { isServiceLink } from '../service-links.ts';
import { ConfigError } from './config-error.ts';
import { credentialVariables } from './credentials.ts';
import { settings } from './settings.ts';

export type Given = Readonly<Record<string, string>>;

/** The settings of one origin, and how one of them is named there, for errors. */
export interface Source {
  readonly values: Given;
  spell(name: string): string;
}

/** What is no single value: a key of the config file, or an option of a program. Not checked yet. */
export interface Lists {
  readonly credentials?: unknown;
  readonly queues?: unknown;
  readonly topics?: unknown;
}

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

export function checkNames(
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

export function environmentSettings(
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

export function variableOf(name: string): string {
  return `${environmentPrefix}${name.toUpperCase().replaceAll('-', '_')}`;
}

/** The setting's key in a config file. */
export function keyOf(name: string): string {
  return name.replace(/-[a-z]/g, (pair) => (pair[1] as string).toUpperCase());
}

export interface FileSettings {
  readonly settings: Readonly<Record<string, string>>;
  readonly lists: Lists;
}

export const noFile: FileSettings = { settings: {}, lists: {} };

export function fileSettings(file: string): FileSettings {
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
