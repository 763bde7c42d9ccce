/**
 * A batch passes over what other nodes have locked. A queue that is locked whenever this node looks must have its turn all the
 * same, however much the node has to do for other queues meanwhile: after a few batches the node waits for it.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../../src/server/clock.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { startPostgres } from '../../support/postgres.ts';

const busyMax = 20;

async function send(backend: Backend, queue: string): Promise<void> {
  const entries = [{ body: 'a message' }];
  assert.ok((await backend.run({ type: 'send', queue, isBatch: false, entries })).ok);
}

test('a queue that others have locked each time is waited for, though other queues have work', async () => {
  const { url, newSchema } = await startPostgres();
  const schema = newSchema();
  const clock = manualClock(1_800_000_000_000);
  const backend = await openPostgresBackend({ clock }, { urls: [url], schema });
  const holder = new Connection([url], 'holder');
  const looker = new Connection([url], 'looker');
  let isOver = false;
  let others: Promise<void> = Promise.resolve();
  try {
    for (const queue of ['jobs', 'mails']) {
      await backend.run({ type: 'create-queue', queue });
      await send(backend, queue);
    }
    others = keepBusy(backend, () => isOver);
    await holder.run(
      { text: 'BEGIN' },
      { text: `SELECT 1 FROM ${schema}.owner WHERE name = 'jobs' FOR UPDATE` },
    );
    let isSent = false;
    const sent = send(backend, 'jobs').finally(() => {
      isSent = true;
    });
    // It is let go only when somebody waits for it. A send that nobody waits for is refused after ten seconds.
    while (!isSent && !(await isWaitedFor(looker))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await holder.run({ text: 'ROLLBACK' });
    await sent;
  } finally {
    isOver = true;
    await others;
    await holder.close();
    await looker.close();
    await backend.close();
  }
});

/** Every batch has something for the other queue. */
async function keepBusy(backend: Backend, isOver: () => boolean): Promise<void> {
  const sends = new Set<Promise<void>>();
  while (!isOver()) {
    if (sends.size < busyMax) {
      const sending = send(backend, 'mails').finally(() => sends.delete(sending));
      sends.add(sending);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(sends);
}

async function isWaitedFor(looker: Connection): Promise<boolean> {
  const [found] = await looker.run({
    text: `SELECT 1 FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND application_name = 'oncemq writer' AND datname = current_database()`,
  });
  return (found?.rows.length ?? 0) > 0;
}
