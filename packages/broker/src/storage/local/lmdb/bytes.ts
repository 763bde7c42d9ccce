/**
 * Writing and reading the binary records of the store. A writer fills one buffer after the other, so that a record
 * costs a slice and not an allocation; what was handed out is not written again before `reset`, because LMDB's own thread
 * reads it until its commit is over.
 */

/** The records in the file are not what this program writes. The message says where. */
export class DamagedError extends Error {
  override readonly name: string = 'DamagedError';
}

const chunkBytes = 256 * 1024;

export class ByteWriter {
  #bytes: Buffer = Buffer.allocUnsafeSlow(chunkBytes);
  #start = 0;
  #end = 0;

  /** Begins a record that will not be longer than this. */
  begin(lengthMax: number): void {
    if (this.#bytes.length - this.#end < lengthMax) {
      this.#bytes = Buffer.allocUnsafeSlow(Math.max(chunkBytes, lengthMax));
      this.#end = 0;
    }
    this.#start = this.#end;
  }

  /** What was handed out is no longer needed. */
  reset(): void {
    this.#start = 0;
    this.#end = 0;
  }

  /** Of the record so far. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** The record written since `begin`. */
  finish(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  /** Copies the record to where it belongs; its room here is used again. Returns the record's length. */
  moveTo(target: Buffer, at: number): number {
    const length = this.#bytes.copy(target, at, this.#start, this.#end);
    this.#end = this.#start;
    return length;
  }

  u8(value: number): void {
    this.#bytes[this.#end++] = value;
  }

  u16(value: number): void {
    this.#end = this.#bytes.writeUInt16LE(value, this.#end);
  }

  u32(value: number): void {
    this.#end = this.#bytes.writeUInt32LE(value, this.#end);
  }

  i32(value: number): void {
    this.#end = this.#bytes.writeInt32LE(value, this.#end);
  }

  f64(value: number): void {
    this.#end = this.#bytes.writeDoubleLE(value, this.#end);
  }

  /** Text whose length is known from elsewhere. */
  raw(text: string, encoding: 'latin1' | 'utf8' | 'hex'): void {
    this.#end += this.#bytes.write(text, this.#end, encoding);
  }

  bytes(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** UTF-8 after its length. */
  text(text: string): void {
    const length = this.#bytes.write(text, this.#end + 4, 'utf8');
    this.u32(length);
    this.#end += length;
  }
}

export class ByteReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#end = bytes.length;
  }

  /** The bytes that are read, and where reading stands in them. */
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

  u16(): number {
    return this.#bytes.readUInt16LE(this.#take(2));
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

  /** A copy, since what was read may lie in memory that is used again. */
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
    if (at + length > this.#end) throw new DamagedError('a record ends in its middle');
    this.#at = at + length;
    return at;
  }
}
