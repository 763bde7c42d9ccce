/**
 * Values by sequence. Sequences come from a counter, so neighbours share a page, and nearly all of them are found and
 * added without touching a hash table. A page is dropped with its last value, and is small, since one message that stays
 * behind keeps its page.
 *
 * With a packing, values are taken apart: the texts and numbers of neighbours are in arrays that they share, and an object is
 * made whenever one is asked for. Memory mode holds every message it is sent, and as objects of objects they would be what
 * garbage collection spends most of its time on. A value that its packing cannot take apart stays as it is.
 */

const pageSize = 32;

/** How values of one kind are taken apart. */
export interface Packing<V> {
  /** How many texts and numbers a value has. */
  readonly texts: number;
  readonly numbers: number;
  /** Writes texts and numbers from these positions on; or returns false and has written nothing. */
  pack(value: V, into: Columns, textAt: number, numberAt: number): boolean;
  unpack(from: Columns, textAt: number, numberAt: number): V;
}

export interface Columns {
  readonly texts: (string | undefined)[];
  readonly numbers: Float64Array;
}

/** In place of a value that was taken apart. */
const packed: unique symbol = Symbol('packed');

interface Page<V> {
  readonly number: number;
  readonly values: (V | typeof packed | undefined)[];
  /** Undefined without a packing. */
  readonly columns: Columns | undefined;
  size: number;
}

export class BySequence<V> {
  readonly #packing: Packing<V> | undefined;
  readonly #pages: Map<number, Page<V>> = new Map();
  /** The page used last: the next access is most often there too. */
  #page: Page<V> | undefined;

  constructor(packing?: Packing<V>) {
    this.#packing = packing;
  }

  get(sequence: number): V | undefined {
    const page = this.#find(Math.floor(sequence / pageSize));
    return page === undefined ? undefined : this.#valueIn(page, sequence % pageSize);
  }

  set(sequence: number, value: V): void {
    const page = this.#findOrAdd(Math.floor(sequence / pageSize));
    const slot = sequence % pageSize;
    if (page.values[slot] === undefined) page.size += 1;
    page.values[slot] = this.#tryPack(value, page, slot) ? packed : value;
  }

  delete(sequence: number): void {
    const page = this.#find(Math.floor(sequence / pageSize));
    const slot = sequence % pageSize;
    if (page === undefined || page.values[slot] === undefined) return;
    this.#empty(page, slot);
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
      const page = this.#pages.get(number) as Page<V>;
      for (let slot = 0; slot < pageSize; slot += 1) {
        const value = this.#valueIn(page, slot);
        if (value !== undefined) yield [number * pageSize + slot, value];
      }
    }
  }

  #valueIn({ values, columns }: Page<V>, slot: number): V | undefined {
    const value = values[slot];
    if (value !== packed) return value;
    const { texts, numbers, unpack } = this.#packing as Packing<V>;
    return unpack(columns as Columns, slot * texts, slot * numbers);
  }

  /** Returns whether the value was taken apart. */
  #tryPack(value: V, { columns }: Page<V>, slot: number): boolean {
    if (this.#packing === undefined || columns === undefined) return false;
    const { texts, numbers, pack } = this.#packing;
    return pack(value, columns, slot * texts, slot * numbers);
  }

  #empty({ values, columns }: Page<V>, slot: number): void {
    values[slot] = undefined;
    if (this.#packing === undefined) return;
    const { texts } = this.#packing;
    columns?.texts.fill(undefined, slot * texts, (slot + 1) * texts);
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
    const page: Page<V> = {
      number,
      values: new Array<V | undefined>(pageSize).fill(undefined),
      columns: this.#packing && columnsFor(this.#packing),
      size: 0,
    };
    this.#pages.set(number, page);
    this.#page = page;
    return page;
  }
}

function columnsFor({ texts, numbers }: Pick<Packing<unknown>, 'texts' | 'numbers'>): Columns {
  return {
    texts: new Array<string | undefined>(pageSize * texts).fill(undefined),
    numbers: new Float64Array(pageSize * numbers),
  };
}
