/**
 * An append-only log of JSON records in segment files, on which the file outbox and the file inbox are built. Once
 * `append` has resolved, the record is durable; concurrent appends share one write and one fsync.
 *
 * A line is a checksum (16 hexadecimal digits of SHA-256) and the record. A partial write at the end of the last segment,
 * left by a crash, was never acknowledged: it is cut off, and kept beside the segment as NAME.damaged for inspection. A
 * bad line followed by intact records is damage that no crash explains, and opening fails: acknowledged records are never
 * dropped silently.
 */

import {
  type FileHandle,
  open,
  readdir,
  readFile,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../contract/canonical.ts';
import { lockFolder } from './folder-lock.ts';

/** Where a record is. */
export interface LogPosition {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

export interface RecordLogOptions {
  /** A new segment is started once the current one exceeds this; default 16 MiB. */
  readonly segmentBytesMax?: number;
}

interface Waiting {
  readonly line: Buffer;
  done(position: LogPosition): void;
  failed(error: unknown): void;
}

const segmentForm = /^(\d{8})\.log$/;
const checksumLength = 16;
/** Bounds the size of one write, and the memory for it. */
const batchBytesMax = 8 * 1024 * 1024;

export class RecordLog {
  readonly #folder: string;
  readonly #segmentBytesMax: number;
  readonly #unlock: () => void;
  #segment: number;
  #size: number;
  #file: FileHandle | undefined;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  /** There may be unacknowledged bytes after the last acknowledged record. */
  #isTorn = false;
  #isClosed = false;

  /** Opens the folder, creating it if needed, and passes every record to `onRecord` in order. */
  static async open(
    folder: string,
    options: RecordLogOptions,
    onRecord: (record: unknown, position: LogPosition) => void,
  ): Promise<RecordLog> {
    const unlock = lockFolder(folder);
    try {
      const segments = await segmentsIn(folder);
      let size = 0;
      for (const segment of segments) {
        size = await readSegment(folder, segment, segment === segments.at(-1), onRecord);
      }
      return new RecordLog(folder, options, unlock, { segment: segments.at(-1) ?? 1, size });
    } catch (error) {
      unlock();
      throw error;
    }
  }

  private constructor(
    folder: string,
    { segmentBytesMax = 16 * 1024 * 1024 }: RecordLogOptions,
    unlock: () => void,
    end: { readonly segment: number; readonly size: number },
  ) {
    this.#folder = folder;
    this.#segmentBytesMax = segmentBytesMax;
    this.#unlock = unlock;
    this.#segment = end.segment;
    this.#size = end.size;
  }

  /** Resolves when the record is on disk. */
  append(record: object): Promise<LogPosition> {
    return new Promise((done, failed) => {
      this.#waiting.push({ line: lineOf(record), done, failed });
      this.#writing ??= this.#writeAll();
    });
  }

  async read({ segment, offset, length }: LogPosition): Promise<unknown> {
    const file = await open(fileOf(this.#folder, segment), 'r');
    try {
      const line = Buffer.alloc(length);
      await file.read(line, 0, length, offset);
      const record = recordOf(line.subarray(0, -1));
      if (record === undefined)
        throw new Error(`${fileOf(this.#folder, segment)} is damaged at byte ${offset}.`);
      return record.value;
    } finally {
      await file.close();
    }
  }

  /** Every record currently on disk, in order, read one segment at a time. */
  async *records(): AsyncIterable<unknown> {
    for (const segment of await segmentsIn(this.#folder)) {
      const bytes = await readFile(fileOf(this.#folder, segment));
      for (const { value } of recordsIn(bytes)) yield value;
    }
  }

  /** Removes the segments before this one, but never the one being written. */
  async removeBefore(segment: number): Promise<void> {
    for (const old of await segmentsIn(this.#folder)) {
      // Oldest first, so that a crash in between leaves no gap.
      if (old < Math.min(segment, this.#segment)) await rm(fileOf(this.#folder, old));
    }
  }

  async close(): Promise<void> {
    await this.#writing;
    // On a second close, the folder may already belong to another process.
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#file?.close();
    this.#file = undefined;
    this.#unlock();
  }

  async #writeAll(): Promise<void> {
    // Wait one microtask, so that appends made in the same synchronous run share a batch.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      try {
        const positions = await this.#write(batch);
        for (const [index, { done }] of batch.entries()) done(positions[index] as LogPosition);
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    this.#writing = undefined;
  }

  #nextBatch(): Waiting[] {
    let bytes = 0;
    const count = this.#waiting.findIndex(({ line }, index) => {
      bytes += line.length;
      return bytes > batchBytesMax && index > 0;
    });
    return this.#waiting.splice(0, count < 0 ? this.#waiting.length : count);
  }

  async #write(batch: readonly Waiting[]): Promise<LogPosition[]> {
    if (this.#isClosed) throw new Error(`The log ${this.#folder} is closed.`);
    if (this.#isTorn) await this.#cutOff();
    if (this.#size > this.#segmentBytesMax) {
      await this.#file?.close();
      this.#file = undefined;
      this.#segment += 1;
      this.#size = 0;
    }
    this.#file ??= await openToAppend(this.#folder, this.#segment);
    let offset = this.#size;
    const positions = batch.map(({ line: { length } }) => {
      const position = { segment: this.#segment, offset, length };
      offset += length;
      return position;
    });
    this.#isTorn = true;
    await this.#file.appendFile(Buffer.concat(batch.map(({ line }) => line)));
    await this.#file.datasync();
    this.#isTorn = false;
    this.#size = offset;
    return positions;
  }

  /** Removes what a failed write (a full disk) left behind: it was reported as failed, so it must not be there later. */
  async #cutOff(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
    await truncate(fileOf(this.#folder, this.#segment), this.#size);
    this.#isTorn = false;
  }
}

async function openToAppend(folder: string, segment: number): Promise<FileHandle> {
  const file = await open(fileOf(folder, segment), 'a');
  // A new file survives a crash only if its directory entry does, so sync the folder. (Windows has no way to do this.)
  if (process.platform !== 'win32') {
    const directory = await open(folder, 'r');
    await directory.sync();
    await directory.close();
  }
  return file;
}

async function segmentsIn(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => Number(segmentForm.exec(name)?.[1]) || []).sort((a, b) => a - b);
}

/** Passes the records of a segment to `onRecord`; returns its size without the damaged end, which is cut off. */
async function readSegment(
  folder: string,
  segment: number,
  isLast: boolean,
  onRecord: (record: unknown, position: LogPosition) => void,
): Promise<number> {
  const file = fileOf(folder, segment);
  const bytes = await readFile(file);
  let end = 0;
  for (const { value, offset, length } of recordsIn(bytes)) {
    onRecord(value, { segment, offset, length });
    end = offset + length;
  }
  if (end < bytes.length) {
    if (!isLast || hasRecord(bytes.subarray(end))) {
      throw new Error(
        `${file} is damaged at byte ${end}, with intact records after it. Restore the file, or move it away to continue without it.`,
      );
    }
    await writeFile(`${file}.damaged`, bytes.subarray(end));
    await truncate(file, end);
  }
  return end;
}

/** Whether there is an intact record anywhere in the bytes. */
function hasRecord(bytes: Buffer): boolean {
  for (let start = 0; ; ) {
    const end = bytes.indexOf(10, start);
    if (end < 0) return false;
    if (recordOf(bytes.subarray(start, end)) !== undefined) return true;
    start = end + 1;
  }
}

/** The records from the start up to the first one that is not intact. */
function* recordsIn(bytes: Buffer): Iterable<{ value: unknown; offset: number; length: number }> {
  let offset = 0;
  for (;;) {
    const end = bytes.indexOf(10, offset);
    const record = end < 0 ? undefined : recordOf(bytes.subarray(offset, end));
    if (record === undefined) return;
    yield { value: record.value, offset, length: end + 1 - offset };
    offset = end + 1;
  }
}

function lineOf(record: object): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`${sha256(json).slice(0, checksumLength)} ${json}\n`);
}

function recordOf(line: Buffer): { readonly value: unknown } | undefined {
  const text = line.toString('utf8');
  const json = text.slice(checksumLength + 1);
  const isWhole =
    text[checksumLength] === ' ' && text.startsWith(sha256(json).slice(0, checksumLength));
  return isWhole ? { value: JSON.parse(json) } : undefined;
}

function fileOf(folder: string, segment: number): string {
  return join(folder, `${String(segment).padStart(8, '0')}.log`);
}
