/**
 * Makes a folder and those above it that are missing. Node's own way, `mkdir` with `recursive`, never ends where the system
 * answers "no such directory" although the one above exists, as below /proc.
 */

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Throws the system's error. */
export function makeFolder(folder: string): void {
  const missing = [resolve(folder)];
  // Ends at the root, which always exists.
  for (let above = dirname(missing[0] as string); !existsSync(above); above = dirname(above)) {
    missing.unshift(above);
  }
  for (const each of missing) {
    try {
      mkdirSync(each);
    } catch (error) {
      // Somebody else was first, or the last one exists already.
      const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
      if (!isThere || statSync(each, { throwIfNoEntry: false })?.isDirectory() !== true) {
        throw error;
      }
    }
  }
}
