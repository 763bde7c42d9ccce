/**
 * Opens the backend that keeps everything in a data directory: takes the lock, upgrades an older format, and loads the data.
 * One of the two doors of this folder; the other is tools.ts.
 */

import type { Backend } from '../backend.ts';
import { EngineBackend } from '../engine-backend.ts';
import { jsonOf } from '../records/json-record.ts';
import { LocalWriter } from '../running/local-writer.ts';
import type { EngineBackendOptions } from '../running/wiring.ts';
import type { Store, StoreUser } from '../store.ts';
import { damagedInPart, readingError } from './file/data-error.ts';
import { Environment } from './file/environment.ts';
import { bringUpToDate, currentFormat, formatOf } from './file/format.ts';
import type { JournalOptions } from './journal/journal.ts';
import { LmdbStore } from './lmdb-store.ts';
import type { Damage } from './records/damage.ts';
import { latestTimeIn, timeKey } from './records/loading.ts';

export interface DataOptions extends JournalOptions {
  readonly directory: string;
  /** Starts without the damaged records and removes them; default: any damage is an error. */
  readonly acceptsLoss?: boolean | undefined;
  /** Called now and then while what is kept is loaded, with the number of changes so far. */
  readonly onProgress?: (records: number) => void;
  /** Called with what was done about the data before it could be used. */
  readonly onNotice?: (text: string) => void;
}

/** The promise rejects with DataError if what is kept cannot be loaded. */
export async function openDataBackend(
  options: EngineBackendOptions,
  data: DataOptions,
): Promise<Backend> {
  const { latestTime, storeFor } = await openDataStore(data);
  options.clock.notBefore(latestTime);
  const backend = new EngineBackend(options, (parts) => {
    const writer = new LocalWriter({ ...parts, storeFor });
    return { writer, store: writer.store };
  });
  try {
    await backend.load(data.onProgress);
    return backend;
  } catch (error) {
    await backend.close();
    throw error;
  }
}

/** Opens the store alone, for whoever has no engine. */
export async function openDataStore({
  directory,
  acceptsLoss = false,
  onProgress = () => {},
  onNotice = () => {},
  ...journal
}: DataOptions): Promise<{
  /** The time of the last commit; the clock continues from there. */
  readonly latestTime: number;
  readonly storeFor: (user: StoreUser) => Store;
}> {
  let losses = 0;
  const onDamage = (what: string): void => {
    losses += 1;
    onNotice(`damaged, and lost: ${what}`);
  };
  const onLoaded = ({ count, told }: Damage): void => {
    for (const what of told) onDamage(what);
    if (losses === 0) onNotice('nothing was damaged: --accept-loss had no effect');
    else if (count > 0) onNotice('what is damaged was removed');
  };
  const accepting = acceptsLoss ? { onDamage } : {};
  const environment = await Environment.open({ ...journal, directory, onNotice, ...accepting });
  try {
    await upgrade(environment, onProgress, onNotice).catch((error: unknown) => {
      throw readingError(environment.directory, error);
    });
    const latestTime = timeOf(environment, accepting);
    // Starts a new run, so that the next start does not find the same damage again.
    if (losses > 0)
      await environment.write((put) => put(timeKey, jsonOf(latestTime)), { isDirect: true });
    return {
      latestTime,
      storeFor: (user) => new LmdbStore(environment, user, acceptsLoss ? { onLoaded } : {}),
    };
  } catch (error) {
    await environment.close();
    throw error;
  }
}

async function upgrade(
  environment: Environment,
  onProgress: (records: number) => void,
  onNotice: (text: string) => void,
): Promise<void> {
  const before = formatOf(environment);
  await bringUpToDate(environment, undefined, onProgress);
  if (before === undefined || before === currentFormat) return;
  onNotice(`the data was upgraded from format ${before} to ${currentFormat}`);
}

/** Without it, the clock begins with the machine's time. */
function timeOf(
  environment: Environment,
  { onDamage }: { readonly onDamage?: (what: string) => void },
): number {
  try {
    return latestTimeIn(environment);
  } catch (error) {
    const { message } = error as Error;
    if (onDamage === undefined) throw damagedInPart(environment.directory, [message]);
    onDamage(`${message}, so the clock begins with the machine's time`);
    return 0;
  }
}
