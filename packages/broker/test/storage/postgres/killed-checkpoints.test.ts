/**
 * A checkpoint that is killed after any of its statements changes nothing that a node can see: records and the rows after
 * them are the state of the node that made the changes, before, between and after. And a batch's time is from after its locks.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock, realClock } from '../../../src/server/clock.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { Checkpoints } from '../../../src/storage/postgres/checkpoints.ts';
import { Connection, type Rows, type Statement } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';

let database: Promise<TestDatabase> | undefined;
const queue = 'jobs.fifo';
const patient = new AbortController();

/** Breaks after so many statements. */
class BreakingConnection extends Connection {
  left = Number.POSITIVE_INFINITY;

  override run(...statements: readonly Statement[]): Promise<readonly Rows[]> {
    return this.#upTo(statements, (some) => super.run(...some));
  }

  override goOn(...statements: readonly Statement[]): Promise<readonly Rows[]> {
    return this.#upTo(statements, (some) => super.goOn(...some));
  }

  async #upTo(
    statements: readonly Statement[],
    run: (some: readonly Statement[]) => Promise<readonly Rows[]>,
  ): Promise<readonly Rows[]> {
    const some = statements.slice(0, this.left);
    this.left -= some.length;
    const results = some.length > 0 ? await run(some) : [];
    if (some.length === statements.length) return results;
    await this.discard();
    throw new Error('killed');
  }
}

/** Everything that can be seen of the queue. */
async function seenAt(backend: Backend): Promise<string> {
  const described = await backend.run({ type: 'describe-queue', queue });
  const peeked = await backend.peek({ type: 'peek-messages', queue, limit: 1_000 });
  const explained = await backend.explain({ type: 'explain', queue, limit: 1_000 });
  return JSON.stringify({ described, peeked, explained });
}

test('a checkpoint that is killed after any of its statements loses nothing', async () => {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const schema = newSchema();
  const clock = manualClock(1_800_000_000_000);
  const open = (): Promise<Backend> => openPostgresBackend({ clock }, { urls: [url], schema });
  const backend = await open();
  const connection = new BreakingConnection([url], 'test');
  const checkpoints = new Checkpoints({ schema, connection });
  let sent = 0;
  /** Messages that come, are received, move on and go; a purge, which clears records at once. */
  const change = async (round: number): Promise<void> => {
    for (let count = 0; count < 4; count += 1) {
      sent += 1;
      const entries = [
        { body: `body ${sent}`, groupId: `g${sent % 3}`, deduplicationId: `${sent}` },
      ];
      await backend.run({ type: 'send', queue, isBatch: false, entries });
    }
    const received = await backend.receive({ type: 'receive', queue, count: 2 }, patient);
    const [first] = received.ok ? received.messages : [];
    const entries = [{ receiptHandle: first?.receiptHandle }];
    await backend.run({ type: 'delete-messages', queue, isBatch: false, entries });
    if (round % 5 === 4) await backend.run({ type: 'purge-queue', queue });
    await backend.advance(61_000);
  };
  try {
    await backend.run({ type: 'create-queue', queue, attributes: { FifoQueue: 'true' } });
    let isKilled = true;
    for (let statements = 1; isKilled; statements += 1) {
      await change(statements);
      connection.left = Number.POSITIVE_INFINITY;
      await connection.run({ text: `UPDATE ${schema}.checkpoint SET trim_at = 0` });
      connection.left = statements;
      isKilled = await checkpoints
        .round(() => false)
        .then(
          () => false,
          () => true,
        );
      const another = await open();
      assert.equal(await seenAt(another), await seenAt(backend), `after ${statements} statements`);
      await another.close();
      assert.ok(statements < 100, 'it never ends');
    }
  } finally {
    await connection.close();
    await backend.close();
  }
});

test("a batch's time is from after its locks, however long it waited for them", async () => {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const schema = newSchema();
  const backend = await openPostgresBackend({ clock: realClock() }, { urls: [url], schema });
  const [holder, looker] = [new Connection([url], 'holder'), new Connection([url], 'looker')];
  try {
    await backend.run({ type: 'create-queue', queue: 'jobs' });
    const [, , held] = await holder.run(
      { text: 'BEGIN' },
      { text: `SELECT 1 FROM ${schema}.owner WHERE name = 'jobs' FOR UPDATE` },
      { text: 'SELECT pg_backend_pid() AS pid' },
    );
    const entries = [{ body: 'late' }];
    const sent = backend.run({ type: 'send', queue: 'jobs', isBatch: false, entries });
    const blocked = {
      text: 'SELECT 1 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))',
      values: [held?.rows[0]?.['pid']],
    };
    while ((await looker.run(blocked))[0]?.rows.length === 0);
    // The clock goes on for a few milliseconds at least.
    const [later] = await looker.run({
      text: 'SELECT extract(epoch from clock_timestamp()) * 1000 AS now, pg_sleep(0.02)',
    });
    await holder.goOn({ text: 'ROLLBACK' });
    assert.ok((await sent).ok);
    const peeked = await backend.peek({ type: 'peek-messages', queue: 'jobs', limit: 1 });
    const sentAt = peeked.ok ? (peeked.messages[0]?.sentAt as number) : 0;
    assert.ok(sentAt > Number(later?.rows[0]?.['now']) + 10, 'it was sent when the lock was free');
  } finally {
    await Promise.all([holder.close(), looker.close(), backend.close()]);
  }
});
