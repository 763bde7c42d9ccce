/**
 * The files of a ledger: `ledger-START-RUN-NUMBER.jsonl`, where START is when the server started, so that names sort by
 * time; if the clock was set back since the previous run, START is just after that run's. A run writes only its own files.
 * In those of others it only cuts off an unfinished line that a kill left at the end, once it is sure that nobody is
 * writing there.
 *
 * Invariant: a segment holds whole lines. What a failed write left is cut off before anything is appended. All segments
 * together stay below the bound: the oldest are removed first.
 */

import { type FileHandle, open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDirectory } from '../../storage/make-directory.ts';

export interface SegmentOptions {
  readonly directory: string;
  /** For all segments together; a segment may have a sixteenth of it. */
  readonly bytesMax: number;
  /** Distinguishes the segments of this run from those of others, and sorts after them. */
  readonly run: string;
}

const segmentsInBound = 16;
const segmentForm = /^ledger-.+\.jsonl$/;
/** A busy server with a small ledger writes ten segments a second, and their names must still sort after a year. */
const numberLength = 9;

/** The segments of a ledger, oldest first. Rejects if there is no such directory. */
export async function segmentsIn(directory: string): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => segmentForm.test(name)).sort();
  return names.map((name) => join(directory, name));
}

const startForm = /^ledger-(\d{4}-\d\d-\d\dT\d\d)(\d\d)(\d\d\.\d{3}Z)-/;

/** The START of a run that begins now, later than that of every existing segment. `now` in epoch milliseconds. */
export async function startOfRun(directory: string, now: number): Promise<string> {
  const starts = (await segmentsIn(directory)).map(startedAt);
  const newest = starts.findLast((start) => !Number.isNaN(start)) ?? Number.NEGATIVE_INFINITY;
  return new Date(Math.max(now, newest + 1)).toISOString().replaceAll(':', '');
}

/** Epoch milliseconds; NaN for a name of another form. */
function startedAt(path: string): number {
  const [, hour, minutes, seconds] = startForm.exec(basename(path)) ?? [];
  return Date.parse(`${hour}:${minutes}:${seconds}`);
}

export class Segments {
  readonly #options: SegmentOptions;
  readonly #segmentBytesMax: number;
  #number = 0;
  #file: { readonly handle: FileHandle; readonly path: string } | undefined;
  #size = 0;
  /** A write failed and may have left an unfinished line at the end. */
  #isTorn = false;

  constructor(options: SegmentOptions) {
    this.#options = options;
    this.#segmentBytesMax = Math.floor(options.bytesMax / segmentsInBound);
  }

  /** How many bytes still fit into the current segment; if it is full, into the next one. */
  get room(): number {
    const room = this.#segmentBytesMax - this.#size;
    return room > 0 ? room : this.#segmentBytesMax;
  }

  /** Appends whole lines. If it rejects, none of them is kept. */
  async append(lines: Buffer): Promise<void> {
    if (this.#size + lines.length > this.#segmentBytesMax && this.#size > 0) await this.close();
    const { handle } = await this.#opened();
    if (this.#isTorn) await handle.truncate(this.#size);
    this.#isTorn = true;
    await handle.appendFile(lines);
    this.#isTorn = false;
    this.#size += lines.length;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    try {
      if (this.#isTorn) await file.handle.truncate(this.#size);
      await file.handle.datasync();
    } finally {
      await file.handle.close();
    }
  }

  async #opened(): Promise<{ readonly handle: FileHandle }> {
    // Somebody may have deleted the file; what is written to it then would be lost.
    if (this.#file !== undefined && !(await isThere(this.#file.path))) await this.close();
    if (this.#file !== undefined) return this.#file;
    const { directory, run } = this.#options;
    makeDirectory(directory);
    await this.#makeRoom();
    const path = join(
      directory,
      `ledger-${run}-${String(this.#number + 1).padStart(numberLength, '0')}.jsonl`,
    );
    this.#file = { handle: await open(path, 'ax', 0o600), path };
    this.#number += 1;
    this.#size = 0;
    this.#isTorn = false;
    return this.#file;
  }

  /** Removes the oldest segments until one more fits. */
  async #makeRoom(): Promise<void> {
    const segments = await segmentsIn(this.#options.directory);
    const sizes = await Promise.all(segments.map(async (path) => (await stat(path)).size));
    let total = sizes.reduce((sum, size) => sum + size, 0);
    for (const [at, path] of segments.entries()) {
      if (total + this.#segmentBytesMax <= this.#options.bytesMax) return;
      await rm(path);
      total -= sizes[at] as number;
    }
  }
}

/**
 * Cuts off what a kill left after the last whole line, and returns that line: undefined if there are no segments, empty if
 * the newest has no whole line because its server was killed before writing one, or the disk lost it. Only the newest
 * segments are checked: older ones were mended when they were the newest.
 */
export async function mendSegments(directory: string): Promise<string | undefined> {
  let last: string | undefined;
  for (const path of (await segmentsIn(directory)).slice(-segmentsInBound)) last = await mend(path);
  return last;
}

const newline = 10;
/** Longer than any line. */
const tailBytes = 64 * 1024;
const stillMs = 200;

async function mend(path: string): Promise<string> {
  // Opened read-only: whoever keeps the ledger may have write-protected old segments.
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - tailBytes);
    const tail = Buffer.alloc(size - start);
    await handle.read(tail, 0, tail.length, start);
    const end = tail.lastIndexOf(newline) + 1;
    // If the file cannot be truncated, the fragment stays: nobody appends to this file anymore, and readers skip it.
    if (end < tail.length && (await standsStill(handle, size))) {
      await truncate(path, start + end).catch(() => {});
    }
    const before = end < 2 ? -1 : tail.lastIndexOf(newline, end - 2);
    return tail.toString('utf8', before + 1, Math.max(0, end - 1));
  } finally {
    await handle.close();
  }
}

/**
 * A server started by mistake on a ledger in use must not cut off what the other server is writing. No write takes long,
 * so an unfinished line that does not grow was left by a kill. A lock would have to be released after kills, and would
 * have to work between servers that cannot see each other's processes.
 */
async function standsStill(handle: FileHandle, size: number): Promise<boolean> {
  await sleep(stillMs);
  return (await handle.stat()).size === size;
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
