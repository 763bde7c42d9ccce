/**
 * An index of the records that are in the journal but not in LMDB's file yet: the newest record of each key. The records stay
 * in the bytes of a journal file, and a layer maps each key to its position there. A newer layer hides the records of older
 * layers and of LMDB.
 */

import type { Entry, KeyRange, Put } from '../file/lmdb-file.ts';
import { isWrittenOnce } from '../records/keys.ts';
import { type Frame, framesIn, keyAt, keyTextAt, recordsIn, valueAt } from './frame.ts';
import type { Durability } from './journal.ts';

/** What `merged` reads, newer than LMDB's file. */
export interface Records {
  /** Null if it is removed; undefined if it is not here. */
  get(key: string): Buffer | null | undefined;
  /** In order. */
  keysIn(start: string, end: string): Generator<string, void>;
}

export class JournalIndex implements Records {
  readonly #bytes: Buffer;
  readonly #records: Map<string, number> = new Map();
  #sortedKeys: readonly string[] | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get size(): number {
    return this.#records.size;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  add(frame: Frame): void {
    const bytes = this.#bytes;
    for (const record of recordsIn(bytes, frame)) {
      const key = keyTextAt(bytes, record);
      // A record written and removed within this layer is forgotten, provided no older layer can hold its key.
      const isRemoval = valueAt(bytes, record) === null;
      if (isRemoval && isWrittenOnce(key) && this.#hasValue(key)) this.#records.delete(key);
      else this.#records.set(key, record);
    }
    this.#sortedKeys = undefined;
  }

  clear(): void {
    this.#records.clear();
    this.#sortedKeys = undefined;
  }

  /** Null if it is removed; undefined if the layer does not have it. */
  get(key: string): Buffer | null | undefined {
    const record = this.#records.get(key);
    return record === undefined ? undefined : valueAt(this.#bytes, record);
  }

  has(key: string): boolean {
    return this.#records.has(key);
  }

  #hasValue(key: string): boolean {
    const record = this.#records.get(key);
    return record !== undefined && valueAt(this.#bytes, record) !== null;
  }

  /** Puts all its records, except those that a newer layer has as well. */
  each(put: Put, newer?: JournalIndex): void {
    for (const [key, record] of this.#records) {
      if (newer?.has(key) !== true) put(keyAt(this.#bytes, record), valueAt(this.#bytes, record));
    }
  }

  /** In order; sorted again only after an addition. */
  keysIn(start: string, end: string): Generator<string, void> {
    this.#sortedKeys ??= [...this.#records.keys()].sort();
    return keysFrom(this.#sortedKeys, start, end);
  }
}

/** Those of the sorted keys that are in the range. */
export function* keysFrom(
  sorted: readonly string[],
  start: string,
  end: string,
): Generator<string, void> {
  for (let at = firstFrom(sorted, start); at < sorted.length; at += 1) {
    const key = sorted[at] as string;
    if (key >= end) return;
    yield key;
  }
}

/** Null if the record is removed; undefined if no layer has it. */
export function newest(layers: readonly Records[], key: string): Buffer | null | undefined {
  for (let at = layers.length - 1; at >= 0; at -= 1) {
    const value = layers[at]?.get(key);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** A record to be written; null removes it. */
export interface JournalRecords {
  readonly key: Buffer;
  readonly value: Buffer | null;
}

/** How much of it a part has, at most, unless a single record is larger. */
const partRecordsMax = 256;
const partBytesMax = 256 * 1024;

/** All that the layers have, in parts; removals first, since they make room for the rest. */
export function* partsOf(layers: readonly JournalIndex[]): Generator<readonly JournalRecords[]> {
  const removals: JournalRecords[] = [];
  const others: JournalRecords[] = [];
  for (const [index, layer] of layers.entries()) {
    const put: Put = (key, value) => (value === null ? removals : others).push({ key, value });
    layer.each(put, layers[index + 1]);
  }
  let part: JournalRecords[] = [];
  let bytes = 0;
  for (const record of [...removals, ...others]) {
    part.push(record);
    bytes += record.value?.length ?? 0;
    if (part.length < partRecordsMax && bytes < partBytesMax) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}

/** What LMDB's file and the layers have together, in order. Values from the layers are copies. */
export function* merged(
  inFile: Iterable<Entry>,
  layers: readonly Records[],
  range: KeyRange,
): Generator<Entry> {
  const keys = keysOf(layers, range.start.toString('latin1'), range.end.toString('latin1'));
  let next = keys.next();
  for (const entry of inFile) {
    const key = entry.key.toString('latin1');
    for (; !next.done && next.value < key; next = keys.next()) yield* entryOf(layers, next.value);
    if (next.done || next.value !== key) yield entry;
  }
  for (; !next.done; next = keys.next()) yield* entryOf(layers, next.value);
}

/** The keys of all layers, in order, each once. */
function* keysOf(layers: readonly Records[], start: string, end: string): Generator<string, void> {
  const walks = layers.map((layer) => layer.keysIn(start, end));
  const heads = walks.map((walk) => walk.next());
  for (;;) {
    let least: string | undefined;
    for (const { done, value } of heads) {
      if (!done && (least === undefined || value < least)) least = value;
    }
    if (least === undefined) return;
    yield least;
    for (const [index, walk] of walks.entries()) {
      if (heads[index]?.value === least) heads[index] = walk.next();
    }
  }
}

/** Nothing if the record is removed. */
function* entryOf(layers: readonly Records[], key: string): Generator<Entry> {
  const value = newest(layers, key);
  if (value) yield { key: Buffer.from(key, 'latin1'), value: Buffer.from(value) };
}

/** Which frame LMDB's file has last: all before it are there as well. */
export interface Checkpoint {
  readonly run: number;
  readonly number: number;
  /** Set by a run whose answers did not wait for the disk: after a power cut, its commits may be there in part. */
  readonly durability?: Durability | undefined;
}

export interface JournalLayers {
  /** What LMDB's file does not have, the oldest first. */
  readonly layers: readonly JournalIndex[];
  /** The number of the last commit. */
  readonly last: number;
  /** Where in each file the frames end that are in the layers. */
  readonly ends: readonly number[];
}

/** What these files of the journal have beyond what LMDB's file has. */
export function layersOf(files: readonly Buffer[], { run, number }: Checkpoint): JournalLayers {
  const following = new Map<number, { frame: Frame; file: number }>();
  for (const [file, bytes] of files.entries()) {
    for (const frame of framesIn(bytes)) {
      const other = following.get(frame.after)?.frame.number ?? 0;
      if (frame.run === run && frame.number > other) following.set(frame.after, { frame, file });
    }
  }
  const layers = files.map((bytes) => new JournalIndex(bytes));
  const inOrder = new Set<JournalIndex>();
  const ends = files.map(() => 0);
  let last = number;
  for (let next = following.get(last); next !== undefined; next = following.get(last)) {
    const layer = layers[next.file] as JournalIndex;
    layer.add(next.frame);
    inOrder.add(layer);
    ends[next.file] = next.frame.end;
    last = next.frame.number;
  }
  return { layers: [...inOrder], last, ends };
}

/** The index of the first key that is not before this one. */
function firstFrom(keys: readonly string[], start: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Reads no more than it returns: `check` asks for the first key of many ranges. */
export function* firstKeys(entries: Iterable<Entry>, count: number): Generator<Buffer> {
  let left = count;
  for (const { key } of entries) {
    yield key;
    left -= 1;
    if (left === 0) return;
  }
}
