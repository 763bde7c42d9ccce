/**
 * The keys of records: a byte for the family, then an id. Bytes compare in the order in which an engine loads them: of an
 * owner its counter, messages in order, window, rows; then what senders wrote, which no engine loads. The catalog's
 * records are an owner's number, then its settings, then its subscriptions; and names that are taken.
 */

import type { Change } from '../../core/changes.ts';
import { type RowKind, rowKinds } from '../record-families.ts';
import type { ContentKind } from './content-codec.ts';

const families = {
  counter: 1,
  message: 2,
  window: 3,
  /** And one for each kind of row. */
  row: 16,
  content: 128,
} as const;

/** Records from this family on are read one by one. */
export const contentsFrom: Buffer = Buffer.from([families.content]);

const contentKinds: readonly ContentKind[] = ['message', 'archived', 'post'];

export type Family = 'counter' | 'message' | 'window' | RowKind;

export function familyByte(family: Family): number {
  if (family === 'counter' || family === 'message' || family === 'window') return families[family];
  return families.row + rowKinds.indexOf(family);
}

export function contentByte(kind: ContentKind): number {
  return families.content + contentKinds.indexOf(kind);
}

export function keyOf(family: number, id: number | string): Buffer {
  if (typeof id === 'string') return Buffer.concat([Buffer.from([family]), Buffer.from(id)]);
  const key = Buffer.alloc(7);
  key[0] = family;
  key.writeUIntBE(id, 1, 6);
  return key;
}

/** All keys of a family, or of an owner in the catalog: from the first up to, but not including, the second. */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

export function rangeOf(family: number): KeyRange {
  return { start: Buffer.from([family]), end: Buffer.from([family + 1]) };
}

const ownerFamily = 1;
const nameFamily = 2;

/** Of a setting in the catalog. */
export function settingKey(number: number, change: Change): Buffer {
  if (change.kind === 'name') return keyOf(nameFamily, change.queue);
  const owner = ownerKey(number);
  if (change.kind !== 'subscription') return Buffer.concat([owner, Buffer.from([0])]);
  return Buffer.concat([owner, Buffer.from([1]), Buffer.from(change.id)]);
}

export function settingsRange(number: number): KeyRange {
  return { start: ownerKey(number), end: ownerKey(number + 1) };
}

/** Numbers of owners need more than six bytes. */
function ownerKey(number: number): Buffer {
  const key = Buffer.alloc(9);
  key[0] = ownerFamily;
  key.writeBigUInt64BE(BigInt(number), 1);
  return key;
}
