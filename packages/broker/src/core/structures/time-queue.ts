/**
 * Items in order of (time, stamp), smallest first. What comes in order, as nearly everything here does (sends,
 * timeouts of one length, expiry), is appended to a linked list in constant time; what comes out of order goes to a
 * binary heap beside it, in O(log n). The first item is the smaller of the two fronts, and any item can be removed
 * in O(1) or O(log n).
 *
 * Used for: messages or groups that are ready, messages that become visible at a time, messages that came with an
 * older send time, receive attempts, queues that have something due. 32 bytes a place.
 */

import { none, Slab } from './slab.ts';

const itemWord = 0;
const previousWord = 1;
const nextWord = 2;
/** Position in the heap; `none` for a place in the list. */
const positionWord = 3;
const timeWord = 4;
const stampWord = 6;
const words = 8;

export class TimeQueue {
  readonly #places: Slab = new Slab(words);
  #head: number = none;
  #tail: number = none;
  #heap: number[] = [];

  get size(): number {
    return this.#places.size;
  }

  /** Returns the item's place, by which it is removed again. */
  insert(item: number, time: number, stamp: number): number {
    const place = this.#places.allocate();
    const page = this.#places.page(place);
    const doubles = this.#places.doubles(place);
    const base = this.#places.base(place);
    page[base + itemWord] = item;
    doubles[(base + timeWord) >> 1] = time;
    doubles[(base + stampWord) >> 1] = stamp;
    if (this.#tail === none || this.#isBefore(this.#tail, place)) {
      page[base + positionWord] = none;
      page[base + previousWord] = this.#tail;
      page[base + nextWord] = none;
      if (this.#tail === none) this.#head = place;
      else this.#places.setInt(this.#tail, nextWord, place);
      this.#tail = place;
    } else {
      this.#heap.push(place);
      this.#rise(this.#heap.length - 1, place);
    }
    return place;
  }

  /** The place of the smallest item, or `none`. */
  first(): number {
    const top = this.#heap[0];
    if (top === undefined) return this.#head;
    return this.#head === none || this.#isBefore(top, this.#head) ? top : this.#head;
  }

  item(place: number): number {
    return this.#places.int(place, itemWord);
  }

  time(place: number): number {
    return this.#places.double(place, timeWord);
  }

  remove(place: number): void {
    const position = this.#places.int(place, positionWord);
    if (position === none) this.#unlink(place);
    else this.#removeFromHeap(position);
    this.#places.release(place);
  }

  clear(): void {
    this.#places.clear();
    this.#head = none;
    this.#tail = none;
    this.#heap = [];
  }

  #isBefore(a: number, b: number): boolean {
    const difference = this.#places.double(a, timeWord) - this.#places.double(b, timeWord);
    if (difference !== 0) return difference < 0;
    return this.#places.double(a, stampWord) < this.#places.double(b, stampWord);
  }

  #unlink(place: number): void {
    const previous = this.#places.int(place, previousWord);
    const next = this.#places.int(place, nextWord);
    if (previous === none) this.#head = next;
    else this.#places.setInt(previous, nextWord, next);
    if (next === none) this.#tail = previous;
    else this.#places.setInt(next, previousWord, previous);
  }

  #removeFromHeap(position: number): void {
    const last = this.#heap.pop() as number;
    if (position === this.#heap.length) return;
    this.#rise(position, last);
    this.#sink(this.#places.int(last, positionWord), last);
  }

  #put(position: number, place: number): void {
    this.#heap[position] = place;
    this.#places.setInt(place, positionWord, position);
  }

  #rise(from: number, place: number): void {
    let position = from;
    while (position > 0) {
      const parent = (position - 1) >> 1;
      const above = this.#heap[parent] as number;
      if (!this.#isBefore(place, above)) break;
      this.#put(position, above);
      position = parent;
    }
    this.#put(position, place);
  }

  #sink(from: number, place: number): void {
    const size = this.#heap.length;
    let position = from;
    for (;;) {
      let child = position * 2 + 1;
      if (child >= size) break;
      if (
        child + 1 < size &&
        this.#isBefore(this.#heap[child + 1] as number, this.#heap[child] as number)
      ) {
        child += 1;
      }
      const below = this.#heap[child] as number;
      if (!this.#isBefore(below, place)) break;
      this.#put(position, below);
      position = child;
    }
    this.#put(position, place);
  }
}
