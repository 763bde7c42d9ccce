/**
 * Reads attributes and tags from a config file: an object whose values become strings, as in AWS. Queues and topics share
 * it.
 */

import { ConfigError } from './config-error.ts';

/** Values may be written as numbers, booleans or, for policies, objects; all become strings. */
export function texts(value: unknown, where: string): Record<string, string> {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigError(`${where}: attributes and tags must be objects.`);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [
      key,
      typeof entry === 'object' ? JSON.stringify(entry) : String(entry),
    ]),
  );
}
