/**
 * Opens the store in a data directory: takes the lock, upgrades an older format, and returns what a backend needs to
 * continue from there.
 */

import type { Entries, EntriesUser } from '../entries.ts';
import { reading, readingError } from './data-error.ts';
import { Environment } from './environment.ts';
import { bringUpToDate } from './format.ts';
import type { Durability } from './journal.ts';
import { LmdbEntries } from './lmdb-entries.ts';
import { latestTime } from './loading.ts';

export interface DataOptions {
  readonly directory: string;
  /** Default fsync. */
  readonly durability?: Durability | undefined;
  /** Called now and then while what is kept is loaded, with the number of changes so far. */
  readonly onProgress?: (records: number) => void;
}

export async function openDataEntries({ directory, durability }: DataOptions): Promise<{
  /** The time of the last commit; the clock goes on from there. */
  readonly latestTime: number;
  readonly entriesFor: (user: EntriesUser) => Entries;
}> {
  const environment = await Environment.open({ directory, durability });
  try {
    await bringUpToDate(environment).catch((error: unknown) => {
      throw readingError(environment.directory, error);
    });
    return {
      latestTime: reading(environment.directory, () => latestTime(environment)),
      entriesFor: (user) => new LmdbEntries(environment, user),
    };
  } catch (error) {
    await environment.close();
    throw error;
  }
}
