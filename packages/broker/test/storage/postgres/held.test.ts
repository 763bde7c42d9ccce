/**
 * Who looks at all queues, as metrics and the console do, is told what they hold without loading any of them. What is told is
 * what the queue itself would say.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describing } from '../../../src/api/inspect/describing.ts';
import { manualClock, virtualClock } from '../../../src/server/clock.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import type { Clock } from '../../../src/storage/clock.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { startPostgres } from '../../support/postgres.ts';

const start = 1_800_000_000_000;
const patient = new AbortController();
const queues = ['empty', 'plain', 'ordered.fifo'];

interface Nodes {
  readonly busy: Backend;
  readonly looking: Backend;
  readonly query: (text: string) => Promise<readonly object[]>;
}

async function withNodes(
  run: (nodes: Nodes) => Promise<void>,
  newClock: () => Clock = () => manualClock(start),
): Promise<void> {
  const { url, newSchema } = await startPostgres();
  const schema = newSchema();
  const open = (): Promise<Backend> =>
    openPostgresBackend({ clock: newClock() }, { urls: [url], schema });
  const [busy, looking] = [await open(), await open()];
  const connection = new Connection([url], 'test');
  const query = async (text: string): Promise<readonly object[]> => {
    const [rows] = await connection.run({ text: text.replace('{schema}', schema) });
    return rows?.rows ?? [];
  };
  try {
    await fill(busy);
    // Whoever asks about queues has been told their names.
    assert.ok((await looking.run({ type: 'list-queues' })).ok);
    await run({ busy, looking, query });
  } finally {
    await connection.close();
    await busy.close();
    await looking.close();
  }
}

/** Messages that are visible, in flight and delayed; groups of which one is blocked; a window. */
async function fill(backend: Backend): Promise<void> {
  for (const queue of queues) {
    const attributes: Record<string, string> = queue.endsWith('.fifo') ? { FifoQueue: 'true' } : {};
    assert.ok((await backend.run({ type: 'create-queue', queue, attributes })).ok);
  }
  const plain = [{ body: 'one' }, { body: 'two' }, { body: 'later', delaySeconds: 60 }];
  for (const entry of plain) {
    const send = { type: 'send', queue: 'plain', isBatch: false, entries: [entry] } as const;
    assert.ok((await backend.run(send)).ok);
  }
  for (const id of ['a', 'b', 'c']) {
    const entries = [{ body: id, groupId: id, deduplicationId: id }];
    const send = { type: 'send', queue: 'ordered.fifo', isBatch: false, entries } as const;
    assert.ok((await backend.run(send)).ok);
  }
  for (const queue of ['plain', 'ordered.fifo']) {
    const receive = { type: 'receive', queue, count: 1, visibilitySeconds: 30 } as const;
    assert.ok((await backend.receive(receive, patient)).ok);
  }
}

const described = async (backend: Backend): Promise<unknown> =>
  Promise.all(queues.map((queue) => backend.run({ type: 'describe-queue', queue })));

test('what queues hold is known at a node that has loaded none of them, and loads none', () =>
  withNodes(async ({ busy, looking }) => {
    const held = await looking.held(queues);
    assert.equal(looking.cluster()?.loadedOwners, 0);
    assert.deepEqual(
      queues.map((queue) => held.get(queue)),
      await described(busy),
    );
  }));

test('once something has fallen due, or where a row says nothing of its version, the queue itself is asked', () =>
  withNodes(async ({ busy, looking, query }) => {
    await busy.advance(30_000);
    assert.deepEqual([...(await looking.held(queues)).keys()], ['empty']);
    await query(
      `UPDATE {schema}.owner SET held = replace(held, '[1,', '[0,') WHERE name = 'empty'`,
    );
    assert.equal((await looking.held(queues)).size, 0);
    const describe = await describing(looking, queues);
    assert.deepEqual(await Promise.all(queues.map(describe)), await described(busy));
    assert.equal((await describe('none')).ok, false);
  }));

/** In rounds of its own, every two seconds. */
const roundsMsMax = 15_000;

test('what falls due without a change is told to the database, so that no node loads the queue for it again', () =>
  withNodes(async ({ busy, looking, query }) => {
    await busy.advance(61_000);
    const isDue = `SELECT 1 FROM {schema}.owner WHERE due_at <= ${busy.now()}`;
    const until = performance.now() + roundsMsMax;
    while ((await query(isDue)).length > 0) assert.ok(performance.now() < until, 'still due');
    const held = await looking.held(queues);
    assert.equal(looking.cluster()?.loadedOwners, 0);
    assert.equal(held.get('plain')?.visible, 3);
    assert.equal(held.get('ordered.fifo')?.blockedGroups, 0);
  }, virtualClock));
