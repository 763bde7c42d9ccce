/**
 * The journal holds commits until a checkpoint writes them to LMDB's file. A commit is appended to a file and synced once,
 * where LMDB would write scattered pages and sync twice. LMDB then gets the records of many commits in one transaction, and
 * never sees those that were written and removed in between (environment.ts).
 *
 * There are two files, used alternately: when one is full it is sealed, and its records go into LMDB's file while the other
 * one takes commits. The files have their full size from the beginning, because overwriting syncs fastest, and because a disk
 * that fills up later then does not matter. Their records are also in memory, so nothing is read back before the next start.
 *
 * The reserve is a third file that only occupies space. If other programs fill the disk, it is removed, so that the records in
 * the journal still fit into LMDB's file.
 */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  write,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileMode, journalFiles, reserveFile } from '../file/data-directory.ts';
import type { Writes } from '../file/lmdb-file.ts';
import { headBytes, writeFrame } from './frame.ts';
import { type Checkpoint, JournalIndex } from './journal-index.ts';

export type Durability = 'fsync' | 'os';

export interface JournalOptions {
  /** Default fsync. */
  readonly durability?: Durability | undefined;
  /** How much a file takes before it is sealed; default 4 MiB. */
  readonly journalBytes?: number | undefined;
}

const journalBytesDefault = 4 * 1024 * 1024;
/** Also full with this many records: handing them to LMDB must not take long. */
const recordsMax = 4096;
/** A commit that takes more than this part of a file goes into LMDB's file at once: a second copy would cost more than a sync. */
const frameShareMax = 1 / 8;

/** How much room a record takes in LMDB's file, at worst, for each byte in the journal: a large value fills whole pages. */
const growthMax = 2;

const reservePieceBytes = 1024 * 1024;

const writeAt = promisify(write);
const sync = promisify(fdatasync);

class JournalFile {
  readonly bytes: Buffer;
  readonly layer: JournalIndex;
  end = 0;
  readonly #descriptor: number;
  readonly #durability: Durability;
  /** On Linux a write can return when it is on disk; elsewhere that takes a second call. */
  readonly #isSyncedByWrite: boolean;
  #syncing: Promise<void> | undefined;
  #isBehind = false;

  constructor(path: string, bytesMax: number, durability: Durability) {
    this.bytes = Buffer.allocUnsafeSlow(bytesMax);
    this.layer = new JournalIndex(this.bytes);
    this.#durability = durability;
    this.#isSyncedByWrite = durability === 'fsync' && process.platform === 'linux';
    const { O_CREAT, O_DSYNC, O_RDWR } = constants;
    const flags = O_RDWR | O_CREAT | (this.#isSyncedByWrite ? O_DSYNC : 0);
    if (statSync(path, { throwIfNoEntry: false })?.size !== bytesMax) allocate(path, bytesMax);
    this.#descriptor = openSync(path, flags, fileMode);
  }

  async write(start: number, end: number): Promise<void> {
    for (let at = start; at < end; ) {
      at += (await writeAt(this.#descriptor, this.bytes, at, end - at, at)).bytesWritten;
    }
    if (this.#isSyncedByWrite) return;
    if (this.#durability === 'fsync') {
      await sync(this.#descriptor);
      return;
    }
    this.#isBehind = true;
    this.#syncing ??= this.#syncAll();
  }

  /** With durability `os` no answer waits for the disk; the file is synced shortly afterward. */
  async #syncAll(): Promise<void> {
    while (this.#isBehind) {
      this.#isBehind = false;
      await sync(this.#descriptor).catch(() => {});
    }
    this.#syncing = undefined;
  }

  /** Best effort: zeroes the header of a frame whose write failed, so that recovery ignores it. */
  async erase(start: number): Promise<void> {
    this.bytes.fill(0, start, start + headBytes);
    await this.write(start, start + headBytes).catch(() => {});
  }

  async close(): Promise<void> {
    await this.#syncing;
    closeSync(this.#descriptor);
  }
}

/** The records of a sealed file, and the last frame among them. */
export interface Sealed {
  readonly layer: JournalIndex;
  readonly last: Checkpoint;
}

export class Journal {
  readonly #run: number;
  readonly #fullBytes: number;
  readonly #frameBytesMax: number;
  /** Of the frame that was tried last, and of the last one that was written. Commits without a frame have numbers, too. */
  #tried: number;
  #written: number;
  #current: JournalFile;
  /** The other file, empty or sealed. */
  #other: JournalFile;

  /** `after` is the last commit of the run, which LMDB's file has. */
  constructor(
    directory: string,
    after: Checkpoint,
    { durability = 'fsync', journalBytes = journalBytesDefault }: JournalOptions,
  ) {
    this.#run = after.run;
    this.#tried = after.number;
    this.#written = after.number;
    this.#fullBytes = journalBytes;
    this.#frameBytesMax = Math.floor(journalBytes * frameShareMax);
    // Any frame fits into a file that is not full.
    const bytesMax = journalBytes + this.#frameBytesMax;
    const files: JournalFile[] = [];
    try {
      for (const name of journalFiles) {
        files.push(new JournalFile(join(directory, name), bytesMax, durability));
      }
      makeReserve(directory, growthMax * bytesMax * journalFiles.length);
      syncDirectory(directory);
    } catch (error) {
      for (const file of files) void file.close();
      throw error;
    }
    [this.#current, this.#other] = files as [JournalFile, JournalFile];
  }

  /** What is not in LMDB's file, the oldest first. */
  get layers(): readonly JournalIndex[] {
    return [this.#other.layer, this.#current.layer];
  }

  /**
   * The next commit goes into LMDB's file, with everything that is here. It takes a number like a frame, so that the next frame
   * follows exactly this state of the file, and none that was tried before: one that failed may be on disk.
   */
  claimNumber(): Checkpoint {
    this.#tried += 1;
    return { run: this.#run, number: this.#tried };
  }

  /** Whether the current file must be sealed before the next commit. */
  get isFull(): boolean {
    return this.#current.end >= this.#fullBytes || this.#current.layer.size >= recordsMax;
  }

  /** Keeps a commit; resolves once it is as durable as configured. Undefined if it is too large. */
  append(writes: Writes): Promise<void> | undefined {
    const file = this.#current;
    const start = file.end;
    const room = file.bytes.subarray(0, start + this.#frameBytesMax);
    const head = { run: this.#run, number: this.#tried + 1, after: this.#written };
    const frame = writeFrame(room, start, head, writes);
    if (frame === undefined) return undefined;
    this.#tried = frame.number;
    return file.write(start, frame.end).then(
      () => {
        this.#written = frame.number;
        file.end = frame.end;
        file.layer.add(frame);
      },
      async (error: unknown) => {
        await file.erase(start);
        throw error;
      },
    );
  }

  /** Switches to the other file, which must be empty. Returns the records for LMDB's file. */
  seal(): Sealed {
    assert(this.#other.layer.isEmpty);
    [this.#current, this.#other] = [this.#other, this.#current];
    return { layer: this.#other.layer, last: { run: this.#run, number: this.#written } };
  }

  /** What was sealed is in LMDB's file. */
  release(): void {
    empty(this.#other);
  }

  /** Everything is in LMDB's file. */
  restart(): void {
    empty(this.#other);
    empty(this.#current);
    this.#written = this.#tried;
  }

  async close(): Promise<void> {
    await this.#current.close();
    await this.#other.close();
  }
}

function allocate(path: string, bytes: number): void {
  const descriptor = openSync(path, 'w', fileMode);
  try {
    for (let at = 0; at < bytes; )
      at += writeSync(descriptor, Buffer.alloc(bytes - at), 0, bytes - at, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function empty(file: JournalFile): void {
  file.layer.clear();
  file.end = 0;
}

/** Syncs the directory, so that a new file survives a power cut. Windows has no such call. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** The journal's files as they are; empty where there is none. */
export function readJournal(directory: string): readonly Buffer[] {
  return journalFiles.map((name) => {
    try {
      return readFileSync(join(directory, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
      throw error;
    }
  });
}

/** What a killed process has written may not be on disk yet; it must be synced before anything relies on it. */
export function syncJournal(directory: string): void {
  for (const file of journalFiles.map((name) => join(directory, name))) {
    if (!existsSync(file)) continue;
    const descriptor = openSync(file, 'r+');
    try {
      fdatasyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}

export function removeJournal(directory: string): void {
  for (const name of [...journalFiles, reserveFile]) rmSync(join(directory, name), { force: true });
}

/** Removes the reserve, which makes room on the disk. */
export function releaseReserve(directory: string): void {
  rmSync(join(directory, reserveFile), { force: true });
}

/** Not zeros, because some file systems allocate no space for them. Not synced: its space is allocated, and it is never read. */
function makeReserve(directory: string, bytes: number): void {
  const file = join(directory, reserveFile);
  if (statSync(file, { throwIfNoEntry: false })?.size === bytes) return;
  const piece = randomBytes(reservePieceBytes);
  const descriptor = openSync(file, 'w', fileMode);
  try {
    for (let left = bytes; left > 0; ) {
      left -= writeSync(descriptor, piece, 0, Math.min(left, piece.length));
    }
  } finally {
    closeSync(descriptor);
  }
}
