/**
 * What can be wrong with a data directory, as a person is told: what it is and what to do. Nothing has been changed
 * when one of these is thrown.
 */

import { DamagedError } from './bytes.ts';

/** The data directory cannot be used; the message says why and what to do. */
export class DataError extends Error {
  override readonly name: string = 'DataError';
}

export function damaged(directory: string, what: string, cause?: unknown): DataError {
  return new DataError(
    `The data in ${directory} is damaged: ${what}. Restore a backup, or move the directory away to start empty; oncemq check ${directory} says more.`,
    { cause },
  );
}

/** Runs what reads records; what they cannot mean, and what LMDB finds wrong, becomes a word about the directory. */
export function reading<T>(directory: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw readingError(directory, error);
  }
}

export function readingError(directory: string, error: unknown): unknown {
  // A bad address is a page beyond the end of the file, as the kernel sees it when a copy is written.
  const isDamage = error instanceof DamagedError || /\bMDB_|Bad address/.test(String(error));
  return isDamage ? damaged(directory, (error as Error).message, error) : error;
}
