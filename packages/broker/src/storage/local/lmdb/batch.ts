/**
 * What one commit will hold, and who waits for it. Records that are written once however often they changed (blocks,
 * heads) are only noted here, and added when the batch is complete.
 */

import type { ByteWriter } from './bytes.ts';
import { type Kind, keyOf } from './keys.ts';
import type { Block, PlaceRecords } from './place-records.ts';

interface Written {
  readonly key: Buffer | undefined;
  readonly kind: Kind;
  readonly contents: number;
  readonly id: number;
  readonly value: Buffer | null;
}

export class Batch {
  readonly blocks: Map<Block, PlaceRecords> = new Map();
  readonly heads: Set<PlaceRecords> = new Set();
  /** The queues and topics it changes something of. */
  readonly places: Set<string> = new Set();
  /** Numbers whose contents can be cleared away once it is written: until then some of them may not be in the file. */
  readonly givenUp: number[] = [];
  /** What is at hand in memory only until this batch is written. */
  readonly fresh: { readonly records: PlaceRecords; readonly id: number }[] = [];
  /** Holds its records until it is written. */
  readonly writer: ByteWriter;
  bytes = 0;
  readonly #writes: Written[] = [];
  #done: Promise<void> | undefined;
  #resolve: (() => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(writer: ByteWriter) {
    this.writer = writer;
  }

  get isEmpty(): boolean {
    return this.#writes.length === 0 && this.blocks.size === 0 && this.heads.size === 0;
  }

  get records(): number {
    return this.#writes.length;
  }

  write(kind: Kind, contents: number, id: number, value: Buffer | null): void {
    this.bytes += value?.length ?? 0;
    this.#writes.push({ key: undefined, kind, contents, id, value });
  }

  writeKey(key: Buffer, value: Buffer | null): void {
    this.bytes += value?.length ?? 0;
    this.#writes.push({ key, kind: 'store', contents: 0, id: 0, value });
  }

  writeAll(put: (key: Buffer, value: Buffer | null) => void): void {
    for (const { key, kind, contents, id, value } of this.#writes) {
      put(key ?? keyOf(kind, contents, id), value);
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
