/**
 * Rows of 32-bit words in pages of typed arrays: how millions of small records live in tens of bytes each, outside
 * the garbage collector's sight. A row is an integer; its record's words lie side by side, so that touching a message
 * costs one or two cache lines however many there are. A word pair at an even offset can be read as a double.
 *
 * Pages are large, since finding the page of a row costs as much as touching the row once there are thousands of pages
 * (3,000,000 rows in pages of 256: a send took half a microsecond longer than in pages of 16,384). Only the first begins
 * small and is copied as it doubles; the others never move, so growth costs the same at any size. Released rows are reused
 * first; when the last row is released, all pages are freed unless there is only a small first one.
 */

/** No row: the end of a chain. */
export const none = -1;

const pageBits = 14;
const pageRows = 1 << pageBits;
const pageMask = pageRows - 1;
/** Rows of the first page at the start: most queues are small. */
const rowsMin = 16;
/** A first page up to this size stays when the slab is empty. */
const rowsKeptMax = 256;

export class Slab {
  readonly #words: number;
  readonly #ints: Int32Array[] = [];
  readonly #doubles: Float64Array[] = [];
  /** First of the released rows; they are chained through their word 0. */
  #free: number = none;
  #end = 0;
  #room = 0;
  #size = 0;

  /** `words` is even, so that doubles stay aligned. */
  constructor(words: number) {
    this.#words = words;
  }

  get size(): number {
    return this.#size;
  }

  /** Every row is a number below this. */
  get end(): number {
    return this.#end;
  }

  /** A row whose words hold whatever was there before: the caller must write all that it will read. */
  allocate(): number {
    this.#size += 1;
    const row = this.#free;
    if (row !== none) {
      this.#free = this.int(row, 0);
      return row;
    }
    if (this.#end === this.#room) this.#grow();
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
    // A slab that keeps alternating between no row and one, like that of messages in flight, must not allocate a page each time.
    if (this.#room > rowsKeptMax) {
      this.#ints.length = 0;
      this.#doubles.length = 0;
      this.#room = 0;
    }
    this.#free = none;
    this.#end = 0;
    this.#size = 0;
  }

  /** The page a row lies in; with `base`, for writing a whole record at once. */
  page(row: number): Int32Array {
    return this.#ints[row >> pageBits] as Int32Array;
  }

  /** The same page as doubles: the pair of words at `n` is the double at `n / 2`. */
  doubles(row: number): Float64Array {
    return this.#doubles[row >> pageBits] as Float64Array;
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

  #grow(): void {
    const first = this.#doubles[0];
    const isFirst = this.#room < pageRows;
    const rows = isFirst ? Math.max(2 * this.#room, rowsMin) : pageRows;
    const doubles = new Float64Array((rows * this.#words) / 2);
    if (isFirst && first !== undefined) doubles.set(first);
    const page = isFirst ? 0 : this.#ints.length;
    this.#doubles[page] = doubles;
    this.#ints[page] = new Int32Array(doubles.buffer);
    this.#room = isFirst ? rows : this.#room + rows;
  }
}
