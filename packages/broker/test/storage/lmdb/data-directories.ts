/**
 * Data directories for tests that look at, or damage, what is in them.
 */

import { type CheckReport, checkDirectory } from '../../../src/storage/lmdb/file/check.ts';
import { Environment } from '../../../src/storage/lmdb/file/environment.ts';
import { temporaryDirectory } from '../backends.ts';

export async function withDirectory(run: (path: string) => Promise<void>): Promise<void> {
  const { path, remove } = temporaryDirectory();
  try {
    await run(path);
  } finally {
    remove();
  }
}

export type Meddling = (
  put: (key: Buffer, value: Buffer | null) => void,
  environment: Environment,
) => void;

/** Writes records, bypassing everything that would check them. */
export async function meddle(directory: string, writes: Meddling): Promise<void> {
  const environment = await Environment.open({ directory });
  await environment.write((put) => writes(put, environment));
  await environment.close();
}

/** What `oncemq check` finds. */
export const checked: (directory: string) => Promise<CheckReport> = checkDirectory;
