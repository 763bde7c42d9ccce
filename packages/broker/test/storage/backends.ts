/**
 * Every backend, for tests that hold for all of them: memory, memory that answers later, LMDB with either durability in a directory of
 * its own that is removed with the test, and PostgreSQL in a schema of its own.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Backend } from '../../src/storage/backend.ts';
import { openDataBackend } from '../../src/storage/lmdb/open.ts';
import { openMemoryBackend } from '../../src/storage/memory/open.ts';
import { openPostgresBackend } from '../../src/storage/postgres/open.ts';
import type { EngineBackendOptions } from '../../src/storage/running/wiring.ts';
import { startPostgres, type TestDatabase } from '../support/postgres.ts';
import { openLateBackend } from './late-backend.ts';

/** Started for the first test that asks; in each file, since files run in processes of their own. */
let database: Promise<TestDatabase> | undefined;

export type OpenBackend = (options: EngineBackendOptions) => Promise<Backend>;

export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'oncemq-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Runs the test once on each backend; whatever it opens is closed after it. */
export function testEveryBackend(
  title: string,
  run: (open: OpenBackend) => Promise<void>,
  /** Why it cannot hold for PostgreSQL. */
  notForPostgres: string | false = false,
): void {
  test(`${title} (memory)`, () => run(async (options) => openMemoryBackend(options)));
  test(`${title} (memory, answering later)`, () =>
    run(async (options) => openLateBackend(options)));
  for (const durability of ['fsync', 'os'] as const) {
    test(`${title} (lmdb, ${durability})`, async () => {
      const directory = temporaryDirectory();
      const opened: Backend[] = [];
      try {
        await run(async (options) => {
          const data = { directory: join(directory.path, String(opened.length)), durability };
          const backend = await openDataBackend(options, data);
          opened.push(backend);
          return backend;
        });
      } finally {
        for (const backend of opened) await backend.close();
        directory.remove();
      }
    });
  }
  test(`${title} (postgres)`, { skip: notForPostgres }, async () => {
    database ??= startPostgres();
    const { url, newSchema } = await database;
    const opened: Backend[] = [];
    try {
      await run(async (options) => {
        const backend = await openPostgresBackend(options, { urls: [url], schema: newSchema() });
        opened.push(backend);
        return backend;
      });
    } finally {
      for (const backend of opened) await backend.close();
    }
  });
}
