/**
 * What commands do with a data directory without starting a server on it: copy it, verify it, move it to another store, and say what is wrong with
 * it. The second of the two doors of this folder; the first is open.ts.
 */

import type { BackupTarget } from './file/backup-target.ts';
import { reading } from './file/data-error.ts';
import { Environment } from './file/environment.ts';
import { knownFormat } from './file/format.ts';

export { DataTarget, openDataSource } from './copying.ts';
export { BackupTarget } from './file/backup-target.ts';
export { type CheckReport, checkDirectory } from './file/check.ts';
export { lockRefusal } from './file/data-directory.ts';
export { DamagedDataError, DataError, damaged, remedy } from './file/data-error.ts';

export interface CopiedData {
  readonly records: number;
  /** Records that are damaged, in the directory as in the copy. */
  readonly damaged: readonly string[];
}

/** Copies the data of a running or stopped server, as of one moment. */
export async function copyData(directory: string, target: BackupTarget): Promise<CopiedData> {
  const environment = await Environment.open({ directory, isReadOnly: true });
  try {
    reading(environment.directory, () => knownFormat(environment));
    const damaged = await target.take(environment);
    return { records: environment.usage().records, damaged };
  } finally {
    await environment.close();
  }
}
