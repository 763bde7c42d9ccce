/**
 * Finds rows of a slab by hash, in constant time at any size and without ever stopping to rehash: linear hashing
 * (Litwin 1980). The number of buckets grows by one with each row, splitting one bucket, so the cost of growth is
 * spread evenly; a Map of millions would stop for a large part of a second instead, and ends at 2^24 entries.
 *
 * Rows of one bucket are chained through a word of their own records. The index compares no keys: the user walks
 * `first` and `next` and looks for itself. Costs 4 bytes a bucket beside the chain word. Where most that is looked for is
 * not there, two buckets a row spare half of the rows that are looked at in vain, each a miss of the cache.
 */

import { none, type Slab } from './slab.ts';

/** Large pages for the reason that a slab has them. */
const pageBits = 16;
const pageBuckets = 1 << pageBits;
const pageMask = pageBuckets - 1;
/** Of the first page at the start, and what stays of it when the index is empty. */
const bucketsMin = 16;
const bucketsKeptMax = 512;

export class HashIndex {
  readonly #slab: Slab;
  readonly #nextWord: number;
  readonly #hashOf: (row: number) => number;
  readonly #bucketsPerRow: number;
  readonly #pages: Int32Array[] = [];
  #buckets = 0;
  #room = 0;
  /** All bits of the smallest power of two that holds every bucket. */
  #mask = 0;
  #size = 0;

  /** `hashOf` tells a row's 32-bit hash again when its bucket is split. */
  constructor(
    slab: Slab,
    nextWord: number,
    hashOf: (row: number) => number,
    bucketsPerRow: 1 | 2 = 1,
  ) {
    this.#slab = slab;
    this.#nextWord = nextWord;
    this.#hashOf = hashOf;
    this.#bucketsPerRow = bucketsPerRow;
  }

  first(hash: number): number {
    return this.#buckets === 0 ? none : this.#head(this.#bucketOf(hash));
  }

  next(row: number): number {
    return this.#slab.int(row, this.#nextWord);
  }

  insert(hash: number, row: number): void {
    this.#size += 1;
    while (this.#size * this.#bucketsPerRow > this.#buckets) this.#grow();
    const bucket = this.#bucketOf(hash);
    this.#slab.setInt(row, this.#nextWord, this.#head(bucket));
    this.#setHead(bucket, row);
  }

  /** The row must be in the index. */
  remove(hash: number, row: number): void {
    this.#size -= 1;
    const bucket = this.#bucketOf(hash);
    const head = this.#head(bucket);
    if (head === row) {
      this.#setHead(bucket, this.next(row));
    } else {
      let before = head;
      while (this.next(before) !== row) before = this.next(before);
      this.#slab.setInt(before, this.#nextWord, this.next(row));
    }
    if (this.#size === 0) this.clear();
  }

  /** Makes room for as many rows at once, in an index that has none. */
  reserve(rows: number): void {
    const buckets = rows * this.#bucketsPerRow;
    if (this.#size > 0 || buckets <= this.#buckets) return;
    while (this.#room < buckets) this.#addRoom();
    this.#buckets = buckets;
    while (this.#mask < buckets - 1) this.#mask = this.#mask * 2 + 1;
  }

  clear(): void {
    // As in a slab, the first page stays for an index that keeps going from none to one.
    if (this.#room > bucketsKeptMax) {
      this.#pages.length = 0;
      this.#room = 0;
    }
    this.#pages[0]?.fill(none, 0, this.#buckets);
    this.#buckets = 0;
    this.#mask = 0;
    this.#size = 0;
  }

  #bucketOf(hash: number): number {
    const bucket = hash & this.#mask;
    return bucket < this.#buckets ? bucket : bucket & (this.#mask >>> 1);
  }

  #head(bucket: number): number {
    return (this.#pages[bucket >> pageBits] as Int32Array)[bucket & pageMask] as number;
  }

  #setHead(bucket: number, row: number): void {
    (this.#pages[bucket >> pageBits] as Int32Array)[bucket & pageMask] = row;
  }

  /** Adds one bucket and moves into it what now hashes there, from the one bucket that it splits. */
  #grow(): void {
    const added = this.#buckets;
    if (added === this.#room) this.#addRoom();
    this.#buckets = added + 1;
    if (added > this.#mask) this.#mask = this.#mask * 2 + 1;
    if (added === 0) return;
    const split = added & (this.#mask >>> 1);
    let row = this.#head(split);
    this.#setHead(split, none);
    while (row !== none) {
      const following = this.next(row);
      const bucket = this.#bucketOf(this.#hashOf(row));
      this.#slab.setInt(row, this.#nextWord, this.#head(bucket));
      this.#setHead(bucket, row);
      row = following;
    }
  }

  #addRoom(): void {
    const isFirst = this.#room < pageBuckets;
    const buckets = isFirst ? Math.max(2 * this.#room, bucketsMin) : pageBuckets;
    const page = new Int32Array(buckets).fill(none);
    const first = this.#pages[0];
    if (isFirst && first !== undefined) page.set(first);
    this.#pages[isFirst ? 0 : this.#pages.length] = page;
    this.#room = isFirst ? buckets : this.#room + buckets;
  }
}
