/**
 * A folder with another path and the same content: links to everything in the original. A program that runs there, or has
 * it as its home, finds its files, but sees another path.
 */

import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** A folder with more entries is not mirrored. */
const entriesMax = 10_000;

/** Returns false if the folder cannot be mirrored; nothing of it is then used. */
export function mirrorFolder(original: string, mirror: string): boolean {
  try {
    const names = readdirSync(original);
    if (names.length > entriesMax) return false;
    mkdirSync(mirror);
    for (const name of names) symlinkSync(join(original, name), join(mirror, name));
    return true;
  } catch {
    return false;
  }
}
