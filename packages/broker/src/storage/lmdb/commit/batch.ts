/**
 * The contents of one commit, and the requests that wait for it. Records that are written once, however often they changed
 * (blocks, heads), are only noted here, and added when the batch is completed.
 */

import type { MessageContent } from '../../../core/changes.ts';
import type { ByteWriter } from '../../records/bytes.ts';
import { PreparedAnswers } from '../../running/prepared-answers.ts';
import type { Put } from '../file/lmdb-file.ts';
import { blockOf } from '../records/block.ts';
import {
  addToPack,
  beginPack,
  bodyBytesOf,
  itemBytesMax,
  packBytesMax,
} from '../records/content-pack.ts';
import { type Kind, keyOf } from '../records/keys.ts';
import type { Block, OwnerRecords } from '../records/owner-records.ts';

interface Written {
  /** Undefined if it follows from `kind`, `contents` and `id`. */
  readonly key: Buffer | undefined;
  readonly kind: Kind;
  readonly contents: number;
  readonly id: number;
  /** Hold the value from `start` to `end`. It is sliced only when it is handed over, since many wait until then. */
  bytes: Buffer | null;
  start: number;
  end: number;
}

let batches = 0;

export class Batch {
  readonly blocks: Map<Block, OwnerRecords> = new Map();
  readonly heads: Set<OwnerRecords> = new Set();
  /** The queues and topics that it changes. */
  readonly owners: Set<string> = new Set();
  /** Those of them of which more changes than the settings. */
  readonly touched: Set<OwnerRecords> = new Set();
  /** Numbers whose contents can be cleared away once it is written: until then some of them may not be in the file. */
  readonly abandoned: number[] = [];
  /** Holds its records until it is written. */
  readonly writer: ByteWriter;
  /** Holds the contents, apart from other records: so contents can share a record although others were written in between. */
  readonly contentWriter: ByteWriter;
  readonly answers: PreparedAnswers = new PreparedAnswers();
  bytes = 0;
  /** Whether it goes directly into LMDB's file, with all that is only in the journal. */
  isDirect = false;
  /** Why it lacks some of the changes it should contain; it must not be written then. */
  flaw: Error | undefined;
  /** Differs from every other batch's. */
  readonly #number: number;
  readonly #writes: Written[] = [];
  /** The record that takes the next content, if that fits. */
  #pack: Written | undefined;
  /** How many contents were added to the record of another. */
  #joined = 0;
  #done: Promise<void> | undefined;
  #resolve: (() => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(writer: ByteWriter, contentWriter: ByteWriter) {
    batches += 1;
    this.#number = batches;
    this.writer = writer;
    this.contentWriter = contentWriter;
  }

  get isEmpty(): boolean {
    return (
      this.#writes.length === 0 &&
      this.blocks.size === 0 &&
      this.heads.size === 0 &&
      !this.isDirect &&
      this.flaw === undefined
    );
  }

  get records(): number {
    return this.#writes.length;
  }

  /** How many there are if each of the contents that share a record counts. */
  get parts(): number {
    return this.#writes.length + this.#joined;
  }

  /** Notes that the block has changed. */
  note(block: Block, records: OwnerRecords): void {
    if (block.notedIn === this.#number) return;
    block.notedIn = this.#number;
    this.blocks.set(block, records);
  }

  /** Notes that something of the queue or topic changes. */
  touch(records: OwnerRecords): void {
    this.touched.add(records);
    this.owners.add(records.id);
  }

  write(kind: Kind, contents: number, id: number, bytes: Buffer | null): void {
    const end = bytes?.length ?? 0;
    this.bytes += end;
    this.#writes.push({ key: undefined, kind, contents, id, bytes, start: 0, end });
  }

  /** Adds the record that is in the writer. */
  writeRecord(kind: Kind, contents: number, id: number): void {
    const { bytes, start, end } = this.writer;
    this.bytes += end - start;
    this.#writes.push({ key: undefined, kind, contents, id, bytes, start, end });
  }

  /** Adds the content of the queue's newest message, if there is one. Returns whether it is the first in its record. */
  writeContent(
    { contents }: OwnerRecords,
    id: number,
    content: MessageContent | Buffer | undefined,
  ): boolean {
    if (content === undefined) {
      // What follows must not share a record with what came before, because the message between them has no content.
      this.#pack = undefined;
      return true;
    }
    const writer = this.contentWriter;
    const bodyBytes = bodyBytesOf(content);
    const bytesMax = itemBytesMax(content, bodyBytes);
    const pack = this.#packFor(contents, id, bytesMax) ?? this.#newPack(contents, id, bytesMax);
    const isFirst = pack.id === id;
    if (!isFirst) this.#joined += 1;
    const before = pack.end - pack.start;
    addToPack(writer, id, content, bodyBytes);
    pack.bytes = writer.bytes;
    pack.start = writer.start;
    pack.end = writer.end;
    this.bytes += pack.end - pack.start - before;
    return isFirst;
  }

  /** Adds the removal of a record of contents. */
  removeContents({ contents }: OwnerRecords, key: number): void {
    // In the order of writes the removal is later than the record, so nothing more may be added to that.
    if (this.#pack?.id === key && this.#pack.contents === contents) this.#pack = undefined;
    this.write('content', contents, key, null);
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
    });
  }

  writeAll(put: Put): void {
    for (const { key, kind, contents, id, bytes, start, end } of this.#writes) {
      put(key ?? keyOf(kind, contents, id), bytes === null ? null : bytes.subarray(start, end));
    }
  }

  /** The record under way, if this content fits. */
  #packFor(contents: number, id: number, bytesMax: number): Written | undefined {
    const pack = this.#pack;
    if (pack === undefined || pack.contents !== contents) return undefined;
    const isFit =
      pack.end - pack.start + bytesMax <= packBytesMax &&
      blockOf(pack.id) === blockOf(id) &&
      this.contentWriter.hasRoom(bytesMax);
    return isFit ? pack : undefined;
  }

  #newPack(contents: number, id: number, bytesMax: number): Written {
    beginPack(this.contentWriter, bytesMax);
    const pack: Written = {
      key: undefined,
      kind: 'content',
      contents,
      id,
      bytes: null,
      start: 0,
      end: 0,
    };
    this.#writes.push(pack);
    this.#pack = pack;
    return pack;
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
    this.answers.release();
  }

  fail(error: Error): void {
    this.#reject?.(error);
    this.answers.fail(error);
  }
}
