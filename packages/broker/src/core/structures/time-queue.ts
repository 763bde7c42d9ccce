/**
 * Items in order of (time, stamp), smallest first. What comes in order, as nearly everything here does (sends,
 * timeouts of one length, expiry), is appended to a linked list in constant time; what comes out of order goes to a
 * binary heap beside it, in O(log n). The first item is the smaller of the two fronts, and any item can be removed
 * in O(1) or O(log n).
 *
 * Used for: messages or groups that are ready, messages that become visible at a time, messages that came with an
 * older send time, receive attempts, queues that have something due. 32 bytes a node.
 */

import { none, Slab } from './slab.ts';

const itemWord = 0;
const previousWord = 1;
const nextWord = 2;
/** Position in the heap; `none` for a node in the list. */
const positionWord = 3;
const timeWord = 4;
const stampWord = 6;
const words = 8;

export class TimeQueue {
  readonly #nodes: Slab = new Slab(words);
  #head: number = none;
  #tail: number = none;
  #heap: number[] = [];

  get size(): number {
    return this.#nodes.size;
  }

  /** Returns the item's node, by which it is removed again. */
  insert(item: number, time: number, stamp: number): number {
    const node = this.#nodes.allocate();
    const page = this.#nodes.page(node);
    const doubles = this.#nodes.doubles(node);
    const base = this.#nodes.base(node);
    page[base + itemWord] = item;
    doubles[(base + timeWord) >> 1] = time;
    doubles[(base + stampWord) >> 1] = stamp;
    if (this.#tail === none || this.#isBefore(this.#tail, node)) {
      page[base + positionWord] = none;
      page[base + previousWord] = this.#tail;
      page[base + nextWord] = none;
      if (this.#tail === none) this.#head = node;
      else this.#nodes.setInt(this.#tail, nextWord, node);
      this.#tail = node;
    } else {
      this.#heap.push(node);
      this.#rise(this.#heap.length - 1, node);
    }
    return node;
  }

  /** The node of the smallest item, or `none`. */
  first(): number {
    const top = this.#heap[0];
    if (top === undefined) return this.#head;
    return this.#head === none || this.#isBefore(top, this.#head) ? top : this.#head;
  }

  item(node: number): number {
    return this.#nodes.int(node, itemWord);
  }

  time(node: number): number {
    return this.#nodes.double(node, timeWord);
  }

  remove(node: number): void {
    const position = this.#nodes.int(node, positionWord);
    if (position === none) this.#unlink(node);
    else this.#removeFromHeap(position);
    this.#nodes.release(node);
  }

  clear(): void {
    this.#nodes.clear();
    this.#head = none;
    this.#tail = none;
    this.#heap = [];
  }

  #isBefore(a: number, b: number): boolean {
    const difference = this.#nodes.double(a, timeWord) - this.#nodes.double(b, timeWord);
    if (difference !== 0) return difference < 0;
    return this.#nodes.double(a, stampWord) < this.#nodes.double(b, stampWord);
  }

  #unlink(node: number): void {
    const previous = this.#nodes.int(node, previousWord);
    const next = this.#nodes.int(node, nextWord);
    if (previous === none) this.#head = next;
    else this.#nodes.setInt(previous, nextWord, next);
    if (next === none) this.#tail = previous;
    else this.#nodes.setInt(next, previousWord, previous);
  }

  #removeFromHeap(position: number): void {
    const last = this.#heap.pop() as number;
    if (position === this.#heap.length) return;
    this.#rise(position, last);
    this.#sink(this.#nodes.int(last, positionWord), last);
  }

  #put(position: number, node: number): void {
    this.#heap[position] = node;
    this.#nodes.setInt(node, positionWord, position);
  }

  #rise(from: number, node: number): void {
    let position = from;
    while (position > 0) {
      const parent = (position - 1) >> 1;
      const above = this.#heap[parent] as number;
      if (!this.#isBefore(node, above)) break;
      this.#put(position, above);
      position = parent;
    }
    this.#put(position, node);
  }

  #sink(from: number, node: number): void {
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
      if (!this.#isBefore(below, node)) break;
      this.#put(position, below);
      position = child;
    }
    this.#put(position, node);
  }
}
