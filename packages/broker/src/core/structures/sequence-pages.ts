/**
 * Pages of neighboring sequences. Sequences come from a counter, so nearly all of them are found and added without touching a
 * hash table. A page is dropped with the last thing in it, and is small, since one that stays behind keeps its page.
 */

export const pageSize = 32;

export interface SequencePage {
  readonly number: number;
  /** How many things are in it. */
  size: number;
}

export class SequencePages<Page extends SequencePage> {
  readonly #byNumber: Map<number, Page> = new Map();
  readonly #newPage: (number: number) => Page;

  constructor(newPage: (number: number) => Page) {
    this.#newPage = newPage;
  }

  find(sequence: number): Page | undefined {
    return this.#byNumber.get(Math.floor(sequence / pageSize));
  }

  findOrAdd(sequence: number): Page {
    const found = this.find(sequence);
    if (found !== undefined) return found;
    const number = Math.floor(sequence / pageSize);
    const page = this.#newPage(number);
    this.#byNumber.set(number, page);
    return page;
  }

  /** Counts that many things less in a page. */
  release(page: Page, things: number): void {
    page.size -= things;
    if (page.size === 0) this.#byNumber.delete(page.number);
  }

  clear(): void {
    this.#byNumber.clear();
  }

  /** In any order; a page may be dropped meanwhile. */
  all(): Iterable<Page> {
    return this.#byNumber.values();
  }

  /** What is in the pages, in order of the sequences. */
  *values<V>(valueIn: (page: Page, slot: number) => V | undefined): Generator<[number, V]> {
    for (const number of [...this.#byNumber.keys()].sort((a, b) => a - b)) {
      const page = this.#byNumber.get(number) as Page;
      for (let slot = 0; slot < pageSize; slot += 1) {
        const value = valueIn(page, slot);
        if (value !== undefined) yield [number * pageSize + slot, value];
      }
    }
  }
}

export function slotOf(sequence: number): number {
  return sequence % pageSize;
}

export function filled<V>(length: number, value: V): V[] {
  return new Array<V>(length).fill(value);
}
