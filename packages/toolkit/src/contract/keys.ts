/**
 * Dedupe keys built from parts: `key('landsat', scene, date)`. Two different lists of parts never give the same string,
 * so two different events cannot collapse because a value contains a separator.
 *
 * Parts are joined by a slash. In strings, the marks used here (slash, percent, hash) are percent-encoded, and so is
 * everything that is not ASCII. Other types get a leading hash: the number 5 is `#5`, the string "5" is `5`.
 */

import { ContractError, refuse } from './refusals.ts';

export type KeyPart = string | number | bigint | boolean | Date;

/** Left readable: harmless in a key and common in names and times. encodeURIComponent is stricter than we need. */
const readable: ReadonlyMap<string, string> = new Map([
  ['%3A', ':'],
  ['%2B', '+'],
  ['%3D', '='],
  ['%2C', ','],
  ['%40', '@'],
]);

export function key(...parts: readonly [KeyPart, ...KeyPart[]]): string {
  const text = parts.map(partText).join('/');
  if (text === '') throw new ContractError(refuse('key-missing'));
  return text;
}

function partText(part: KeyPart): string {
  if (typeof part === 'string') return encoded(part);
  if (typeof part === 'bigint') return `#${part}n`;
  if (typeof part === 'boolean') return `#${part}`;
  if (typeof part === 'number' && Number.isFinite(part))
    return `#${Object.is(part, -0) ? '-0' : part}`;
  if (part instanceof Date && !Number.isNaN(part.getTime())) return `#${part.toISOString()}`;
  throw invalid(`has a part that identifies nothing: ${String(part)}`);
}

function encoded(text: string): string {
  // encodeURIComponent would throw too, with a less helpful message.
  if (/\p{Surrogate}/u.test(text)) throw invalid('has a part that is not valid Unicode');
  return encodeURIComponent(text).replace(/%[0-9A-F]{2}/g, (code) => readable.get(code) ?? code);
}

function invalid(reason: string): ContractError {
  return new ContractError(refuse('key-invalid', { reason }));
}
