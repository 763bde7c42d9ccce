/**
 * Finds rows by hash, in constant time at any size and without ever stopping to rehash; a Map of millions would stop for
 * a large part of a second, and ends at 2^24 entries. The index compares no keys: the user walks `first` and `next` over
 * the rows of one hash and looks for itself.
 *
 * Hashes and rows stand side by side in open slots (hash-slots.ts). So what is not there is found missing, put in and
 * taken out again by touching one or two lines of the cache, and no row. When four of five slots are taken, a table
 * with two more for each five takes over: each insert from then on moves a few slots' rows to it, from the first slot to
 * the last, and the pages that are left are given back. That makes 10 to 14 bytes a row.
 */

import { HashSlots } from './hash-slots.ts';
import { none } from './slab.ts';

const homesMin = 16;
/** Up to this size a table is moved at once, and stays when the index is empty. */
const homesSmallMax = 1024;
const growth = 1.4;
const fullness = 0.8;
/** Enough to be done before the next table is full: by then a third as many rows came as the old one had slots. */
const slotsPerInsert = 4;

export class HashIndex {
  #slots: HashSlots = new HashSlots(homesMin);
  /** The table before, while rows are moved from it: those with a home there below the frontier have been. */
  #former: HashSlots | undefined;
  #frontier = 0;
  #size = 0;
  #sizeMax: number = homesMin * fullness;

  /** The first place of this hash, or `none`; places are good until the next change. */
  first(hash: number): number {
    const mixed = mix(hash);
    const former = this.#former;
    if (former !== undefined) {
      const home = former.home(mixed);
      if (home >= this.#frontier) return turned(former.seek(mixed, home));
    }
    return this.#slots.seek(mixed, this.#slots.home(mixed));
  }

  /** The next place of the same hash, or `none`. */
  next(place: number): number {
    if (place >= 0) return this.#slots.seek(this.#slots.hash(place), place + 1);
    const former = this.#former as HashSlots;
    const slot = turned(place);
    return turned(former.seek(former.hash(slot), slot + 1));
  }

  /** The row at a place. */
  row(place: number): number {
    return place >= 0 ? this.#slots.row(place) : (this.#former as HashSlots).row(turned(place));
  }

  /** Puts another row of the same hash in the place of one. */
  setRow(place: number, row: number): void {
    if (place >= 0) this.#slots.setRow(place, row);
    else (this.#former as HashSlots).setRow(turned(place), row);
  }

  insert(hash: number, row: number): void {
    if (this.#size >= this.#sizeMax && this.#former === undefined) this.#grow();
    if (this.#former !== undefined) this.#move(this.#former, slotsPerInsert);
    this.#size += 1;
    const mixed = mix(hash);
    this.#tableOf(mixed).insert(mixed, row);
  }

  /** The row must be in the index. */
  remove(hash: number, row: number): void {
    this.#size -= 1;
    const mixed = mix(hash);
    this.#tableOf(mixed).remove(mixed, row);
    if (this.#size === 0 && this.#slots.homes > homesSmallMax) this.clear();
  }

  /** Makes room for as many rows at once, in an index that has none. */
  reserve(rows: number): void {
    if (this.#size > 0 || rows <= this.#sizeMax) return;
    this.#setSlots(Math.ceil(rows / fullness) + 1);
  }

  clear(): void {
    this.#former = undefined;
    this.#size = 0;
    this.#setSlots(homesMin);
  }

  #tableOf(mixed: number): HashSlots {
    const former = this.#former;
    return former !== undefined && former.home(mixed) >= this.#frontier ? former : this.#slots;
  }

  #setSlots(homes: number): void {
    this.#slots = new HashSlots(homes);
    this.#sizeMax = Math.floor(homes * fullness);
  }

  #grow(): void {
    const former = this.#slots;
    const isSmall = former.homes <= homesSmallMax;
    this.#former = former;
    this.#frontier = 0;
    this.#setSlots(Math.ceil(former.homes * (isSmall ? 2 : growth)));
    if (isSmall) this.#move(former, former.homes);
  }

  /** Moves what stands in as many slots and on to the next empty one, so that no row stays behind its home. */
  #move(former: HashSlots, slots: number): void {
    const stop = Math.min(this.#frontier + slots, former.homes);
    let slot = this.#frontier;
    for (let row = former.row(slot); slot < stop || row !== none; row = former.row(slot)) {
      if (row !== none) this.#slots.insert(former.hash(slot), row);
      slot += 1;
      former.dropPageBefore(slot);
    }
    this.#frontier = slot;
    if (slot >= former.homes) this.#former = undefined;
  }
}

/** A place in the former table is told by its sign; `none` is the same in both. */
function turned(place: number): number {
  return place === none ? none : -2 - place;
}

/** Spreads hashes that differ only in some bits over all homes, which their upper bits choose. */
function mix(hash: number): number {
  return Math.imul(hash ^ (hash >>> 16), 0x9e3779b1);
}
