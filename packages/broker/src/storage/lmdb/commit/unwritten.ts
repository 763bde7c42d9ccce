/**
 * The records as they will be once everything applied so far is written: those of the environment, overlaid with the commit in
 * progress and the one that gathers. A queue or topic is loaded again from here while some of its changes are not in the file
 * yet.
 */

import { ByteWriter } from '../../records/bytes.ts';
import type { Environment, OnDamaged } from '../file/environment.ts';
import type { Entry, KeyRange, Put } from '../file/lmdb-file.ts';
import { firstKeys, keysFrom, merged, type Records } from '../journal/journal-index.ts';
import { keyOf } from '../records/keys.ts';
import type { RecordReader } from '../records/loading.ts';
import type { OwnerRecords } from '../records/owner-records.ts';
import type { Batch } from './batch.ts';

export class Unwritten implements RecordReader {
  readonly #environment: Environment;
  readonly #records: BatchRecords = new BatchRecords();

  /** `batches`: those that are not written, the oldest first. */
  constructor(environment: Environment, batches: readonly Batch[]) {
    this.#environment = environment;
    for (const batch of batches) batch.writeAll(this.#records.put);
  }

  /** Adds the records of a queue or topic that a batch only notes until it is completed (`RecordMapper.complete`). */
  addNoted(records: OwnerRecords): void {
    const { contents } = records;
    const writer = new ByteWriter();
    for (const block of records.blocks.values()) {
      const { number, growing } = block;
      if (growing !== undefined)
        this.#records.put(keyOf('block', contents, number), growing.bytes());
      if (!block.hasRemoved) continue;
      block.writeRemoved(writer);
      this.#records.put(keyOf('removed', contents, number), writer.record());
    }
    records.writeHead(writer);
    this.#records.put(keyOf('head', contents, 0), writer.record());
  }

  get(key: Buffer): Buffer | undefined {
    const found = this.#records.get(key.toString('latin1'));
    return found === undefined ? this.#environment.get(key) : (found ?? undefined);
  }

  has(key: Buffer): boolean {
    const found = this.#records.get(key.toString('latin1'));
    return found === undefined ? this.#environment.has(key) : found !== null;
  }

  range(range: KeyRange, onDamaged?: OnDamaged): Iterable<Entry> {
    return merged(this.#environment.range(range, onDamaged), [this.#records], range);
  }

  keys(range: KeyRange, limit: number): Iterable<Buffer> {
    return firstKeys(this.range(range), limit);
  }
}

class BatchRecords implements Records {
  readonly #records: Map<string, Buffer | null> = new Map();
  #sortedKeys: readonly string[] | undefined;

  readonly put: Put = (key, value) => {
    this.#records.set(key.toString('latin1'), value);
    this.#sortedKeys = undefined;
  };

  get(key: string): Buffer | null | undefined {
    return this.#records.get(key);
  }

  keysIn(start: string, end: string): Generator<string, void> {
    this.#sortedKeys ??= [...this.#records.keys()].sort();
    return keysFrom(this.#sortedKeys, start, end);
  }
}
