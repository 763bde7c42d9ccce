/**
 * Ensures that only one server uses a data directory. LMDB lists every process that has its file open in a table. The
 * operating system frees an entry when its process ends, however it ends, so a killed server leaves no lock behind. A process
 * that finds another one in the table refuses to start.
 *
 * The table identifies processes by pid. Two containers on one directory can each have a process with the same pid; the second
 * one cannot read at all, which lmdb reports with an error of its own after ten seconds of trying.
 */

import { realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { DataError } from './data-error.ts';

/** Directories in use by this process itself, whose uses LMDB's table does not distinguish. */
const ours: Set<string> = new Set();

/** Enough to outlast a process that is just ending, or one that starts at the same moment and gives up too. */
const attempts = 5;

export async function takeLock(
  directory: string,
  db: RootDatabase<Buffer, Buffer>,
): Promise<() => void> {
  const path = realpathSync(directory);
  if (ours.has(path)) {
    throw new DataError(
      `The data directory ${directory} is in use by another server in this process.`,
    );
  }
  // A transaction registers this process in the table, and ending it does not remove it. It must not read yet: a page that
  // a damaged file refers to may not be there before the file is extended (meta-pages.ts).
  try {
    db.useReadTransaction().done();
  } catch (error) {
    // lmdb got no transaction to read in, and used it nevertheless.
    throw error instanceof TypeError ? sameNumber(directory, error) : error;
  }
  for (let attempt = 1; ; attempt += 1) {
    db.readerCheck();
    const other = processesIn(db.readerList()).find((pid) => pid !== process.pid);
    if (other === undefined) break;
    if (attempt === attempts) {
      throw new DataError(
        `The data directory ${directory} is in use by process ${other}. Stop that server, wait if it is a backup, or choose another directory.`,
      );
    }
    await delay(50 + Math.random() * 100);
  }
  ours.add(path);
  return () => ours.delete(path);
}

export function sameNumber(directory: string, cause: unknown): DataError {
  return new DataError(
    `The data directory ${directory} is in use by another process with the same pid, ${process.pid}, probably in another container. Stop that server, or choose another directory.`,
    { cause },
  );
}

/** The table as LMDB prints it: a heading, then a line each with the process first. */
function processesIn(table: string): number[] {
  return table
    .split('\n')
    .slice(1)
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => !Number.isNaN(pid));
}
