/**
 * The target directory of a backup. The copy is made in a subdirectory and renamed once it is complete, so a failed backup is
 * never mistaken for data.
 */

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { directoryMode, makeDirectory } from '../../make-directory.ts';
import { dataFile } from './data-directory.ts';
import { DataError, readingError } from './data-error.ts';
import { Environment } from './environment.ts';

const reasons: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'permission denied (EACCES)'],
  ['EPERM', 'permission denied (EPERM)'],
  ['ENOENT', 'no directory can be made there (ENOENT)'],
  ['EROFS', 'it is read-only (EROFS)'],
  ['ENOTDIR', 'a part of its path is a file (ENOTDIR)'],
]);

export class BackupTarget {
  readonly #directory: string;
  readonly #unfinished: string;
  /** The outermost directory that was made for it. */
  #made: string | undefined;

  /** Concurrent backups have different numbers. */
  constructor(directory: string, number: number) {
    this.#directory = resolve(directory);
    this.#unfinished = join(this.#directory, `unfinished-${number}`);
  }

  prepare(): void {
    if (existsSync(join(this.#directory, dataFile))) {
      throw new DataError(`${this.#directory} already contains data; choose another directory.`);
    }
    try {
      if (statSync(this.#directory, { throwIfNoEntry: false })?.isDirectory() === false) {
        throw this.#refusal('it is a file');
      }
      this.#made = makeDirectory(this.#directory);
      mkdirSync(this.#unfinished, { mode: directoryMode });
    } catch (error) {
      if (this.#made !== undefined) this.clear();
      throw this.#writeError(error);
    }
  }

  /** Returns which records of the copy are damaged. May run in another process than `prepare`. */
  async take(environment: Environment): Promise<readonly string[]> {
    try {
      await environment.copyTo(this.#unfinished);
      return await putInPlace(this.#unfinished, this.#directory);
    } catch (error) {
      const reason = readingError(environment.directory, error);
      throw reason instanceof DataError ? reason : this.#writeError(error);
    }
  }

  /** Removes the backup's temporary files and, after one that failed, the directories that were made for it. */
  clear(): void {
    rmSync(this.#unfinished, { recursive: true, force: true });
    if (this.#made === undefined || existsSync(join(this.#directory, dataFile))) return;
    let directory = this.#directory;
    try {
      for (; directory !== dirname(this.#made); directory = dirname(directory))
        rmdirSync(directory);
    } catch {
      // Another program has put something there.
    }
  }

  #writeError(error: unknown): unknown {
    if (error instanceof DataError) return error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    const isFull = code === 'ENOSPC' || message.startsWith('No space left');
    return this.#refusal(isFull ? 'the disk is full' : (reasons.get(code) ?? message), error);
  }

  #refusal(reason: string, cause?: unknown): DataError {
    return new DataError(
      `The backup cannot be written to ${this.#directory}: ${reason}. Fix this, or choose another directory.`,
      { cause },
    );
  }
}

/** Moves complete data from one directory to another, as one file. Returns which of its records are damaged. */
export async function putInPlace(
  unfinished: string,
  directory: string,
): Promise<readonly string[]> {
  const damaged = await checkpointJournal(unfinished);
  const copy = join(unfinished, dataFile);
  const descriptor = openSync(copy, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(copy, join(directory, dataFile));
  return damaged;
}

/** Makes the copy one file with a new run, so that no frame of the server's later commits follows it, wherever it is put. */
async function checkpointJournal(directory: string): Promise<readonly string[]> {
  const environment = await Environment.open({ directory });
  try {
    await environment.write(() => {}, { isDirect: true });
    return environment.damagedRecords();
  } finally {
    await environment.close();
  }
}
