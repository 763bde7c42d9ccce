/**
 * One process at a time in a folder: a file with the process's number, linked into place so that whoever sees it can read
 * it. What a dead process left behind is taken over.
 */

import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const attemptsMax = 10;

/** Throws when another living process holds the folder. Answers how to give it back. */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  const lockFile = join(folder, 'lock');
  const ownFile = `${lockFile}-${process.pid}`;
  writeFileSync(ownFile, String(process.pid));
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      if (isLinked(ownFile, lockFile)) return () => rmSync(lockFile, { force: true });
      const holder = Number(readIfThere(lockFile));
      if (isAlive(holder)) {
        throw new Error(
          `${folder} is in use by process ${holder}; one process at a time can have it.`,
        );
      }
      rmSync(lockFile, { force: true });
    }
    throw new Error(`${folder} could not be locked: others take it again and again.`);
  } finally {
    rmSync(ownFile, { force: true });
  }
}

function isLinked(existing: string, created: string): boolean {
  try {
    linkSync(existing, created);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process is a living one too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
