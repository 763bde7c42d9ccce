/**
 * Reads what a config file or a program lists of queues and topics: objects with known keys, and their attributes and tags,
 * whose values become strings, as in AWS.
 */

import { nearestName } from '@oncemq/toolkit/nearest-name';
import { ConfigError } from './config-error.ts';

/** Values may be written as numbers, booleans or, for policies, objects; all become strings. */
export function texts(value: unknown, where: string): Record<string, string> {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigError(`${where} must be an object.`);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [
      key,
      typeof entry === 'object' ? jsonOf(entry, `${where}.${key}`) : String(entry),
    ]),
  );
}

/** Objects that are nested too deeply, or, from a program, contain themselves, have no text. */
function jsonOf(value: unknown, where: string): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    const { message } = cause as Error;
    throw new ConfigError(`${where} cannot be written as JSON: ${message}.`, { cause });
  }
}

/** `where` names it in errors. */
export function objectOf(
  value: unknown,
  keys: readonly string[],
  where: string,
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigError(`${where} must be a name, or an object with one.`);
  }
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    const near = nearestName(unknown, keys);
    const hint = near === undefined ? '' : ` Did you mean ${near}?`;
    throw new ConfigError(`${where}: there is no setting ${unknown}.${hint}`);
  }
  return value as Record<string, unknown>;
}
