/**
 * The files of a ledger: `ledger-START-RUN-NUMBER.jsonl`, where START is when the server was started, so that names sort by
 * time; where the clock was set back since the run before, it is a moment behind that one's. A run writes files of its own
 * and never into those of another; it only cuts off what a kill has left half written at their end, once it is sure that
 * nobody is writing there.
 *
 * Invariant: a segment holds whole lines. What a failed write has left is cut off before anything follows it. All of them
 * together stay below the bound: the oldest go first.
 */

import { type FileHandle, mkdir, open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SegmentOptions {
  readonly directory: string;
  /** For all segments together; one is a sixteenth of it. */
  readonly bytesMax: number;
  /** Tells the segments of this run from others, and sorts behind them. */
  readonly run: string;
}

const segmentsInBound = 16;
const segmentForm = /^ledger-.+\.jsonl$/;
/** A small ledger of a busy server has ten segments a second, and their names must still sort after a year. */
const numberLength = 9;

/** The segments of a ledger, oldest first. Rejects if there is no such directory. */
export async function segmentsIn(directory: string): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => segmentForm.test(name)).sort();
  return names.map((name) => join(directory, name));
}

const startForm = /^ledger-(\d{4}-\d\d-\d\dT\d\d)(\d\d)(\d\d\.\d{3}Z)-/;

/** The START of a run that begins now, behind those of all segments that there are. `now` in epoch milliseconds. */
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
  /** A write has failed, and what it left stands behind the last whole line. */
  #isTorn = false;

  constructor(options: SegmentOptions) {
    this.#options = options;
    this.#segmentBytesMax = Math.floor(options.bytesMax / segmentsInBound);
  }

  /** How many bytes still go into the segment that is written to. */
  get room(): number {
    const room = this.#segmentBytesMax - this.#size;
    return room > 0 ? room : this.#segmentBytesMax;
  }

  /** Whole lines. When it rejects, none of them is there. */
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
    // Somebody may have taken the file away, and what is written to it then is read by nobody.
    if (this.#file !== undefined && !(await isThere(this.#file.path))) await this.close();
    if (this.#file !== undefined) return this.#file;
    const { directory, run } = this.#options;
    await mkdir(directory, { recursive: true });
    await this.#makeRoom();
    const path = join(
      directory,
      `ledger-${run}-${String(this.#number + 1).padStart(numberLength, '0')}.jsonl`,
    );
    this.#file = { handle: await open(path, 'ax'), path };
    this.#number += 1;
    this.#size = 0;
    this.#isTorn = false;
    return this.#file;
  }

  /** For one more segment. */
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
 * Cuts off what a kill has left behind the last whole line, and says what that line is; undefined if there are no segments,
 * empty if the newest has no line at its end: whoever made it was ended before, or the disk lost it. The newest segments are
 * looked at alone: those before them were mended when they were the newest.
 */
export async function mendSegments(directory: string): Promise<string | undefined> {
  let last: string | undefined;
  for (const path of (await segmentsIn(directory)).slice(-segmentsInBound)) last = await mend(path);
  return last;
}

const newline = 10;
/** More than a line can have. */
const tailBytes = 64 * 1024;
const stillMs = 200;

async function mend(path: string): Promise<string> {
  // Only to read: who keeps an account may have protected what is written.
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - tailBytes);
    const tail = Buffer.alloc(size - start);
    await handle.read(tail, 0, tail.length, start);
    const end = tail.lastIndexOf(newline) + 1;
    // What may not be cut stays: it is the end of a file that nobody writes to any more, and readers pass over it.
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
 * A server that was started by mistake on a ledger in use must not cut off what the other is just writing. No write takes
 * long, so an end that does not grow was left by a kill. A lock would have to be freed after kills, and kept from servers
 * that do not see each other's processes.
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
