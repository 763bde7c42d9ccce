/**
 * What is in the journal and not in LMDB's file yet: for each key the newest record. The records stay in the bytes of a
 * file of the journal; a layer knows where in them each is. A newer layer hides what an older one, or LMDB, has.
 */

import { type Frame, framesIn, keyAt, keyTextAt, recordsIn, valueAt } from './frame.ts';
import { isWrittenOnce } from './keys.ts';
import type { Entry, KeyRange, Put } from './lmdb-file.ts';

export class Layer {
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
      // What came and goes within the layer leaves no trace, if nobody else can have it.
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
  each(put: Put, newer?: Layer): void {
    for (const [key, record] of this.#records) {
      if (newer?.has(key) !== true) put(keyAt(this.#bytes, record), valueAt(this.#bytes, record));
    }
  }

  /** In order; sorted once for as long as nothing is added. */
  *keysIn(start: string, end: string): Generator<string, void> {
    this.#sortedKeys ??= [...this.#records.keys()].sort();
    const keys = this.#sortedKeys;
    for (let at = firstFrom(keys, start); at < keys.length; at += 1) {
      const key = keys[at] as string;
      if (key >= end) return;
      yield key;
    }
  }
}

/** Null if the record is removed; undefined if no layer has it. */
export function newest(layers: readonly Layer[], key: string): Buffer | null | undefined {
  for (let at = layers.length - 1; at >= 0; at -= 1) {
    const value = layers[at]?.get(key);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** What LMDB's file and the layers have together, in order. Values from the layers are copies. */
export function* merged(
  inFile: Iterable<Entry>,
  layers: readonly Layer[],
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
function* keysOf(layers: readonly Layer[], start: string, end: string): Generator<string, void> {
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
function* entryOf(layers: readonly Layer[], key: string): Generator<Entry> {
  const value = newest(layers, key);
  if (value) yield { key: Buffer.from(key, 'latin1'), value: Buffer.from(value) };
}

/** Which frame LMDB's file has last: all before it are there as well. */
export interface Folded {
  readonly run: number;
  readonly number: number;
}

/** What these files of the journal have beyond that, as layers, the oldest first. */
export function layersIn(files: readonly Buffer[], { run, number }: Folded): Layer[] {
  const following = new Map<number, { frame: Frame; layer: Layer }>();
  for (const bytes of files) {
    const layer = new Layer(bytes);
    for (const frame of framesIn(bytes)) {
      const other = following.get(frame.after)?.frame.number ?? 0;
      if (frame.run === run && frame.number > other) following.set(frame.after, { frame, layer });
    }
  }
  const layers = new Set<Layer>();
  let next = following.get(number);
  while (next !== undefined) {
    next.layer.add(next.frame);
    layers.add(next.layer);
    next = following.get(next.frame.number);
  }
  return [...layers];
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
