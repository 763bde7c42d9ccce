/**
 * Finds rows by hash, in constant time at any size and without ever pausing to rehash; a Map of millions would pause for
 * a large part of a second, and ends at 2^24 entries. The index compares no keys: the caller walks the rows of one hash
 * with `first` and `next` and compares them itself.
 *
 * Hashes and rows lie side by side in open slots (hash-slots.ts), so a miss, an insert or a removal touches one or two
 * cache lines and no row. When four of five slots are taken, a larger table takes over: from then on each insert moves the
 * rows of a few slots to it, from the first slot to the last, and the pages left behind are freed. Where memory counts, a
 * table grows by 1.4, which makes 10 to 14 bytes a row; up to a million it doubles, and moves its rows half as often.
 */

import { HashSlots } from './hash-slots.ts';
import { none } from './slab.ts';

const homesMin = 16;
/** Up to this size a table is moved all at once, and stays when the index becomes empty. */
const homesSmallMax = 1024;
/** Up to this size a table doubles. */
const homesDoubledMax = 1 << 20;
const growth = 1.4;
const fullness = 0.8;
/** Enough to finish before the next table is full: by then at least a third as many rows have come as the old one had slots. */
const slotsPerInsert = 4;

export class HashIndex {
  #slots: HashSlots = new HashSlots(homesMin);
  /** The previous table while rows are moved from it: rows whose home in it is below the frontier already have been. */
  #former: HashSlots | undefined;
  #frontier = 0;
  #size = 0;
  #sizeMax: number = homesMin * fullness;

  /** The first slot with this hash, or `none`; slots are valid until the next change. */
  first(hash: number): number {
    const mixed = spread(hash);
    const former = this.#former;
    if (former !== undefined) {
      const home = former.home(mixed);
      if (home >= this.#frontier) return turned(former.seek(mixed, home));
    }
    return this.#slots.seek(mixed, this.#slots.home(mixed));
  }

  /** The next slot with the same hash, or `none`. */
  next(slot: number): number {
    if (slot >= 0) return this.#slots.seek(this.#slots.hash(slot), slot + 1);
    const former = this.#former as HashSlots;
    const inFormer = turned(slot);
    return turned(former.seek(former.hash(inFormer), inFormer + 1));
  }

  /** The row in a slot. */
  row(slot: number): number {
    return slot >= 0 ? this.#slots.row(slot) : (this.#former as HashSlots).row(turned(slot));
  }

  /** Replaces the row in a slot with another row of the same hash. */
  setRow(slot: number, row: number): void {
    if (slot >= 0) this.#slots.setRow(slot, row);
    else (this.#former as HashSlots).setRow(turned(slot), row);
  }

  insert(hash: number, row: number): void {
    if (this.#size >= this.#sizeMax && this.#former === undefined) this.#grow();
    if (this.#former !== undefined) this.#move(this.#former, slotsPerInsert);
    this.#size += 1;
    const mixed = spread(hash);
    this.#tableOf(mixed).insert(mixed, row);
  }

  /** The row must be in the index. */
  remove(hash: number, row: number): void {
    this.#size -= 1;
    const mixed = spread(hash);
    this.#tableOf(mixed).remove(mixed, row);
    if (this.#size === 0 && this.#slots.homes > homesSmallMax) this.clear();
  }

  /** Makes room for this many rows at once, if the index is empty. */
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
    this.#setSlots(Math.ceil(former.homes * (former.homes <= homesDoubledMax ? 2 : growth)));
    if (isSmall) this.#move(former, former.homes);
  }

  /** Moves the rows of that many slots, and on to the next empty slot, so that no row is left after a home already moved. */
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

/** Slots of the former table are negative outside of this class; `none` is the same in both. */
function turned(slot: number): number {
  return slot === none ? none : -2 - slot;
}

/** Spreads hashes that differ only in some bits over all homes, which their upper bits choose. */
export function spread(hash: number): number {
  return Math.imul(hash ^ (hash >>> 16), 0x9e3779b1);
}
