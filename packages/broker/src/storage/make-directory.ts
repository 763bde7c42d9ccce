/**
 * Makes a directory and those above it that are missing, for every path that a user gives. Node's own way, `mkdir` with
 * `recursive`, never ends where the system answers "no such directory" although the one above exists, as below /proc.
 * Only the server's user may read what is made, since it will hold messages. The stores and the server's ledger use it; it
 * lies in the lower of the two layers.
 */

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

export const directoryMode = 0o700;

/** Returns the outermost directory that was made; undefined if all were there. Throws the system's error. */
export function makeDirectory(directory: string): string | undefined {
  const missing = [resolve(directory)];
  // Ends at the root, which always exists.
  for (let above = dirname(missing[0] as string); !existsSync(above); above = dirname(above)) {
    missing.unshift(above);
  }
  const made = missing.filter((each) => isMade(each));
  return made[0];
}

/** False if another program was first. */
function isMade(directory: string): boolean {
  try {
    mkdirSync(directory, { mode: directoryMode });
    return true;
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    if (isThere && statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) {
      return false;
    }
    throw error;
  }
}
