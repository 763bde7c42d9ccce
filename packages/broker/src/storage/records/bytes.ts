/**
 * Writes and reads the binary records of the store. A writer fills large buffers one after the other, so a record costs a
 * slice and no allocation. Bytes that were handed out are not overwritten before `reset`, because LMDB's thread reads them
 * until its commit is done.
 */

import { hexValue } from '../../core/digest/hex.ts';

/** The records in the file are not what this program writes. The message says where. */
export class DamagedError extends Error {
  override readonly name: string = 'DamagedError';
}

const chunkBytes = 256 * 1024;

/** Texts up to this length are written faster character by character than by a call that leaves JavaScript. */
const shortTextMax = 48;

export class ByteWriter {
  readonly #chunkBytes: number;
  #bytes: Buffer;
  #view: DataView;
  #start = 0;
  #end = 0;

  constructor(bytes: number = chunkBytes) {
    this.#chunkBytes = bytes;
    this.#bytes = Buffer.allocUnsafeSlow(bytes);
    this.#view = viewOf(this.#bytes);
  }

  /** Begins a record of at most this length. */
  begin(lengthMax: number): void {
    if (this.#bytes.length - this.#end < lengthMax) {
      this.#replace(Math.max(this.#chunkBytes, lengthMax));
      this.#end = 0;
    }
    this.#start = this.#end;
  }

  /** Continues the record with at most this many bytes. What was handed out of it stays as it is. */
  goOn(lengthMax: number): void {
    if (this.#bytes.length - this.#end >= lengthMax) return;
    const before = this.record();
    this.#replace(2 * (before.length + lengthMax));
    this.#start = 0;
    this.#end = before.copy(this.#bytes);
  }

  /** Whether the record can go on with this many bytes without being copied. */
  hasRoom(length: number): boolean {
    return this.#bytes.length - this.#end >= length;
  }

  /** Reuses the buffer: what was handed out is no longer needed. */
  reset(): void {
    this.#start = 0;
    this.#end = 0;
  }

  /** The buffer that holds the record written since `begin`, from `start` to `end`. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  /** The record, sliced out. */
  record(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  u8(value: number): void {
    this.#bytes[this.#end++] = value;
  }

  u32(value: number): void {
    this.#view.setUint32(this.#end, value, true);
    this.#end += 4;
  }

  /** Overwrites what was written at this position. */
  setU32(at: number, value: number): void {
    this.#view.setUint32(at, value, true);
  }

  i32(value: number): void {
    this.#view.setInt32(this.#end, value, true);
    this.#end += 4;
  }

  f64(value: number): void {
    this.#view.setFloat64(this.#end, value, true);
    this.#end += 8;
  }

  /** Text whose length is known from elsewhere. */
  raw(text: string, encoding: 'latin1' | 'utf8'): void {
    this.#end += this.#bytes.write(text, this.#end, encoding);
  }

  /** Decodes lower-case hexadecimal digits, two for each byte. */
  hex(digits: string): void {
    const bytes = this.#bytes;
    let end = this.#end;
    for (let at = 0; at < digits.length; at += 2) {
      bytes[end++] = (hexValue(digits.charCodeAt(at)) << 4) | hexValue(digits.charCodeAt(at + 1));
    }
    this.#end = end;
  }

  copy(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** UTF-8, prefixed with its length. */
  text(text: string): void {
    const at = this.#end + 4;
    const length = this.#isPlainAt(at, text) ? text.length : this.#bytes.write(text, at, 'utf8');
    this.u32(length);
    this.#end = at + length;
  }

  /** Writes the text if it is short and ASCII; if it is not, the caller overwrites what was written. */
  #isPlainAt(at: number, text: string): boolean {
    const { length } = text;
    if (length > shortTextMax) return false;
    const bytes = this.#bytes;
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      if (code > 127) return false;
      bytes[at + index] = code;
    }
    return true;
  }

  #replace(length: number): void {
    this.#bytes = Buffer.allocUnsafeSlow(length);
    this.#view = viewOf(this.#bytes);
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

export class ByteReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#end = bytes.length;
  }

  /** The bytes that are read; `at` is the position in them. */
  get source(): Buffer {
    return this.#bytes;
  }

  get at(): number {
    return this.#at;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  u8(): number {
    return this.#bytes[this.#take(1)] as number;
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#take(4));
  }

  i32(): number {
    return this.#bytes.readInt32LE(this.#take(4));
  }

  i32be(): number {
    return this.#bytes.readInt32BE(this.#take(4));
  }

  f64(): number {
    return this.#bytes.readDoubleLE(this.#take(8));
  }

  raw(length: number, encoding: 'latin1' | 'utf8' | 'hex'): string {
    const at = this.#take(length);
    return this.#bytes.toString(encoding, at, at + length);
  }

  /** A copy, since what was read may be in memory that is reused. */
  bytes(length: number): Uint8Array {
    const at = this.#take(length);
    return Uint8Array.prototype.slice.call(this.#bytes, at, at + length);
  }

  text(): string {
    return this.raw(this.u32(), 'utf8');
  }

  skip(length: number): void {
    this.#take(length);
  }

  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.#end) throw new DamagedError('a record is cut off');
    this.#at = at + length;
    return at;
  }
}
