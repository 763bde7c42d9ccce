/**
 * While a queue is loaded, however long that takes, a node answers for all others. And a node that is far behind loads a queue
 * again, instead of absorbing all that it has missed in one turn.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../../src/server/clock.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { startPostgres } from '../../support/postgres.ts';

async function create(backend: Backend, queue: string): Promise<void> {
  assert.ok((await backend.run({ type: 'create-queue', queue })).ok);
}

test('a request for another queue does not wait for one that is being loaded', async () => {
  const { url, newSchema } = await startPostgres();
  const schema = newSchema();
  const open = (): Promise<Backend> =>
    openPostgresBackend({ clock: manualClock(1_800_000_000_000) }, { urls: [url], schema });
  const [one, other] = [await open(), await open()];
  const holder = new Connection([url], 'holder');
  const looker = new Connection([url], 'looker');
  try {
    await create(one, 'large');
    await other.run({ type: 'list-queues' });
    await holder.run(
      { text: 'BEGIN' },
      { text: `LOCK TABLE ${schema}.record IN ACCESS EXCLUSIVE MODE` },
    );
    const described = other.run({ type: 'describe-queue', queue: 'large' });
    while (!(await isWaitedFor(looker, schema))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await create(other, 'new');
    await holder.run({ text: 'ROLLBACK' });
    assert.ok((await described).ok);
  } finally {
    await holder.close();
    await looker.close();
    await one.close();
    await other.close();
  }
});

async function isWaitedFor(looker: Connection, schema: string): Promise<boolean> {
  const [rows] = await looker.run({
    text: `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '${schema}.record'::regclass`,
  });
  return (rows?.rows.length ?? 0) > 0;
}

test('a node that is far behind loads the queue again', async () => {
  const { url, newSchema } = await startPostgres();
  const schema = newSchema();
  const open = (): Promise<Backend> =>
    openPostgresBackend({ clock: manualClock(1_800_000_000_000) }, { urls: [url], schema });
  const [one, other] = [await open(), await open()];
  try {
    await create(one, 'jobs');
    await other.run({ type: 'describe-queue', queue: 'jobs' });
    // One more than it absorbs of one queue in a batch.
    const sends = 2_001;
    for (let sent = 0; sent < sends; sent += 1) {
      const entries = [{ body: 'a message' }];
      await one.run({ type: 'send', queue: 'jobs', isBatch: false, entries });
    }
    const found = await other.run({ type: 'describe-queue', queue: 'jobs' });
    assert.ok(found.ok && found.visible === sends);
  } finally {
    await one.close();
    await other.close();
  }
});
