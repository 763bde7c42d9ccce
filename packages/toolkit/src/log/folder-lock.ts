/**
 * Lets one process at a time use a folder: a lock file names the process. The file is hard-linked into place, so that it
 * is complete as soon as it is visible. The lock of a dead process is taken over.
 *
 * A pid alone does not identify a process: in a container, the restarted process often has the same pid, usually 1. So
 * the file also holds the start time of the process where the system reports it (Linux). Elsewhere, a lock with our own
 * pid counts as stale unless this thread holds it. Processes that cannot see each other, for example in two containers,
 * are not kept apart.
 *
 * A worker thread releases its folders when it exits. `worker.terminate()` gives it no chance to: folders that it has not
 * closed stay locked until the process ends.
 */

import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import { makeFolder } from './make-folder.ts';

const attemptsMax = 10;

/** The lock files that this thread holds. */
const held: Set<string> = new Set();
if (!isMainThread) {
  process.on('exit', () => {
    for (const lockFile of held) rmSync(lockFile, { force: true });
  });
}

/** Returns a function that releases the folder. Throws if another live process holds it. */
export function lockFolder(folder: string): () => void {
  makeFolder(folder);
  const lockFile = resolve(folder, 'lock');
  const ownFile = `${lockFile}-${process.pid}-${threadId}`;
  writeFileSync(ownFile, `${process.pid} ${startOf(process.pid)}`);
  try {
    if (!isLinked(ownFile, lockFile)) takeOver(lockFile, ownFile, folder);
  } finally {
    rmSync(ownFile, { force: true });
  }
  held.add(lockFile);
  return () => {
    held.delete(lockFile);
    rmSync(lockFile, { force: true });
  };
}

/**
 * Takeovers have their own lock, so that only one process at a time does this. Otherwise, if two processes saw the same
 * stale lock, the second would remove the new lock of the first.
 */
function takeOver(lockFile: string, ownFile: string, folder: string): void {
  const takeoverFile = `${lockFile}-takeover`;
  refuseIfHeld(lockFile, folder);
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    if (isLinked(ownFile, takeoverFile)) {
      try {
        refuseIfHeld(lockFile, folder);
        rmSync(lockFile, { force: true });
        if (isLinked(ownFile, lockFile)) return;
      } finally {
        rmSync(takeoverFile, { force: true });
      }
    } else {
      const holder = readIfThere(takeoverFile);
      if (holder === '') continue;
      refuseIfHeld(takeoverFile, folder, holder);
      // The holder died during a takeover. If several processes notice at once, one may remove another's new takeover lock.
      rmSync(takeoverFile, { force: true });
    }
  }
  throw new Error(`${folder} could not be locked, because other processes keep locking it.`);
}

function refuseIfHeld(lockFile: string, folder: string, holder = readIfThere(lockFile)): void {
  const [pid = '', start = ''] = holder.split(' ');
  const isOurs = Number(pid) === process.pid && start === '';
  if (isOurs ? held.has(lockFile) : isAlive(Number(pid), start)) {
    throw new Error(
      `${folder} is in use by process ${pid}; only one process at a time can use it.`,
    );
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

function isAlive(pid: number, start: string): boolean {
  return isRunning(pid) && (start === '' || start === startOf(pid));
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    // A process of another user is running too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The start time in ticks since boot, field 22 of Linux's /proc/PID/stat; empty on other systems. */
function startOf(pid: number): string {
  const stat = readIfThere(`/proc/${pid}/stat`);
  // Field 2, the program's name, may contain spaces; it ends at the last parenthesis.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
