/**
 * The hash table behind hash-index.ts, with open addressing and linear probing: each slot has a hash and a row. A row is
 * in its home, the slot that its hash maps to, or after it with no empty slot in between; larger hashes have later homes.
 * The table does not wrap around: a row that finds no slot before the end goes after it.
 *
 * Slots lie in pages that are allocated with their first row. A small table has one short page.
 */

import { none } from './slab.ts';

/** Large pages, for the same reason as in slab.ts. */
const pageBits = 15;
const pageSlots = 1 << pageBits;
const pageMask = pageSlots - 1;

/** How many slots a small table has after its last home, to begin with. */
const tailMin = 8;

export class HashSlots {
  readonly #homes: number;
  readonly #homesPerHash: number;
  /** A slot is two words: the hash, and the row plus one, so that 0 is an empty slot. */
  readonly #pages: (Int32Array | undefined)[];

  constructor(homes: number) {
    this.#homes = homes;
    this.#homesPerHash = homes / 0x1_0000_0000;
    this.#pages = new Array<undefined>((homes >> pageBits) + 2).fill(undefined);
  }

  /** How many homes there are. The slots after the last one hold only rows that found no slot before. */
  get homes(): number {
    return this.#homes;
  }

  home(hash: number): number {
    return ((hash >>> 0) * this.#homesPerHash) | 0;
  }

  hash(slot: number): number {
    const page = this.#pages[slot >> pageBits] as Int32Array;
    return page[(slot & pageMask) * 2] as number;
  }

  /** The row of a slot, or `none`. */
  row(slot: number): number {
    const page = this.#pages[slot >> pageBits];
    return page === undefined ? none : (page[(slot & pageMask) * 2 + 1] as number) - 1;
  }

  setRow(slot: number, row: number): void {
    const page = this.#pages[slot >> pageBits] as Int32Array;
    page[(slot & pageMask) * 2 + 1] = row + 1;
  }

  /** The next slot with this hash, starting at its home or at a slot after it; or `none`. */
  seek(hash: number, from: number): number {
    for (let slot = from; ; slot += 1) {
      const page = this.#pages[slot >> pageBits];
      if (page === undefined) return none;
      const word = (slot & pageMask) * 2;
      if (page[word + 1] === 0) return none;
      if (page[word] === hash) return slot;
    }
  }

  insert(hash: number, row: number): void {
    const slot = this.#emptyFrom(this.home(hash));
    const page = this.#pages[slot >> pageBits] ?? this.#addPage(slot >> pageBits);
    const word = (slot & pageMask) * 2;
    page[word] = hash;
    page[word + 1] = row + 1;
    // The last slot of a short page stays empty, so that every walk stops there.
    if (word + 2 === page.length && page.length < 2 * pageSlots) this.#lengthen(page);
  }

  /** The row must be in the table. */
  remove(hash: number, row: number): void {
    let hole = this.home(hash);
    while (this.row(hole) !== row) hole += 1;
    // Rows after the hole that may use it move up, so that no search ends there too early.
    for (let slot = hole + 1; this.row(slot) !== none; slot += 1) {
      const moved = this.hash(slot);
      if (this.home(moved) > hole) continue;
      this.#write(hole, moved, this.row(slot));
      hole = slot;
    }
    this.#write(hole, 0, none);
  }

  /** Frees the page that ends right before this slot, if one does. */
  dropPageBefore(slot: number): void {
    if ((slot & pageMask) === 0) this.#pages[(slot >> pageBits) - 1] = undefined;
  }

  /** Goes page by page: where many rows share a hash, the walk is long. */
  #emptyFrom(from: number): number {
    let slot = from;
    for (;;) {
      const page = this.#pages[slot >> pageBits];
      if (page === undefined) return slot;
      for (let word = (slot & pageMask) * 2 + 1; word < page.length; word += 2) {
        if (page[word] === 0) return slot;
        slot += 1;
      }
    }
  }

  #write(slot: number, hash: number, row: number): void {
    const page = this.#pages[slot >> pageBits] as Int32Array;
    const word = (slot & pageMask) * 2;
    page[word] = hash;
    page[word + 1] = row + 1;
  }

  #addPage(number: number): Int32Array {
    const slots = number === 0 ? Math.min(this.#homes + tailMin, pageSlots) : pageSlots;
    const page = new Int32Array(2 * slots);
    this.#pages[number] = page;
    return page;
  }

  /** Only the first page is ever short. */
  #lengthen(page: Int32Array): void {
    const longer = new Int32Array(Math.min(2 * page.length, 2 * pageSlots));
    longer.set(page);
    this.#pages[0] = longer;
  }
}
