/**
 * A look at a data directory before LMDB opens it: whether this user may use it and its files. LMDB ends the process
 * with a signal where a word is due.
 */

import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DataError } from './data-error.ts';

export const dataFile = 'data.mdb';
export const lockFile = 'lock.mdb';

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
}

export function prepareToRead(directory: string): void {
  if (existsSync(join(directory, dataFile))) return;
  if (existsSync(directory)) refuseFile(directory);
  throw new DataError(`${directory} holds no data of a server.`);
}

function refuseFile(directory: string): void {
  if (statSync(directory).isDirectory()) return;
  throw new DataError(`${directory} is a file; name a directory for the data.`);
}
