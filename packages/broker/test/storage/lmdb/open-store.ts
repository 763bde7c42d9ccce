/**
 * The LMDB store without a backend, for tests of what it keeps: opened with a user that expects no commit to fail, and
 * examined for damage once it is closed.
 */

import assert from 'node:assert/strict';
import { windowExpiredUntil } from '../../../src/core/deduplication/window-expiry.ts';
import { checkData } from '../../../src/storage/lmdb/file/check.ts';
import { Environment } from '../../../src/storage/lmdb/file/environment.ts';
import { bringUpToDate } from '../../../src/storage/lmdb/file/format.ts';
import { LmdbStore } from '../../../src/storage/lmdb/lmdb-store.ts';
import type { StoreUser } from '../../../src/storage/store.ts';

export const user = (now: number): StoreUser => ({
  now: () => now,
  takeBack: () => assert.fail('a commit failed'),
  windowExpiredUntil: (owner) => windowExpiredUntil(owner, now),
  reserve: () => {},
  suspend: () => {},
  committed: () => {},
  resume: () => {},
});

export async function openStore(directory: string, now: number): Promise<LmdbStore> {
  const environment = await Environment.open({ directory });
  await bringUpToDate(environment);
  return new LmdbStore(environment, user(now));
}

export async function problemsIn(directory: string): Promise<readonly string[]> {
  const environment = await Environment.open({ directory, isReadOnly: true, isAlone: true });
  const { problems } = checkData(environment);
  await environment.close();
  return problems;
}
