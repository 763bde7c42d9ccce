/**
 * Finds the rows of messages by their sequences. These are drawn from a counter, so neighbors come and go together:
 * sixteen of them share one page, and only pages are hashed. A send writes next to the previous one, and a delete looks
 * where the previous one looked, instead of each touching memory of its own that no cache holds.
 *
 * About 5 bytes a message while most of a page's sequences are messages, 10 where every second is a receipt, and 90 for
 * the last message left in a page: messages that stay behind while millions pass cost no more than that.
 */

import { HashIndex } from '../structures/hash-index.ts';
import { none, Slab } from '../structures/slab.ts';

const pageRows = 16;
const lowBits = 15;

const numberWord = 0;
const countWord = 2;
const rowsWord = 3;
/** One more than needed, because a slab's rows have an even number of words. */
const words: number = rowsWord + pageRows + 1;

/** No page has this number. */
const noNumber = -1;

export class SequenceIndex {
  readonly #pages: Slab = new Slab(words);
  readonly #byNumber: HashIndex = new HashIndex();
  /** The page used last: neighbors are added, found and removed together. */
  #found: number = none;
  #foundNumber: number = noNumber;

  /** Makes room for this many messages at once, if their sequences are neighbors. */
  reserve(messages: number): void {
    this.#byNumber.reserve(Math.ceil(messages / pageRows));
  }

  add(sequence: number, row: number): void {
    const number = Math.floor(sequence / pageRows);
    const known = this.#pageOf(number);
    const at = known === none ? this.#addPage(number) : known;
    const page = this.#pages.page(at);
    const base = this.#pages.base(at);
    page[base + rowsWord + (sequence & lowBits)] = row;
    page[base + countWord] = (page[base + countWord] as number) + 1;
  }

  /** The row of this sequence, or `none`. For a number that is no sequence it may be any row. */
  find(sequence: number): number {
    const page = this.#pageOf(Math.floor(sequence / pageRows));
    return page === none ? none : this.#pages.int(page, rowsWord + (sequence & lowBits));
  }

  /** The sequence must be in the index. */
  remove(sequence: number): void {
    const number = Math.floor(sequence / pageRows);
    const page = this.#pageOf(number);
    const count = this.#pages.int(page, countWord) - 1;
    if (count > 0) {
      this.#pages.setInt(page, rowsWord + (sequence & lowBits), none);
      this.#pages.setInt(page, countWord, count);
      return;
    }
    this.#byNumber.remove(number | 0, page);
    this.#pages.release(page);
    this.#foundNumber = noNumber;
  }

  clear(): void {
    this.#pages.clear();
    this.#byNumber.clear();
    this.#foundNumber = noNumber;
  }

  #pageOf(number: number): number {
    if (number === this.#foundNumber) return this.#found;
    let slot = this.#byNumber.first(number | 0);
    for (; slot !== none; slot = this.#byNumber.next(slot)) {
      const page = this.#byNumber.row(slot);
      if (this.#pages.double(page, numberWord) === number) {
        this.#found = page;
        this.#foundNumber = number;
        return page;
      }
    }
    return none;
  }

  #addPage(number: number): number {
    const page = this.#pages.allocate();
    this.#pages.setDouble(page, numberWord, number);
    const base = this.#pages.base(page);
    this.#pages.page(page).fill(none, base + rowsWord, base + rowsWord + pageRows);
    this.#pages.setInt(page, countWord, 0);
    this.#byNumber.insert(number | 0, page);
    return page;
  }
}
