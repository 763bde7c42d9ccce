/**
 * Where a copy may come from and go to, for tests: a directory, or a schema of a database. And what is run in a process of
 * its own: a copy that is killed on the way.
 *
 *   node packages/broker/dist/test/storage/copying/store-locations.js FROM TO CHANGES
 *
 * copies until so many changes have been copied, and then kills itself. A location is a directory, or URL#SCHEMA.
 */

import { fileURLToPath } from 'node:url';
import { manualClock } from '../../../src/server/clock.ts';
import type { Backend, Poster } from '../../../src/storage/backend.ts';
import { type CopySource, type CopyTarget, copy } from '../../../src/storage/copying/copy.ts';
import { openDataBackend } from '../../../src/storage/lmdb/open.ts';
import { DataTarget, openDataSource } from '../../../src/storage/lmdb/tools.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { databaseTarget, openDatabaseSource } from '../../../src/storage/postgres/tools.ts';
import { CountedIds } from '../../support/counted-ids.ts';
import { startedAt } from '../lmdb/format-fixture.ts';

export class StoreLocation {
  readonly text: string;
  readonly #database:
    | { readonly urls: string[]; readonly name: string; schema: string }
    | undefined;

  constructor(text: string) {
    const [url = '', schema] = text.split('#');
    this.text = text;
    this.#database = schema === undefined ? undefined : { urls: [url], name: text, schema };
  }

  source(): Promise<CopySource> {
    return this.#database === undefined
      ? openDataSource(this.text)
      : openDatabaseSource(this.#database);
  }

  target(): CopyTarget {
    return this.#database === undefined
      ? new DataTarget(this.text)
      : databaseTarget(this.#database);
  }

  /** A server on it. */
  open(poster?: Poster): Promise<Backend> {
    const options = {
      clock: manualClock(startedAt),
      ids: new CountedIds(),
      ...(poster && { poster }),
    };
    return this.#database === undefined
      ? openDataBackend(options, { directory: this.text, durability: 'os' })
      : openPostgresBackend(options, this.#database);
  }
}

/** Returns how many changes were copied, and how many an earlier run had copied. */
export async function copied(
  from: StoreLocation,
  to: StoreLocation,
  onProgress: Parameters<typeof copy>[2] = () => {},
): ReturnType<typeof copy> {
  const source = await from.source();
  const target = to.target();
  try {
    return await copy(source, target, onProgress);
  } finally {
    await target.close();
    await source.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [from = '', to = '', changes] = process.argv.slice(2);
  await copied(new StoreLocation(from), new StoreLocation(to), ({ done }) => {
    if (done >= Number(changes)) process.kill(process.pid, 'SIGKILL');
  });
}
