/**
 * LMDB's file in a data directory. Opening it checks for everything that would otherwise be an unclear failure, and admits one
 * process at a time; there is one write transaction at a time. A transaction is on disk when its promise resolves. lmdb
 * resolves earlier by default, so its overlapping sync is off.
 */

import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { dataFile, fileMode, freeBytes } from './data-directory.ts';
import { DataError, damaged, readingError } from './data-error.ts';
import { metaProblem, structureProblem } from './file-structure.ts';
import { checkMetaPages, extendToWhole } from './meta-pages.ts';
import { sameNumber, takeLock } from './process-lock.ts';

/** Null removes the record. */
export type Put = (key: Buffer, value: Buffer | null) => void;

export type Writes = (put: Put) => void;

export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** Keys from `start` on, before `end`. */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

export interface Usage {
  readonly fileBytes: number;
  readonly records: number;
}

export interface Pages {
  readonly usedBytes: number;
  /** What can be written before the file takes more of the disk. */
  readonly unusedBytes: number;
}

const anyKey: Buffer = Buffer.alloc(1);

interface Tree {
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

interface Stats extends Tree {
  readonly pageSize: number;
  readonly entryCount: number;
  readonly lastPageNumber: number;
  readonly free: Tree;
}

const metaPages = 2;

const zeros: Buffer = Buffer.alloc(1024 * 1024);

export const diskIsFull = 'the disk is full';

/** With less free space than this, a failed commit is blamed on a full disk. */
const fullBytes = 1024 * 1024;

/** LMDB's errors for a commit that meets a damaged page. */
const damagePattern =
  /\bMDB_(BAD_TXN|CORRUPTED|CURSOR_FULL|INVALID|PAGE_FULL|PAGE_NOTFOUND|PROBLEM)\b/;

export class LmdbFile {
  readonly directory: string;
  readonly #db: RootDatabase<Buffer, Buffer>;
  readonly #release: () => void;
  /** A transaction has failed. */
  #hasFailed = false;

  private constructor(directory: string, db: RootDatabase<Buffer, Buffer>, release: () => void) {
    this.directory = directory;
    this.#db = db;
    this.#release = release;
  }

  static async open(
    directory: string,
    { isReadOnly, isAlone }: { readonly isReadOnly: boolean; readonly isAlone: boolean },
  ): Promise<LmdbFile> {
    const file = join(directory, dataFile);
    checkMetaPages(file, isReadOnly);
    if (statSync(file, { throwIfNoEntry: false })?.size) refuse(directory, metaProblem(file));
    const db = openDatabase(directory, isReadOnly);
    try {
      const release = isAlone ? await takeLock(directory, db) : () => {};
      // Another process could have written before this one had the lock.
      db.resetReadTxn();
      if (!isReadOnly) extendToWhole(file);
      // While a server runs, pages would change during the check.
      if (isAlone) refuse(directory, structureProblem(file, isReadOnly));
      return new LmdbFile(directory, db, release);
    } catch (error) {
      await db.close();
      throw readingError(directory, error);
    }
  }

  /** Reads what another process has written meanwhile. */
  refresh(): void {
    this.#db.resetReadTxn();
  }

  /** The value is valid until the next `get`. */
  get(key: Buffer): Buffer | undefined {
    return this.#db.getBinaryFast(key);
  }

  range({ start, end }: KeyRange): Iterable<Entry> {
    return this.#db.getRange({ start, end });
  }

  keys({ start, end }: KeyRange, limit: number): Iterable<Buffer> {
    return this.#db.getKeys({ start, end, limit });
  }

  /**
   * Writes all or none, in one transaction; resolves once it is on disk. By itself lmdb begins a transaction one turn of the
   * event loop later; because of `last` it begins at once.
   */
  async write(writes: Writes, last: Entry): Promise<void> {
    if (this.#hasFailed) this.#requireUsable();
    const put: Put = (key, value) => {
      // Each has a promise of its own; the batch's promise covers them all.
      void (value === null ? this.#db.remove(key) : this.#db.put(key, value));
    };
    const written = this.#db.batch(() => writes(put));
    // A write after the batch exceeds `txnStartThreshold`. Both are there when lmdb's thread begins, so it takes both: then they
    // share a promise too, and `put` may ignore it.
    put(last.key, last.value);
    try {
      await written;
    } catch (error) {
      this.#hasFailed = true;
      throw await this.#reasonOf(error);
    }
  }

  /**
   * After an error that it cannot undo, LMDB refuses every further transaction, and lmdb's promise of one never settles. A new
   * transaction for reading throws the reason.
   */
  #requireUsable(): void {
    this.#db.resetReadTxn();
    this.#db.doesExist(anyKey);
  }

  /** Whether the disk has this much room, as far as is known. */
  hasRoom(bytes: number): boolean {
    return freeBytes(this.directory) >= bytes;
  }

  /** Writes a consistent, compacted copy into an existing directory that has no data file. */
  async copyTo(target: string): Promise<void> {
    await this.#db.backup(target, true);
  }

  usage(): Usage {
    const { lastPageNumber, pageSize, entryCount } = this.#stats();
    return { fileBytes: (lastPageNumber + 1) * pageSize, records: entryCount };
  }

  /** A page that is neither in the tree of records nor in that of free pages is free; and so is what follows the last page. */
  pages(): Pages {
    const stats = this.#stats();
    const { lastPageNumber, pageSize } = stats;
    const usedBytes = (metaPages + pagesOf(stats) + pagesOf(stats.free)) * pageSize;
    const size = statSync(join(this.directory, dataFile)).size;
    return { usedBytes, unusedBytes: Math.max(size, (lastPageNumber + 1) * pageSize) - usedBytes };
  }

  /** Allocates this much of the disk in advance, if it is free, so that no other program takes it. Not during a write. */
  extend(bytes: number): void {
    try {
      // Appended, never written over a page: LMDB may have made the file longer meanwhile.
      const descriptor = openSync(join(this.directory, dataFile), 'a');
      try {
        for (let left = bytes; left > 0; ) {
          left -= writeSync(descriptor, zeros, 0, Math.min(left, zeros.length));
        }
      } finally {
        closeSync(descriptor);
      }
    } catch {
      // The disk is full, and the file has taken what was left.
    }
  }

  #stats(): Stats {
    return this.#db.getStats() as Stats;
  }

  async close(): Promise<void> {
    await this.#db.close();
    this.#release();
  }

  async #reasonOf(error: unknown): Promise<Error> {
    const cause = await Promise.resolve((error as { commitError?: unknown }).commitError).catch(
      (commitError: unknown) => commitError,
    );
    const text = cause instanceof Error ? cause.message : String(error);
    // LMDB reports a full disk as a plain I/O error when a part could still be written.
    const isFull = text.startsWith('No space left') || !this.hasRoom(fullBytes);
    if (isFull) return new Error(diskIsFull, { cause });
    return damagePattern.test(text)
      ? damaged(this.directory, text, cause)
      : new Error(text, { cause });
  }
}

function pagesOf({ treeBranchPageCount, treeLeafPageCount, overflowPages }: Tree): number {
  return treeBranchPageCount + treeLeafPageCount + overflowPages;
}

function refuse(directory: string, problem: string | undefined): void {
  if (problem !== undefined) throw damaged(directory, problem);
}

function openDatabase(directory: string, readOnly: boolean): RootDatabase<Buffer, Buffer> {
  // When a transaction begins: with the first write after a batch, and never before the batch is complete, however large it is.
  // (The first option is in lmdb's README, the others in its source; its types have none of them.)
  const start = { txnStartThreshold: 1, batchStartThreshold: Number.MAX_SAFE_INTEGER };
  const files = { permissionsMode: fileMode };
  try {
    return open<Buffer, Buffer>({
      ...start,
      ...files,
      path: directory,
      noSubdir: false,
      encoding: 'binary',
      keyEncoding: 'binary',
      // Writes come in batches of our own, which begin at once (`write`).
      eventTurnBatching: false,
      overlappingSync: false,
      noMemInit: true,
      readOnly,
    });
  } catch (cause) {
    if (/No transaction to renew/.test(String(cause))) throw sameNumber(directory, cause);
    if (/read-only|EROFS|permission/i.test(String(cause))) {
      throw new DataError(
        `The data directory ${directory} cannot be written (${(cause as Error).message}). Choose another with --data.`,
        { cause },
      );
    }
    throw damaged(directory, (cause as Error).message, cause);
  }
}
