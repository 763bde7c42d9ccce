/**
 * Canonical JSON (RFC 8785): one value, one text, one hash. Deduplication by content compares bytes, so a replay that
 * means the same must be the same bytes; that holds only for values that survive JSON unchanged.
 *
 * The package canonicalize does the serialization. Values that it would alter or drop are refused here first: numbers
 * that are not finite, strings that are not valid Unicode, types that JSON lacks, and objects that would become `{}`.
 */

import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { type Refusal, refuse } from './refusals.ts';

const depthMax = 100;

/** The canonical text of a value, or why it has none. */
export function canonicalText(
  value: unknown,
): { readonly ok: true; readonly text: string } | Refusal {
  return notCanonical(value, '$', 0) ?? { ok: true, text: canonicalize(value) as string };
}

/** SHA-256 in lower-case hexadecimal, the way SQS derives a deduplication id from a body. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/**
 * The first number in a JSON text that a reader with 64-bit floats would change, or that a writer may already have
 * changed: beyond 2^53, two consecutive ids are the same number (I-JSON, RFC 7493, 2.2).
 */
export function changedNumber(json: string): string | undefined {
  for (const [token] of json.matchAll(
    /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g,
  )) {
    if (!token.startsWith('"') && isChanged(token)) return token;
  }
  return undefined;
}

/** Seventeen significant digits identify every 64-bit float uniquely (IEEE 754). */
const digitsMax = 17;

function isChanged(token: string): boolean {
  const number = Number(token);
  const isInteger = /^-?\d+$/.test(token);
  const digits = (token.split(/e/i)[0] as string).replace(/\D/g, '').replace(/^0+|0+$/g, '');
  const isLost = !Number.isFinite(number) || (number === 0 && digits !== '');
  return isLost || digits.length > digitsMax || (isInteger && !Number.isSafeInteger(number));
}

function notCanonical(value: unknown, path: string, depth: number): Refusal | undefined {
  if (value === null || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') {
    return Number.isFinite(value)
      ? undefined
      : refuse('number-not-canonical', { number: value, path });
  }
  if (typeof value === 'bigint') {
    return refuse('number-not-canonical', { number: String(value), path });
  }
  const wrong = (reason: string): Refusal => refuse('value-not-canonical', { path, reason });
  if (typeof value === 'string') {
    if (hasLoneSurrogate(value)) return wrong('the string is not valid Unicode');
    return isUnsendable(value) ? wrong('the string contains U+FFFE or U+FFFF') : undefined;
  }
  if (typeof value !== 'object') return wrong(`JSON has no type ${typeof value}`);
  if (depth >= depthMax)
    return wrong(`it is nested deeper than ${depthMax} levels, or contains itself`);
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return notCanonical(value.toJSON(), path, depth + 1);
  }
  if (isHollow(value)) return wrong(`a ${value.constructor.name} would become {}`);
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [name, member] of members) {
    // As in JSON.stringify, an undefined member counts as absent; in an array it would become null.
    if (member === undefined && !Array.isArray(value)) continue;
    if (hasLoneSurrogate(String(name)) || isUnsendable(String(name)))
      return wrong('the name of a member is not valid Unicode');
    const refusal = notCanonical(member, `${path}.${String(name)}`, depth + 1);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/**
 * An instance of a class whose contents JSON does not see: a Map, a Set, a Promise, anything with its state in private
 * fields. The prototype of a plain object has no prototype itself, in every realm.
 */
function isHollow(value: object): boolean {
  if (Array.isArray(value) || Object.keys(value).length > 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

/** Noncharacters (RFC 7493, 2.1) that a queue refuses in a body. JSON escapes the control characters that it refuses. */
function isUnsendable(text: string): boolean {
  return /[\uFFFE\uFFFF]/.test(text);
}

function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}
