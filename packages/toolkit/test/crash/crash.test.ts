/**
 * SIGKILL between every two steps: a producer or a consumer is started repeatedly, dies one step later each time, and
 * this process then finishes its work. However it died, each event has exactly one effect. Processes, files,
 * PostgreSQL, client and server are real; only the server's clock is moved by the test.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { postgresInbox } from '../../src/inbox/postgres-inbox.ts';
import { postgresOutbox } from '../../src/outbox/postgres-outbox.ts';
import { landsat, scenes } from '../support/landsat.ts';
import { type Database, startPostgres } from '../support/postgres.ts';
import { createQueue, drain, type OpenQueue, openQueue } from '../support/server.ts';
import type { MortalOrder } from './child.ts';
import { type CrashOrder, carryOut } from './crash-roles.ts';

const child = fileURLToPath(new URL('child.js', import.meta.url));
const database: Database = await startPostgres();
const { pool } = database;
const events = scenes(2);
const keys = events.map((event) => landsat().envelope(event).dedupe_key).sort();
/** More steps than any role has, so that the last run of each test survives. */
const stepsMax = 40;
/** They take seconds, and longer on a machine that does something else as well. */
const timeout = 600_000;

/** Finishes what a killed process has left. */
const finish = (order: CrashOrder): Promise<void> => carryOut(order, () => {});

/** Whether the process survived to its end. */
async function run(order: MortalOrder): Promise<boolean> {
  const running = spawn(process.execPath, [child, JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = (await once(running, 'exit')) as [number | null, string | null];
  assert.ok(code === 0 || signal === 'SIGKILL', `ended with ${code ?? signal}`);
  return code === 0;
}

async function orderFor(
  t: TestContext,
  queue: OpenQueue,
  parts: Pick<CrashOrder, 'role' | 'store'>,
): Promise<CrashOrder & { folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-crash-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return {
    ...parts,
    folder,
    databaseUrl: database.url,
    table: database.newTable(),
    effects: parts.store === 'folder' ? join(folder, 'effects.txt') : database.newTable(),
    clientConfig: queue.server.clientConfig,
    queueUrl: await createQueue(queue.client, `q${queue.server.events.length}.fifo`, {
      VisibilityTimeout: '30',
    }),
    events,
  };
}

describe('a producer that is killed between any two steps', { concurrency: true }, () => {
  for (const store of ['folder', 'postgres'] as const) {
    test(`sends each event once, with an outbox in ${store}`, { timeout }, async (t) => {
      const queue = await openQueue(t);
      let deaths = 0;
      for (let killAt = 1; killAt <= stepsMax; killAt += 1) {
        const order = await orderFor(t, queue, { role: 'producer', store });
        if (store === 'postgres') await postgresOutbox({ pool, table: order.table }).migrate();
        const hasLived = await run({ ...order, killAt });
        if (!hasLived) await finish(order);
        deaths += Number(!hasLived);
        const received = await drain({ ...queue, queueUrl: order.queueUrl });
        assert.deepEqual(
          received,
          events.map((event) => landsat().message(event).body),
          `step ${killAt}`,
        );
        if (hasLived) break;
      }
      // Two around each append; three around each send, and one at the end that finds nothing.
      assert.equal(deaths, 1 + 2 * events.length + 3 * events.length + 1);
    });
  }
});

describe('a consumer that is killed between any two steps', { concurrency: true }, () => {
  test('lets each event take effect once, with an inbox in postgres', { timeout }, async (t) => {
    const effects = await killedConsumers(t, 'postgres');
    for (const [killAt, found] of effects.entries())
      assert.deepEqual(found, keys, `step ${killAt + 1}`);
    assert.equal(effects.length, 4 * events.length + 1);
  });

  test('repeats at most the effect it was in when killed, with an inbox in folder', {
    timeout,
  }, async (t) => {
    const effects = await killedConsumers(t, 'folder');
    for (const [index, found] of effects.entries()) {
      // The second of a message's four steps is between its effect and its mark.
      const isInBetween = index % 4 === 1 && index < 4 * events.length;
      assert.deepEqual([...new Set(found)], keys);
      assert.equal(found.length, keys.length + Number(isInBetween), `step ${index + 1}`);
    }
  });
});

/** For each step at which a consumer died, the keys that have taken effect in the end. */
async function killedConsumers(t: TestContext, store: CrashOrder['store']): Promise<string[][]> {
  const queue = await openQueue(t);
  const all: string[][] = [];
  for (let killAt = 1; killAt <= stepsMax; killAt += 1) {
    const order = await orderFor(t, queue, { role: 'consumer', store });
    if (store === 'postgres') {
      await pool.query(`create table ${order.effects} (key text)`);
      await postgresInbox({ pool, table: order.table }).migrate();
    }
    await landsat().sendBatch(events, { ...queue, queueUrl: order.queueUrl });
    const hasLived = await run({ ...order, killAt });
    // What the dead consumer had received becomes visible again, and a producer replays everything after the window.
    await queue.server.clock.advance(300);
    await landsat().sendBatch(events, { ...queue, queueUrl: order.queueUrl });
    await finish(order);
    assert.deepEqual(await drain({ ...queue, queueUrl: order.queueUrl }), []);
    all.push(await effectsOf(order));
    if (hasLived) return all;
  }
  assert.fail('it was killed at every step');
}

async function effectsOf({ store, effects }: CrashOrder): Promise<string[]> {
  if (store === 'postgres') {
    const { rows } = await pool.query(`select key from ${effects} order by key collate "C"`);
    return rows.map(({ key }) => String(key));
  }
  return existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n').sort() : [];
}
