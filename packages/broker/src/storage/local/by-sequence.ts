/**
 * Values by sequence. Sequences come from a counter, so neighbours share a page, and nearly all of them are found and
 * added without touching a hash table. A page is dropped with its last value, and is small, since one value that stays
 * behind keeps its page.
 */

const pageSize = 32;

interface Page<V> {
  readonly number: number;
  readonly values: (V | undefined)[];
  size: number;
}

export class BySequence<V> {
  readonly #pages: Map<number, Page<V>> = new Map();
  /** The page used last: the next access is most often there too. */
  #page: Page<V> | undefined;

  get(sequence: number): V | undefined {
    return this.#find(Math.floor(sequence / pageSize))?.values[sequence % pageSize];
  }

  set(sequence: number, value: V): void {
    const page = this.#findOrAdd(Math.floor(sequence / pageSize));
    const slot = sequence % pageSize;
    if (page.values[slot] === undefined) page.size += 1;
    page.values[slot] = value;
  }

  delete(sequence: number): void {
    const page = this.#find(Math.floor(sequence / pageSize));
    const slot = sequence % pageSize;
    if (page === undefined || page.values[slot] === undefined) return;
    page.values[slot] = undefined;
    page.size -= 1;
    if (page.size > 0) return;
    this.#pages.delete(page.number);
    this.#page = undefined;
  }

  clear(): void {
    this.#pages.clear();
    this.#page = undefined;
  }

  /** In order of the sequences. */
  *[Symbol.iterator](): Generator<[number, V]> {
    for (const number of [...this.#pages.keys()].sort((a, b) => a - b)) {
      const { values } = this.#pages.get(number) as Page<V>;
      for (const [slot, value] of values.entries()) {
        if (value !== undefined) yield [number * pageSize + slot, value];
      }
    }
  }

  #find(number: number): Page<V> | undefined {
    if (this.#page?.number === number) return this.#page;
    const page = this.#pages.get(number);
    if (page !== undefined) this.#page = page;
    return page;
  }

  #findOrAdd(number: number): Page<V> {
    const found = this.#find(number);
    if (found !== undefined) return found;
    const values = new Array<V | undefined>(pageSize).fill(undefined);
    const page: Page<V> = { number, values, size: 0 };
    this.#pages.set(number, page);
    this.#page = page;
    return page;
  }
}
