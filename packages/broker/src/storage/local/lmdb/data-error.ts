/**
 * Errors about a data directory, worded for people: what is wrong and what to do. Nothing has been changed when one of
 * these is thrown.
 */

import { DamagedError } from './bytes.ts';

/** The data directory cannot be used; the message says why and what to do. */
export class DataError extends Error {
  override readonly name: string = 'DataError';
}

export function damaged(directory: string, what: string, cause?: unknown): DataError {
  return new DataError(
    `The data in ${directory} is damaged: ${what}. Restore a backup, or move the directory away to start empty. oncemq check ${directory} shows details.`,
    { cause },
  );
}

/** Runs code that reads records; malformed records and LMDB's own errors become an error about the directory. */
export function reading<T>(directory: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw readingError(directory, error);
  }
}

export function readingError(directory: string, error: unknown): unknown {
  // "Bad address" is a page beyond the end of the file, as the kernel reports it when a copy is written.
  const isDamage = error instanceof DamagedError || /\bMDB_|Bad address/.test(String(error));
  return isDamage ? damaged(directory, (error as Error).message, error) : error;
}
