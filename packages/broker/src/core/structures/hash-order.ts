/**
 * Collects rows and their hashes, and hands them on in the order of their slots in a hash table. A window of millions is
 * loaded row by row, each in a random slot of a table that no cache holds: most of the time goes into finding the memory.
 * In order, neighbors follow each other. Rows of one hash stay in the order in which they came.
 */

import { spread } from './hash-index.ts';

/** How many are ordered at once; the rest of a load waits for its first use, which must not take long. */
const rowsMax = 1 << 18;
/** The upper bits of a spread hash, which choose the slot. */
const bits = 12;
const shift = 32 - bits;

export class HashOrder {
  readonly #hashes: Int32Array = new Int32Array(rowsMax);
  readonly #rows: Int32Array = new Int32Array(rowsMax);
  readonly #orderedHashes: Int32Array = new Int32Array(rowsMax);
  readonly #orderedRows: Int32Array = new Int32Array(rowsMax);
  #size = 0;

  get isFull(): boolean {
    return this.#size === rowsMax;
  }

  add(hash: number, row: number): void {
    this.#hashes[this.#size] = hash;
    this.#rows[this.#size] = row;
    this.#size += 1;
  }

  /** Hands on all of them, and is empty then. */
  drain(visit: (hash: number, row: number) => void): void {
    const ends = new Int32Array(1 << bits);
    for (let at = 0; at < this.#size; at += 1) {
      const part = spread(this.#hashes[at] as number) >>> shift;
      ends[part] = (ends[part] as number) + 1;
    }
    for (let part = 1; part < ends.length; part += 1) {
      ends[part] = (ends[part] as number) + (ends[part - 1] as number);
    }
    for (let at = this.#size - 1; at >= 0; at -= 1) {
      const hash = this.#hashes[at] as number;
      const part = spread(hash) >>> shift;
      const to = (ends[part] as number) - 1;
      ends[part] = to;
      this.#orderedHashes[to] = hash;
      this.#orderedRows[to] = this.#rows[at] as number;
    }
    for (let at = 0; at < this.#size; at += 1) {
      visit(this.#orderedHashes[at] as number, this.#orderedRows[at] as number);
    }
    this.#size = 0;
  }
}
