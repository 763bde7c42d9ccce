/**
 * Checks a data directory before LMDB opens it: whether this user may use it and its files, and whether there is room for new
 * ones. LMDB itself would crash the process instead of reporting an error.
 */

import { accessSync, chmodSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../make-directory.ts';
import { DataError } from './data-error.ts';

export const dataFile = 'data.mdb';
/** The files of the journal, used alternately (journal.ts). */
export const journalFiles: readonly string[] = ['journal-1', 'journal-2'];
/** The file that keeps space free for what is only in the journal (journal.ts). */
export const reserveFile = 'journal-reserve';
const lockFile = 'lock.mdb';

/** Only the server's user may read the files and the directories that are made for them (make-directory.ts). */
export const fileMode = 0o600;

/** What LMDB's two files take at the beginning, with a margin. */
const firstBytes = 64 * 1024;

/** Creates the directory if it does not exist. */
export function prepareToWrite(directory: string): void {
  try {
    if (!existsSync(directory)) makeDirectory(directory);
    refuseFile(directory);
    accessSync(directory, constants.R_OK | constants.W_OK);
    for (const name of [dataFile, lockFile, ...journalFiles]) {
      const file = join(directory, name);
      if (!existsSync(file)) continue;
      accessSync(file, constants.R_OK | constants.W_OK);
      tighten(file);
    }
  } catch (cause) {
    if (cause instanceof DataError) throw cause;
    const { code, path = directory } = cause as NodeJS.ErrnoException;
    const other = [lockFile, ...journalFiles].find((name) => path.endsWith(name));
    const what = other === undefined ? code : `${code} at ${other}`;
    throw new DataError(
      `The data directory ${directory} cannot be written (${what}). Give this user permission, or choose another with --data.`,
      { cause },
    );
  }
  requireRoom(directory);
}

/** Files of earlier versions could be read by others. Only their owner can change that. */
function tighten(file: string): void {
  const { mode, uid } = statSync(file);
  const isOurs = uid === process.getuid?.();
  if (isOurs && (mode & 0o777) !== fileMode) chmodSync(file, fileMode);
}

/** If LMDB cannot write its lock file, it goes on without one, and processes do not notice each other. */
export function prepareToRead(directory: string, isAlone: boolean): void {
  try {
    refuseFile(directory);
    accessSync(directory, constants.R_OK | constants.X_OK);
    accessSync(join(directory, dataFile), constants.R_OK);
    for (const file of journalFiles.map((name) => join(directory, name))) {
      if (existsSync(file)) accessSync(file, constants.R_OK);
    }
  } catch (cause) {
    if (cause instanceof DataError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    const text = isMissing
      ? `There is no server data in ${directory}.`
      : `The data directory ${directory} cannot be read (${code}). Give this user permission.`;
    throw new DataError(text, { cause });
  }
  const refused = lockRefusal(directory);
  if (refused === undefined) {
    requireRoom(directory);
  } else if (!isAlone && existsSync(join(directory, lockFile))) {
    throw new DataError(
      `${lockFile} in ${directory} cannot be written (${refused}), so a running server could overwrite data while it is read. Give this user permission.`,
    );
  }
}

/** Why LMDB cannot write its lock, as a code; undefined if it can. */
export function lockRefusal(directory: string): string | undefined {
  const file = join(directory, lockFile);
  try {
    accessSync(existsSync(file) ? file : directory, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

/** Infinite if it cannot be determined; some file systems say that they have no size at all. */
export function freeBytes(directory: string): number {
  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    return blocks > 0 ? bavail * bsize : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** LMDB maps its new files before the disk has space for them. On a full disk, the first write would then kill the process. */
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
  throw new DataError(`${directory} is a file; the data needs a directory.`);
}
