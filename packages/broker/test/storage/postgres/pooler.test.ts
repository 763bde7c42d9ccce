/**
 * Nodes behind PgBouncer in transaction mode, where each transaction may have another connection and no notification arrives:
 * everything that a server does works, receivers are woken within about a second, and nothing is sent twice.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../src/server/clock.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { Checkpoints } from '../../../src/storage/postgres/checkpoints.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { startPostgres } from '../../support/postgres.ts';
import { startPooler } from '../../support/stores.ts';

const queue = 'jobs.fifo';
const client = new AbortController();

async function send(backend: Backend, body: string): Promise<string> {
  const entries = [{ body, groupId: 'g', deduplicationId: body }];
  const sent = await backend.run({ type: 'send', queue, isBatch: false, entries });
  const result = sent.ok ? sent.results[0] : undefined;
  assert.ok(result?.ok, JSON.stringify(sent));
  return result.messageId;
}

async function received(backend: Backend, waitSeconds: number): Promise<string[]> {
  const command = { type: 'receive', queue, count: 10, waitSeconds } as const;
  const found = await backend.receive(command, client);
  assert.ok(found.ok);
  return found.messages.map(({ content }) => content.body);
}

for (const isListening of [true, false]) {
  test(`two nodes behind a pooler serve one queue, ${isListening ? 'listening in vain' : 'polling'}`, async (t) => {
    const { url, newSchema } = await startPostgres();
    const pooler = await startPooler(url);
    if (pooler === undefined) return t.skip('pgbouncer is missing');
    const schema = newSchema();
    const connection = new Connection([pooler.url], 'test');
    const nodes: Backend[] = [];
    try {
      for (const _ of ['one', 'other']) {
        const place = { urls: [pooler.url], schema, isListening };
        nodes.push(await openPostgresBackend({ clock: realClock() }, place));
      }
      const [one, other] = nodes as [Backend, Backend];
      const attributes = { FifoQueue: 'true' };
      assert.ok((await one.run({ type: 'create-queue', queue, attributes })).ok);
      const waiting = received(other, 20);
      const began = performance.now();
      const first = await send(one, 'first');
      assert.deepEqual(await waiting, ['first']);
      assert.ok(performance.now() - began < 10_000, 'woken long before the wait was over');
      // Many transactions at once share a few connections.
      const bodies = Array.from({ length: 40 }, (_, at) => `body-${at}`);
      const ids = await Promise.all(bodies.map((body, at) => send(at % 2 ? one : other, body)));
      assert.equal(new Set(ids).size, bodies.length);
      assert.equal(await send(other, 'first'), first, 'a duplicate');
      const checkpoints = new Checkpoints({ schema, connection });
      await checkpoints.round(() => false);
      const third = await openPostgresBackend(
        { clock: realClock() },
        { urls: [pooler.url], schema, isListening },
      );
      nodes.push(third);
      const peeked = await third.peek({ type: 'peek-messages', queue, limit: 100 });
      assert.equal(peeked.ok && peeked.messages.length, bodies.length + 1);
      await third.reset();
      const listed = await one.run({ type: 'list-queues' });
      assert.deepEqual(listed.ok && listed.queues, []);
    } finally {
      for (const node of nodes) await node.close();
      await connection.close();
      await pooler.close();
    }
  });
}
