/**
 * A look at a data directory before LMDB opens it: whether this user may use it and its files, and whether there is room
 * for those that are new. LMDB ends the process with a signal where a word is due.
 */

import { accessSync, constants, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DataError } from './data-error.ts';

export const dataFile = 'data.mdb';
const lockFile = 'lock.mdb';

/** What LMDB's two files take at first, and some more. */
const firstBytes = 64 * 1024;

/** Makes it if it is not there. */
export function prepareToWrite(directory: string): void {
  try {
    if (!existsSync(directory)) {
      mkdirSync(directory, { recursive: !existsSync(dirname(directory)) });
    }
    refuseFile(directory);
    accessSync(directory, constants.R_OK | constants.W_OK);
    for (const file of [dataFile, lockFile].map((name) => join(directory, name))) {
      if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
    }
  } catch (cause) {
    if (cause instanceof DataError) throw cause;
    const { code, path = directory } = cause as NodeJS.ErrnoException;
    const what = path.endsWith(lockFile) ? `${code} at ${lockFile}` : code;
    throw new DataError(
      `The data directory ${directory} cannot be written (${what}); give this user the right to, or choose another with --data.`,
      { cause },
    );
  }
  requireRoom(directory);
}

export function prepareToRead(directory: string): void {
  if (!existsSync(join(directory, dataFile))) {
    if (existsSync(directory)) refuseFile(directory);
    throw new DataError(`${directory} holds no data of a server.`);
  }
  requireRoom(directory);
}

/** As far as can be told. */
export function freeBytes(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** LMDB maps files of its own that have no room behind them yet, and writes there. */
function requireRoom(directory: string): void {
  const hasBlocks = (name: string): boolean =>
    (statSync(join(directory, name), { throwIfNoEntry: false })?.blocks ?? 0) > 0;
  if ([dataFile, lockFile].every(hasBlocks) || freeBytes(directory) >= firstBytes) return;
  throw new DataError(
    `The data directory ${directory} cannot be opened: the disk is full. Make room, or choose another directory.`,
  );
}

function refuseFile(directory: string): void {
  if (statSync(directory).isDirectory()) return;
  throw new DataError(`${directory} is a file; name a directory for the data.`);
}
