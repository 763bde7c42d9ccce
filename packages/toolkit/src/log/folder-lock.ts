/**
 * One process at a time in a folder: a file that names the process, linked into place so that whoever sees it can read it.
 * What a dead process left behind is taken over.
 *
 * A number alone does not name a process: in a container the next one has it again after a crash, most often as number 1. So
 * the file also says when the process started, where the system tells (Linux); elsewhere a number that is our own is
 * somebody else's unless we hold the folder. Processes that do not see each other, in two containers say, are not kept apart.
 *
 * A worker thread that ends gives its folders back. One that is ended by `worker.terminate()` runs no line more and cannot:
 * its folders stay locked until the process ends, unless it has closed them.
 */

import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';

const attemptsMax = 10;

/** What this very thread holds. */
const held: Set<string> = new Set();
if (!isMainThread) {
  process.on('exit', () => {
    for (const lockFile of held) rmSync(lockFile, { force: true });
  });
}

/** Throws when another living process holds the folder. Answers how to give it back. */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
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
 * By one process at a time, under a lock of its own: of two that have seen the same dead one, the second would else remove
 * what the first has just put there.
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
      // Somebody died in the lines above. Of several that see it at once, one may remove what another has just put there.
      rmSync(takeoverFile, { force: true });
    }
  }
  throw new Error(`${folder} could not be locked: others take it again and again.`);
}

function refuseIfHeld(lockFile: string, folder: string, holder = readIfThere(lockFile)): void {
  const [pid = '', start = ''] = holder.split(' ');
  const isOurs = Number(pid) === process.pid && start === '';
  if (isOurs ? held.has(lockFile) : isAlive(Number(pid), start)) {
    throw new Error(`${folder} is in use by process ${pid}; one process at a time can have it.`);
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
    // Somebody else's process is a running one too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Ticks since the machine started, the 22nd word of what Linux says of a process; elsewhere nothing. */
function startOf(pid: number): string {
  const stat = readIfThere(`/proc/${pid}/stat`);
  // The second word, the program's name, may hold spaces.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
