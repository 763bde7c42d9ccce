/**
 * The whole path under everything at once: a producer with an outbox, a queue with a dead-letter queue, and a consumer that
 * is killed, paused beyond its visibility timeout while another one takes over, given everything again after the window,
 * and given messages that fail and messages that kill it. In the end nothing is lost, doubled or out of order, and the dead
 * letters are the poison alone.
 *
 * It runs in real processes and in real time, only the server's clock is moved. `npm run test:chaos -- --rounds N` runs N
 * rounds (a minute has about four); the seed of each is printed, and `--seed N` repeats the first one's decisions.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { postgresInbox } from '../../src/inbox/postgres-inbox.ts';
import { openFileOutbox } from '../../src/outbox/file-outbox.ts';
import { createRelay } from '../../src/outbox/relay.ts';
import { landsat, type Scene } from '../support/landsat.ts';
import { startPostgres } from '../support/postgres.ts';
import { createQueue, drain, openQueue } from '../support/server.ts';
import type { ChaosOrder } from './chaos-child.ts';

const child = fileURLToPath(new URL('chaos-child.js', import.meta.url));
const rounds = Number(process.env['CHAOS'] ?? 1);
const maxReceiveCount = 5;
const ticksMax = 1_500;
const tickMs = 40;
/** So many quiet ticks, and the clock moves on by a visibility timeout. */
const quietTicks = 5;

const producer = landsat({
  groupId: ({ tile }) => tile,
  eventTime: () => '2025-12-04T00:00:00Z',
});
const { pool, url, newTable } = await startPostgres();

const tiles = ['a', 'b', 'c', 'd'];
const scenes: Scene[] = Array.from({ length: 6 }, (_, index) =>
  tiles.map((tile) => ({ tile, day: String(index) })),
).flat();
const bad: Scene[] = [
  { tile: 'a', day: 'poison 1' },
  { tile: 'b', day: 'killer 1' },
];
// Each in the middle of its group.
const all: readonly Scene[] = [...scenes.slice(0, 10), ...bad, ...scenes.slice(10)];

for (let round = 0; round < rounds; round += 1) {
  test(`chaos, round ${round + 1}: nothing lost, doubled or out of order`, {
    timeout: 180_000,
  }, async (t) => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000) + round;
    console.log(`SEED=${seed}`);
    await chaos(t, seed);
  });
}

async function chaos(t: TestContext, seed: number): Promise<void> {
  const queue = await openQueue(t);
  const { server } = queue;
  const deadUrl = await createQueue(queue.client, 'dead.fifo');
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:dead.fifo';
  const queueUrl = await createQueue(queue.client, 'work.fifo', {
    VisibilityTimeout: '30',
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount }),
  });
  const order: ChaosOrder = {
    clientConfig: server.clientConfig,
    queueUrl,
    databaseUrl: url,
    inboxTable: newTable(),
    effectsTable: newTable(),
  };
  await postgresInbox({ pool, table: order.inboxTable }).migrate();
  await pool.query(
    `create table ${order.effectsTable} (id bigint generated always as identity, tile text, day text)`,
  );
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-chaos-'));
  t.after(() => rmSync(folder, { recursive: true }));
  await using outbox = await openFileOutbox(folder);
  for (const scene of all) await outbox.append(producer.message(scene));
  const relay = createRelay({ client: queue.client, queueUrl, outbox, onPastWindow: () => {} });
  await relay.flush();

  const random = randomOf(seed);
  /** Each with whether it has nothing to do, as it answered since it was asked; undefined if it has not answered. */
  const consumers = new Map<ChildProcess, boolean | undefined>();
  const start = (): void => {
    const consumer = spawn(process.execPath, [child, JSON.stringify(order)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    consumers.set(consumer, undefined);
    consumer.on('exit', () => consumers.delete(consumer));
    consumer.on('message', (isIdle) => {
      if (consumers.has(consumer)) consumers.set(consumer, isIdle as boolean);
    });
  };
  const ask = (): void => {
    for (const consumer of consumers.keys()) {
      consumers.set(consumer, undefined);
      // It may be killed meanwhile.
      if (consumer.connected) consumer.send('are you idle?', () => {});
    }
  };
  t.after(() => {
    for (const consumer of consumers.keys()) consumer.kill('SIGKILL');
  });
  const disruptions: (() => Promise<unknown>)[] = [
    // A kill at any moment.
    async () => [...consumers.keys()][0]?.kill('SIGKILL'),
    // A pause: another consumer starts, gets the same messages, and meets the first one again.
    async () => {
      const [paused] = consumers.keys();
      paused?.kill('SIGSTOP');
      start();
      await server.clock.advance(31);
      for (let tick = 0; tick < quietTicks; tick += 1) await pause();
      paused?.kill('SIGCONT');
    },
    // The queue has forgotten what it has seen, and everything is sent again.
    async () => {
      await server.clock.advance(300);
      await relay.replay({ from: 0, to: Number.POSITIVE_INFINITY });
    },
  ];

  let quiet = 0;
  let seen = 0;
  for (let tick = 0; ; ) {
    assert.ok(tick < ticksMax, 'it never came to its end');
    if (consumers.size === 0) start();
    ask();
    await pause();
    // On a busy machine a consumer may be slow. If the clock moved on while it holds messages, good ones would be received
    // again and again, and end up among the dead letters.
    const answers = [...consumers.values()];
    const haveAnswered = !answers.includes(undefined);
    if (haveAnswered) tick += 1;
    const isQuiet = haveAnswered && !answers.includes(false) && server.events.length === seen;
    quiet = isQuiet ? quiet + 1 : 0;
    seen = server.events.length;
    if (quiet >= quietTicks) {
      if (disruptions.length === 0 && (await isEmpty())) break;
      await server.clock.advance(31);
      quiet = 0;
    }
    if (disruptions.length > 0 && random() < 0.04) {
      const [disrupt] = disruptions.splice(Math.floor(random() * disruptions.length), 1);
      await disrupt?.();
    }
  }
  await Promise.all(
    [...consumers.keys()].map((consumer) => {
      consumer.kill('SIGTERM');
      return once(consumer, 'exit');
    }),
  );

  const { rows } = await pool.query(`select tile, day from ${order.effectsTable} order by id`);
  for (const tile of tiles) {
    assert.deepEqual(
      rows.filter((row) => row.tile === tile).map(({ day }) => day),
      scenes.filter((scene) => scene.tile === tile).map(({ day }) => day),
      `group ${tile}`,
    );
  }
  const dead = await drain({ ...queue, queueUrl: deadUrl });
  const deadDays = new Set(dead.map((body) => (JSON.parse(body).payload as Scene).day));
  // Replayed after the window, a poison is a new message, and is dead-lettered once more.
  assert.deepEqual([...deadDays].sort(), ['killer 1', 'poison 1']);

  async function isEmpty(): Promise<boolean> {
    const { Attributes = {} } = await queue.client.getQueueAttributes({
      QueueUrl: queueUrl,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    });
    return Object.values(Attributes).every((count) => count === '0');
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, tickMs));
}

/** Lehmer's generator: enough to decide what happens when. */
function randomOf(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
