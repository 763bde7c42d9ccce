/**
 * What one commit will contain, and who waits for it. Records that are written once however often they changed (blocks,
 * heads) are only noted here, and added when the batch is completed.
 */

import type { ByteWriter } from './bytes.ts';
import { type Kind, keyOf } from './keys.ts';
import type { Block, PlaceRecords } from './place-records.ts';

interface Written {
  /** Undefined if it follows from `kind`, `contents` and `id`. */
  readonly key: Buffer | undefined;
  readonly kind: Kind;
  readonly contents: number;
  readonly id: number;
  /** Hold the value from `start` to `end`. It is sliced only when it is handed over, since many wait until then. */
  readonly bytes: Buffer | null;
  readonly start: number;
  readonly end: number;
  /** Which place holds it in memory until it is written. */
  readonly freshIn: PlaceRecords | undefined;
}

let batches = 0;

export class Batch {
  readonly blocks: Map<Block, PlaceRecords> = new Map();
  readonly heads: Set<PlaceRecords> = new Set();
  /** The queues and topics that it changes. */
  readonly places: Set<string> = new Set();
  /** Numbers whose contents can be cleared away once it is written: until then some of them may not be in the file. */
  readonly givenUp: number[] = [];
  /** Holds its records until it is written. */
  readonly writer: ByteWriter;
  bytes = 0;
  /** Why it lacks some of the changes it should contain; it must not be written then. */
  flaw: Error | undefined;
  /** Differs from every other batch's. */
  readonly #number: number;
  readonly #writes: Written[] = [];
  /** The place touched last, most often the one touched next. */
  #touched: PlaceRecords | undefined;
  #done: Promise<void> | undefined;
  #resolve: (() => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(writer: ByteWriter) {
    batches += 1;
    this.#number = batches;
    this.writer = writer;
  }

  get isEmpty(): boolean {
    return (
      this.#writes.length === 0 &&
      this.blocks.size === 0 &&
      this.heads.size === 0 &&
      this.flaw === undefined
    );
  }

  get records(): number {
    return this.#writes.length;
  }

  /** Notes that the block has changed. */
  note(block: Block, records: PlaceRecords): void {
    if (block.notedIn === this.#number) return;
    block.notedIn = this.#number;
    this.blocks.set(block, records);
  }

  /** Notes that something of the queue or topic changes. */
  touch(records: PlaceRecords): void {
    if (this.#touched === records) return;
    this.#touched = records;
    this.places.add(records.place);
  }

  write(
    kind: Kind,
    contents: number,
    id: number,
    bytes: Buffer | null,
    freshIn?: PlaceRecords,
  ): void {
    const end = bytes?.length ?? 0;
    this.bytes += end;
    this.#writes.push({ key: undefined, kind, contents, id, bytes, start: 0, end, freshIn });
  }

  /** Adds the record that is in the writer. */
  writeRecord(kind: Kind, contents: number, id: number, freshIn?: PlaceRecords): void {
    const { bytes, start, end } = this.writer;
    this.bytes += end - start;
    this.#writes.push({ key: undefined, kind, contents, id, bytes, start, end, freshIn });
  }

  writeKey(key: Buffer, bytes: Buffer | null): void {
    const end = bytes?.length ?? 0;
    this.bytes += end;
    this.#writes.push({
      key,
      kind: 'store',
      contents: 0,
      id: 0,
      bytes,
      start: 0,
      end,
      freshIn: undefined,
    });
  }

  /** Drops from memory what it has written. */
  forgetFresh(): void {
    for (const { freshIn, id } of this.#writes) freshIn?.fresh.delete(id);
  }

  writeAll(put: (key: Buffer, value: Buffer | null) => void): void {
    for (const { key, kind, contents, id, bytes, start, end } of this.#writes) {
      put(key ?? keyOf(kind, contents, id), bytes === null ? null : bytes.subarray(start, end));
    }
  }

  done(): Promise<void> {
    this.#done ??= new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    return this.#done;
  }

  succeed(): void {
    this.#resolve?.();
  }

  fail(error: Error): void {
    this.#reject?.(error);
  }
}
