/**
 * Bytes of a request that are kept until it is answered. However small the pieces in which they arrive, they are copied into
 * one buffer that doubles when it is full: a list of pieces would cost a hundred bytes of memory for each byte of a client
 * that sends them one by one.
 *
 * `BodyBudget` is the bound for all requests of a server together. It counts what the buffers take, not what they contain.
 * Buffers of up to `uncountedBytes` are bounded by the number of connections, so usual requests never wait for large ones.
 */

import { Buffer } from 'node:buffer';

export const uncountedBytes: number = 4 * 1024;

export class BodyBudget {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** How much is held; for tests. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Replaces what a buffer was counted with. False, and nothing changes, if there is no room for it. */
  recount(before: number, after: number): boolean {
    const bytes = this.#bytes - counted(before) + counted(after);
    if (bytes > this.#bytesMax && after > before) return false;
    this.#bytes = bytes;
    return true;
  }
}

function counted(bytes: number): number {
  return bytes <= uncountedBytes ? 0 : bytes;
}

const nothing: Buffer = Buffer.alloc(0);

export class HeldBytes {
  readonly #budget: BodyBudget;
  #buffer: Buffer = nothing;
  #length = 0;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  get length(): number {
    return this.#length;
  }

  /** What has arrived; valid until the next `add`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Copies the bytes, of which there will be `most` in the end. False if the budget has no room; then nothing is added. */
  add(bytes: Buffer, most: number): boolean {
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length && !this.#grow(length, most)) return false;
    bytes.copy(this.#buffer, this.#length);
    this.#length = length;
    return true;
  }

  /** Gives the memory back. */
  release(): void {
    this.#budget.recount(this.#buffer.length, 0);
    this.#buffer = nothing;
    this.#length = 0;
  }

  #grow(length: number, most: number): boolean {
    const size = Math.max(
      length,
      Math.min(most, Math.max(uncountedBytes, this.#buffer.length * 2)),
    );
    if (!this.#budget.recount(this.#buffer.length, size)) return false;
    // Not from the pool of small buffers, which a single slice would keep alive.
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
    return true;
  }
}
