/**
 * What the readers of both wire forms share: how a value that cannot be read is reported (rule 2.7), which numbers are
 * integers, and base64. A reader returns the value or an `Unreadable`, so that good values need no wrapper.
 */

import type { Type, Value } from '../shapes/shape.ts';
import { type Fault, malformed } from './error-codes.ts';

/** Returned instead of a value that cannot be read. */
export class Unreadable {
  readonly fault: Fault;

  constructor(fault: Fault) {
    this.fault = fault;
  }
}

export type Reading = Value | Unreadable;

const typeNames: Readonly<Record<Type['is'], string>> = {
  string: 'a String',
  integer: 'an Integer',
  long: 'a Long',
  boolean: 'a Boolean',
  blob: 'a Blob',
  list: 'a List',
  map: 'a Map',
  structure: 'a Structure',
};

export type Token = 'STRING_VALUE' | 'NUMBER_VALUE' | 'TRUE_VALUE' | 'FALSE_VALUE';

export function unconvertible(token: Token, type: Type): Unreadable {
  return new Unreadable(malformed(`${token} can not be converted to ${typeNames[type.is]}`));
}

const integerMax = 2 ** 31 - 1;

/** Whether the number fits the type: 32 bits for an integer, the exact range of a JSON number for a long. */
export function isWhole(value: number, type: Type): boolean {
  const max = type.is === 'integer' ? integerMax : Number.MAX_SAFE_INTEGER;
  return Number.isInteger(value) && Math.abs(value) <= max;
}

/** Decodes padded base64. Node's decoder skips invalid characters, which shows in the length. */
export function readBlob(text: string, type: Type): Reading {
  const bytes = Buffer.from(text, 'base64');
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const isWholly = (text.length / 4) * 3 - padding === bytes.length;
  const isUrlForm = text.includes('-') || text.includes('_');
  return isWholly && !isUrlForm ? bytes : unconvertible('STRING_VALUE', type);
}

export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
