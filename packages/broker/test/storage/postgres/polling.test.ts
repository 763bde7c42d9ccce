/**
 * Without LISTEN a receiver that waits at one node is woken within about a second by what another node writes; with it, at
 * once.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../src/server/clock.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';

let database: Promise<TestDatabase> | undefined;
const queue = 'jobs';
const client = new AbortController();

for (const isListening of [true, false]) {
  const how = isListening ? 'a notification' : 'a look';
  test(`a receiver is woken by ${how} when another node has sent something`, async () => {
    database ??= startPostgres();
    const { url, newSchema } = await database;
    const schema = newSchema();
    const connection = new Connection([url], 'test');
    const nodes: Backend[] = [];
    try {
      for (const _ of ['receiver', 'sender']) {
        // So seldom that only a notification can be first.
        const pollMs = isListening ? 60_000 : 900;
        const place = { urls: [url], schema, isListening, pollMs };
        nodes.push(await openPostgresBackend({ clock: realClock() }, place));
      }
      const [receiver, sender] = nodes as [Backend, Backend];
      await receiver.run({ type: 'create-queue', queue });
      const waiting = receiver.receive({ type: 'receive', queue, waitSeconds: 20 }, client);
      // The database knows that somebody waits.
      const text = `SELECT 1 FROM ${schema}.owner WHERE name = '${queue}' AND waiting_until > 0`;
      while ((await connection.run({ text }))[0]?.rows.length === 0);
      const sentAt = performance.now();
      const entries = [{ body: 'hello' }];
      await sender.run({ type: 'send', queue, isBatch: false, entries });
      const received = await waiting;
      assert.deepEqual(received.ok && received.messages.map(({ content }) => content.body), [
        'hello',
      ]);
      assert.ok(performance.now() - sentAt < 10_000, 'long before the wait was over');
      const listeners = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'oncemq listener'`;
      const [found] = await connection.run({ text: listeners });
      assert.equal(found?.rows.length, isListening ? 2 : 0);
    } finally {
      for (const node of nodes) await node.close();
      await connection.close();
    }
  });
}
