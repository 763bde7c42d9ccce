/**
 * Pipelines, producer to consumer, with hundreds of crashes at random steps and random jumps of the clock: append, send,
 * mark, effect, mark, delete, in any order of deaths. Each event has exactly one effect in the end.
 *
 * A crash is an error that only the test catches: memory is dropped, and the next attempt has only what is on disk, in
 * the queue and in PostgreSQL. The pipelines run concurrently on one server, so each one moves the clock for all others.
 * The seed is printed; SEED=n repeats a run. `npm run test:chaos` runs more of them.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { idempotent } from '../../src/consumer/idempotent.ts';
import type { Queryable } from '../../src/database.ts';
import { postgresInbox } from '../../src/inbox/postgres-inbox.ts';
import { openFileOutbox } from '../../src/outbox/file-outbox.ts';
import { createRelay } from '../../src/outbox/relay.ts';
import { landsat, type Scene } from '../support/landsat.ts';
import { startPostgres } from '../support/postgres.ts';
import { createQueue, type OpenQueue, openQueue } from '../support/server.ts';

const pipelines = Number(process.env['PIPELINES'] ?? 100);
const atOnce = 8;
const attemptsMax = 30;

interface Fate {
  /** The steps at which the process dies, counted over all its lives. */
  readonly deaths: readonly number[];
  /** Seconds that the clock moves after each death; summed over concurrent pipelines, less than the retention period. */
  readonly jumps: readonly number[];
  readonly events: number;
}

const fate: fc.Arbitrary<Fate> = fc.record({
  deaths: fc.uniqueArray(fc.integer({ min: 1, max: 14 }), { minLength: 2, maxLength: 7 }),
  jumps: fc.array(fc.constantFrom(0, 29, 30, 299, 300, 10_000), { minLength: 8, maxLength: 8 }),
  events: fc.integer({ min: 1, max: 2 }),
});

class Crash extends Error {}

const producer = landsat({ groupId: ({ tile }) => tile });
const { pool, newTable } = await startPostgres();

test(`of ${pipelines} pipelines with crashes each has exactly one effect per event`, {
  timeout: Math.max(300_000, pipelines * 1_000),
}, async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 0x7fff_ffff);
  console.log(`SEED=${seed}`);
  const fates = fc.sample(fate, { seed, numRuns: pipelines });
  const queue = await openQueue(t);
  const effects = newTable();
  await pool.query(`create table ${effects} (key text)`);
  const inbox = postgresInbox({ pool, table: newTable() });
  await inbox.migrate();

  const record: Effect = async ({ dedupe_key }, transaction) => {
    await transaction.query(`insert into ${effects} values ($1)`, [dedupe_key]);
  };
  let deaths = 0;
  const next = fates.entries();
  const lane = async (): Promise<void> => {
    for (const [index, each] of next) {
      const events = Array.from({ length: each.events }, (_, day) => ({
        tile: `run${index}`,
        day: `2025-12-0${day + 1}`,
      }));
      const retention = { MessageRetentionPeriod: '1209600' };
      const queueUrl = await createQueue(queue.client, `run${index}.fifo`, retention);
      const died = await live(each, { ...queue, queueUrl }, events, record, inbox);
      deaths += died;
      await queue.client.deleteQueue({ QueueUrl: queueUrl });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));

  const { rows } = await pool.query(`select key, count(*)::int from ${effects} group by key`);
  assert.deepEqual(
    rows.filter(({ count }) => count !== 1),
    [],
  );
  assert.equal(
    rows.length,
    fates.reduce((sum, { events }) => sum + events, 0),
  );
  t.diagnostic(`${rows.length} events, ${deaths} deaths`);
  assert.ok(deaths > 2 * pipelines);
});

type Effect = (envelope: { dedupe_key: string }, transaction: Queryable) => Promise<void>;

/** Retries after each death; returns how many attempts came before the last one. */
async function live(
  { deaths, jumps }: Fate,
  queue: OpenQueue,
  events: readonly Scene[],
  effect: Effect,
  inbox: ReturnType<typeof postgresInbox>,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-crashes-'));
  let steps = 0;
  const step = (): void => {
    steps += 1;
    if (deaths.includes(steps)) throw new Crash();
  };
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      try {
        await produce(folder, queue, events, step);
        if (await consume(queue, effect, inbox, step)) return attempt;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
      }
      // Also after an attempt without a crash, if messages are still hidden.
      await queue.server.clock.advance(jumps[attempt] ?? 30);
    }
    throw new Error('it never came to its end');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function produce(
  folder: string,
  queue: OpenQueue,
  events: readonly Scene[],
  step: () => void,
): Promise<void> {
  await using outbox = await openFileOutbox(folder);
  const take = outbox.take.bind(outbox);
  outbox.take = (limit, leaveOut, work) =>
    take(limit, leaveOut, async (kept) => {
      step();
      const verdict = await work(kept);
      step();
      return verdict;
    });
  for (const event of events) {
    step();
    await outbox.append(producer.message(event));
  }
  step();
  await createRelay({ ...queue, outbox }).flush();
}

/** Whether the queue is empty, with nothing in flight. */
async function consume(
  { client, queueUrl: QueueUrl }: OpenQueue,
  effect: Effect,
  inbox: ReturnType<typeof postgresInbox>,
  step: () => void,
): Promise<boolean> {
  const handle = idempotent<Scene, Queryable>(async (envelope, { transaction }) => {
    step();
    await effect(envelope, transaction);
    step();
  }, inbox);
  for (;;) {
    const { Messages = [] } = await client.receiveMessage({ QueueUrl, MaxNumberOfMessages: 10 });
    if (Messages.length === 0) break;
    for (const message of Messages) {
      await handle(message);
      step();
      await client
        .deleteMessage({ QueueUrl, ReceiptHandle: message.ReceiptHandle })
        .catch(ignoreExpired);
    }
  }
  const { Attributes } = await client.getQueueAttributes({
    QueueUrl,
    AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
  });
  // Hidden messages are visible again if another pipeline has just moved the clock, so both counts matter.
  return Object.values(Attributes ?? {}).every((count) => count === '0');
}

/** Another pipeline has moved the clock, and the visibility timeout is over. */
function ignoreExpired(error: unknown): void {
  if (!/receipt handle has expired/.test(String(error))) throw error;
}
