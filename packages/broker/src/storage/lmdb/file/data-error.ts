/**
 * Errors about a data directory, written for people: what is wrong and what to do. When one of these is thrown, nothing has
 * been changed.
 */

import { DamagedError } from '../../records/bytes.ts';

/** The data directory cannot be used; the message says why and what to do. */
export class DataError extends Error {
  override readonly name: string = 'DataError';
}

/** What helps if data is damaged. */
export const remedy = 'Restore a backup, or move the directory away to start empty.';

/** The data cannot be read. */
export class DamagedDataError extends DataError {
  /** The message for `oncemq check` itself, without the advice to run it. */
  readonly finding: string;

  constructor(directory: string, finding: string, options: ErrorOptions) {
    super(`${finding} oncemq check ${directory} shows details.`, options);
    this.finding = finding;
  }
}

export function damaged(directory: string, what: string, cause?: unknown): DataError {
  const finding = `The data in ${directory} is damaged: ${what}. ${remedy}`;
  return new DamagedDataError(directory, finding, { cause });
}

/** Something is damaged, but the rest can be read: with --accept-loss, a server starts with the rest. */
export function damagedInPart(directory: string, what: readonly string[]): DataError {
  const shown = what.slice(0, damageShownMax);
  const more = what.length - shown.length;
  const list = [...shown, ...(more > 0 ? [`${more} more`] : [])].join('; ');
  return new DataError(
    `The data in ${directory} is damaged: ${list}. Restore a backup, or copy the directory and start with --accept-loss to go on without what is lost. oncemq check ${directory} shows details.`,
  );
}

const damageShownMax = 20;

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
