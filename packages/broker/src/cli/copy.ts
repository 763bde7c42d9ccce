/**
 * `oncemq copy`: moves everything between a data directory and PostgreSQL, in either direction.
 */

import { resolve } from 'node:path';
import { databaseText, databaseUrl } from '../server/config/database-text.ts';
import { type CopySource, type CopyTarget, copy } from '../storage/copying/copy.ts';
import { runInChild } from './in-child.ts';
import { isChild } from './is-child.ts';
import { Progress } from './progress.ts';
import { checkFlags, readArguments, UsageError } from './usage.ts';

export const copyUsage: string = `Usage: oncemq copy --from DIR|URL --to DIR|URL

Copies everything from one store to another: messages with their delivery state, deduplication windows, queues, topics,
subscriptions, archives, move tasks, and the secrets behind receipt handles. A store is the data directory of a stopped
server, or a PostgreSQL database that no server uses. The target must be empty. At the end the copy is read back and
compared; only then a server can start on it. The source stays as it is.

  --from DIR|URL   what to copy; a URL (postgres://...) may be repeated for the database's standbys
  --to DIR|URL     where to

If it is interrupted, the same command goes on where it was.
`;

export async function copyCommand(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, [], ['from', 'to']);
  checkFlags(flags, ['from', 'to'], copyUsage);
  const { from, to } = flags;
  if (from === undefined || to === undefined || words.length > 0) throw new UsageError(copyUsage);
  const directory = [from, to].find((location) => !isDatabase(location));
  // A damaged data directory can crash the process that reads it.
  if (directory !== undefined && !isChild) return runInChild(resolve(directory));
  const progress = new Progress(process.stderr);
  const source = await sourceIn(from);
  const target = await targetIn(to);
  try {
    const { changes, resumed } = await copy(source, target, (step) => progress.tell(step));
    progress.end();
    const before = resumed === 0 ? '' : `, ${resumed.toLocaleString('en-US')} of them before`;
    const count = changes.toLocaleString('en-US');
    process.stdout.write(
      `${count} records copied from ${shown(from)} to ${shown(to)}${before}, and verified\n`,
    );
  } finally {
    progress.end();
    await target.close();
    await source.close();
  }
}

function isDatabase(location: string): boolean {
  return location.split(',').every((each) => databaseUrl.test(each));
}

function shown(location: string): string {
  return isDatabase(location) ? databaseText(location.split(',')) : resolve(location);
}

/** Each kind of store is loaded only if it takes part. */
async function sourceIn(location: string): Promise<CopySource> {
  if (isDatabase(location)) {
    const { openDatabaseSource } = await import('../storage/postgres/tools.ts');
    return openDatabaseSource({ urls: location.split(','), name: shown(location) });
  }
  const { openDataSource } = await import('../storage/lmdb/tools.ts');
  return openDataSource(location);
}

async function targetIn(location: string): Promise<CopyTarget> {
  if (isDatabase(location)) {
    const { databaseTarget } = await import('../storage/postgres/tools.ts');
    return databaseTarget({ urls: location.split(','), name: shown(location) });
  }
  const { DataTarget } = await import('../storage/lmdb/tools.ts');
  return new DataTarget(location);
}
