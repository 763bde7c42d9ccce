/**
 * Rows of 32-bit words in pages of typed arrays: how millions of small records live in tens of bytes each, outside
 * the garbage collector's sight. A row is an integer; its record's words lie side by side, so that touching a message
 * costs one or two cache lines however many there are. A word pair at an even offset can be read as a double.
 *
 * Pages are never moved or copied, so growth costs the same at any size. Released rows are used again first; when the
 * last row is released, all pages but the first are given back.
 */

/** No row: the end of a chain. */
export const none = -1;

const pageBits = 8;
const pageRows = 1 << pageBits;
const pageMask = pageRows - 1;

export class Slab {
  readonly #words: number;
  readonly #ints: Int32Array[] = [];
  readonly #doubles: Float64Array[] = [];
  /** First of the released rows; they are chained through their word 0. */
  #free: number = none;
  #end = 0;
  #size = 0;

  /** `words` is even, so that doubles stay aligned. */
  constructor(words: number) {
    this.#words = words;
  }

  get size(): number {
    return this.#size;
  }

  /** A row whose words hold whatever was there before: the caller writes all that it will read. */
  allocate(): number {
    this.#size += 1;
    const row = this.#free;
    if (row !== none) {
      this.#free = this.int(row, 0);
      return row;
    }
    if (this.#end === this.#ints.length * pageRows) {
      const doubles = new Float64Array((pageRows * this.#words) / 2);
      this.#doubles.push(doubles);
      this.#ints.push(new Int32Array(doubles.buffer));
    }
    return this.#end++;
  }

  release(row: number): void {
    this.#size -= 1;
    if (this.#size === 0) {
      this.clear();
      return;
    }
    this.setInt(row, 0, this.#free);
    this.#free = row;
  }

  clear(): void {
    // A slab that keeps going from none to one, as that of messages in flight, must not ask for a page each time.
    if (this.#ints.length > 1) {
      this.#ints.length = 1;
      this.#doubles.length = 1;
    }
    this.#free = none;
    this.#end = 0;
    this.#size = 0;
  }

  /** The page a row lies in; with `base`, for writing a whole record at once. */
  page(row: number): Int32Array {
    return this.#ints[row >> pageBits] as Int32Array;
  }

  /** Where the row's words begin in its page. */
  base(row: number): number {
    return (row & pageMask) * this.#words;
  }

  int(row: number, word: number): number {
    const page = this.#ints[row >> pageBits] as Int32Array;
    return page[(row & pageMask) * this.#words + word] as number;
  }

  setInt(row: number, word: number, value: number): void {
    const page = this.#ints[row >> pageBits] as Int32Array;
    page[(row & pageMask) * this.#words + word] = value;
  }

  double(row: number, word: number): number {
    const page = this.#doubles[row >> pageBits] as Float64Array;
    return page[((row & pageMask) * this.#words + word) >> 1] as number;
  }

  setDouble(row: number, word: number, value: number): void {
    const page = this.#doubles[row >> pageBits] as Float64Array;
    page[((row & pageMask) * this.#words + word) >> 1] = value;
  }
}
