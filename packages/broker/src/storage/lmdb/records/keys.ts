/**
 * The keys of the store: one byte for the kind, then a name, or a number followed by an id. Numbers are big-endian, so that
 * LMDB sorts keys by them.
 *
 * The contents of a queue or topic are stored under numbers, not under its name. Purging or deleting it abandons the number
 * with one record (`abandoned`); later commits remove the records under that number step by step (`sweep` in
 * record-mapper.ts).
 */

import { type RowKind, rowFamilies, rowKinds } from '../../record-families.ts';

export const kinds = {
  /** About the store: its format, the latest time. */
  store: 0,
  /** A queue's or topic's settings, and the numbers of its contents. */
  queue: 1,
  topic: 2,
  /** When a queue was deleted whose name is still taken. */
  name: 3,
  /** A number whose contents will be removed. */
  abandoned: 4,
  /** The counter, where the window begins, and how much there is. */
  head: 5,
  block: 6,
  /** Which messages of a block are removed. */
  removed: 7,
  /** What a sender wrote, by the message's sequence. */
  content: 8,
  delivery: 9,
  attempt: 10,
  task: 11,
  subscription: 12,
  archived: 13,
  post: 14,
  'post-attempt': 15,
} as const;

export type Kind = keyof typeof kinds;

/** The kinds that are kept under a number of contents. */
export const contentKinds: readonly Kind[] = [
  'head',
  'block',
  'removed',
  'content',
  'delivery',
  'attempt',
  'task',
  'subscription',
  'archived',
  'post',
  'post-attempt',
];

/** Which of its two numbers a queue or topic keeps a kind of rows under: `other` survives a purge, `contents` an end of the archive. */
export function numberOf(kind: RowKind): 'contents' | 'other' {
  return kind === 'task' || kind === 'archived' ? 'other' : 'contents';
}

/** Whether a queue or topic keeps records of this kind under that number. */
export function isKeptUnder(
  number: 'contents' | 'other',
  owner: 'queue' | 'topic',
  kind: Kind,
): boolean {
  if (isRow(kind)) return rowFamilies[kind].owner === owner && numberOf(kind) === number;
  const isOfQueues = kind === 'removed' || kind === 'content';
  return number === 'contents' && (owner === 'queue' || !isOfQueues);
}

function isRow(kind: Kind): kind is RowKind {
  return Object.hasOwn(rowFamilies, kind);
}

const idBytes = 6;
const numberAt = 1;
const idAt = 5;

const numberKey: Buffer = Buffer.alloc(idAt + idBytes);
const numberView: DataView = new DataView(numberKey.buffer, numberKey.byteOffset);

/** The key is overwritten by the next one; LMDB copies it at once. */
export function keyOf(kind: Kind, contents: number, id: number): Buffer {
  numberKey[0] = kinds[kind];
  numberView.setUint32(numberAt, contents);
  numberView.setUint16(idAt, Math.floor(id / 2 ** 32));
  numberView.setUint32(idAt + 2, id);
  return numberKey;
}

export function nameKeyOf(kind: Kind, name: string): Buffer {
  return Buffer.from(`${String.fromCharCode(kinds[kind])}${name}`, 'utf8');
}

export function textKeyOf(kind: Kind, contents: number, id: string): Buffer {
  const key = Buffer.alloc(idAt + Buffer.byteLength(id));
  keyOf(kind, contents, 0).copy(key, 0, 0, idAt);
  key.write(id, idAt, 'utf8');
  return key;
}

/** All keys of a kind, or those under one number. */
export function rangeOf(kind: Kind, contents?: number): { start: Buffer; end: Buffer } {
  if (contents === undefined) {
    return { start: Buffer.from([kinds[kind]]), end: Buffer.from([kinds[kind] + 1]) };
  }
  const [start, end] = [Buffer.alloc(idAt), Buffer.alloc(idAt)];
  for (const [key, number] of [
    [start, contents],
    [end, contents + 1],
  ] as const) {
    key[0] = kinds[kind];
    key.writeUInt32BE(number, numberAt);
  }
  return { start, end };
}

/** The key of a test commit, whose record only shows that there is room. */
export function probeKeyOf(name: string): Buffer {
  return nameKeyOf('store', `probe${name}`);
}

const storeNames = /^(format|journal|time|unsealed|probe.*)$/;

/** Whether a key is one of the store's own, or has the form of some other kind's. */
export function isKnownKey(key: Buffer): boolean {
  const kind = kindNames[key[0] ?? kindNames.length];
  if (kind === 'store') return storeNames.test(nameIn(key));
  return kind !== undefined && (named.has(kind) || key.length >= idAt);
}

const kindNames = Object.keys(kinds) as Kind[];
const named: ReadonlySet<Kind> = new Set<Kind>(['store', 'queue', 'topic', 'name']);
const namedByText: ReadonlySet<Kind> = new Set(
  rowKinds.filter((kind) => rowFamilies[kind].key === 'text'),
);

/** A record's key as text: its kind and its name or number. */
export function keyText(key: Buffer): string {
  const kind = kindNames[key[0] ?? kindNames.length];
  if (kind === undefined || (!named.has(kind) && key.length < idAt))
    return 'record of no known kind';
  if (named.has(kind)) return `${kind} ${nameIn(key)}`;
  if (namedByText.has(kind)) return `${kind} ${textIn(key)}`;
  return key.length < idAt + idBytes ? kind : `${kind} ${idIn(key)}`;
}

/** Whether it is a known key of something that is kept under a number. */
export function hasNumber(key: Buffer): boolean {
  const kind = kindNames[key[0] ?? kindNames.length];
  return kind !== undefined && kind !== 'abandoned' && !named.has(kind) && key.length >= idAt;
}

/** Whether a record with this key, a character for each byte, never changes before it is removed for good. */
export function isWrittenOnce(key: string): boolean {
  return key.charCodeAt(0) === kinds.content;
}

export function nameIn(key: Buffer): string {
  return key.toString('utf8', 1);
}

export function contentsIn(key: Buffer): number {
  return key.readUInt32BE(numberAt);
}

export function idIn(key: Buffer): number {
  return key.readUIntBE(idAt, idBytes);
}

export function textIn(key: Buffer): string {
  return key.toString('utf8', idAt);
}
