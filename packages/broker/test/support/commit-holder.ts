/**
 * Keeps the server on a data directory from committing, as a slow disk does: another process holds LMDB's write
 * transaction until it is told to let go. Run as a program, this file is that process.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { open } from 'lmdb';

const self = fileURLToPath(import.meta.url);

/** Resolves, once no commit can happen, to what lets them happen again. */
export async function holdCommits(directory: string): Promise<() => void> {
  const child = spawn(process.execPath, [self, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout as Readable, 'data');
  return () => child.stdin?.end();
}

if (process.argv[1] === self) {
  open({ path: process.argv[2] as string }).transactionSync(() => {
    process.stdout.write('held');
    readSync(0, Buffer.alloc(1));
  });
}
