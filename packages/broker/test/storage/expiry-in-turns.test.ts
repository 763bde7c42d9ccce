/**
 * When more has expired than one tick removes, ticks and requests take turns: requests to other queues go on, and those to
 * the queue itself wait and find nothing that has expired. Each tick removes ten entries here.
 */

import assert from 'node:assert/strict';
import type { CommandOf } from '../../src/core/commands.ts';
import { strictLimits } from '../../src/core/limits.ts';
import { manualClock } from '../../src/server/clock.ts';
import { type Backend, Unavailable } from '../../src/storage/backend.ts';
import type { Clock } from '../../src/storage/clock.ts';
import { type OpenBackend, testEveryBackend } from './backends.ts';

const expiredPerTickMax = 10;
const messages = 20 * expiredPerTickMax;
const patient = new AbortController();

/** If it is restless, it moves by a millisecond whenever it is read. */
interface TestClock extends Clock {
  isRestless: boolean;
}

function testClock(): TestClock {
  const clock = manualClock(1_800_000_000_000);
  const now = () => {
    if (restless.isRestless) clock.moveTo(clock.now() + 1);
    return clock.now();
  };
  const restless = { ...clock, now, isRestless: false };
  return restless;
}

interface Home {
  readonly backend: Backend;
  readonly clock: TestClock;
  /** How many messages of `jobs` have expired so far. */
  readonly expired: () => number;
  /** The most that expired in one turn of the event loop. */
  readonly expiredAtOnce: () => number;
}

/** The queues `jobs`, full of messages that expire after a minute, and `others`, with none. */
async function openFull(open: OpenBackend): Promise<Home> {
  const clock = testClock();
  const backend = await open({ clock, limits: { ...strictLimits, expiredPerTickMax } });
  for (const queue of ['jobs', 'others']) {
    const attributes = { MessageRetentionPeriod: '60' };
    await backend.run({ type: 'create-queue', queue, attributes });
  }
  await Promise.all(Array.from({ length: messages }, () => send(backend, 'jobs', 'old')));
  let [expired, inThisTurn, atOnce] = [0, 0, 0];
  backend.listen((event) => {
    if (event.type !== 'expired' || event.queue !== 'jobs') return;
    expired += 1;
    inThisTurn += 1;
    atOnce = Math.max(atOnce, inThisTurn);
    setImmediate(() => {
      inThisTurn = 0;
    });
  });
  return { backend, clock, expired: () => expired, expiredAtOnce: () => atOnce };
}

async function send(backend: Backend, queue: string, body: string): Promise<void> {
  const entries = [{ body }];
  assert.ok((await backend.run({ type: 'send', queue, isBatch: false, entries })).ok);
}

async function receive(
  backend: Backend,
  options: Partial<CommandOf<'receive'>> = {},
  client: { readonly signal: AbortSignal } = patient,
): Promise<string[]> {
  const command = { type: 'receive', queue: 'jobs', count: 10, ...options } as const;
  const received = await backend.receive(command, client);
  assert.ok(received.ok);
  return received.messages.map(({ content }) => content.body);
}

/** The backend's own timer does not keep the process alive. */
async function stayAliveFor<T>(promise: Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, 60_000);
  return promise.finally(() => clearInterval(alive));
}

testEveryBackend(
  'a request to another queue is answered while a large backlog expires',
  async (open) => {
    const { backend, clock, expired } = await openFull(open);
    clock.moveTo(clock.now() + 60_000);
    const own = backend.run({ type: 'describe-queue', queue: 'jobs' });
    await send(backend, 'others', 'hello');
    assert.ok(expired() < messages / 2, `${expired()} had expired when the other was answered`);
    const described = await own;
    assert.ok(described.ok);
    assert.deepEqual([described.visible, described.oldestSentAt], [0, undefined]);
    assert.equal(expired(), messages);
  },
);

testEveryBackend('a queue where something always expires is not held up', async (open) => {
  const { backend, clock, expired } = await openFull(open);
  for (let at = 0; at < 500; at += 1) {
    clock.moveTo(clock.now() + 1);
    await send(backend, 'others', 'one each millisecond');
  }
  clock.moveTo(clock.now() + 59_500);
  clock.isRestless = true;
  const own = backend.run({ type: 'describe-queue', queue: 'jobs' });
  await backend.run({ type: 'describe-queue', queue: 'others' });
  assert.ok(expired() < messages / 2, `${expired()} had expired when the other was answered`);
  await own;
});

testEveryBackend('no way to look at a queue shows what has expired there', async (open) => {
  const { backend, clock } = await openFull(open);
  clock.moveTo(clock.now() + 59_999);
  await send(backend, 'jobs', 'fresh');
  clock.moveTo(clock.now() + 1);
  const names = ['ApproximateNumberOfMessages'];
  const [attributes, peeked, received] = await Promise.all([
    backend.run({ type: 'get-attributes', queue: 'jobs', names }),
    backend.peek({ type: 'peek-messages', queue: 'jobs', limit: 100 }),
    receive(backend),
  ]);
  assert.ok(attributes.ok && peeked.ok);
  assert.deepEqual(attributes.attributes, { ApproximateNumberOfMessages: '1' });
  assert.deepEqual(
    peeked.messages.map(({ content }) => content.body),
    ['fresh'],
  );
  assert.deepEqual(received, ['fresh']);
});

testEveryBackend(
  'a receive that was waiting gets what is sent while a backlog expires',
  async (open) => {
    const { backend, clock, expired } = await openFull(open);
    for (let at = 0; at < messages; at += 10) await receive(backend, { visibilitySeconds: 43_200 });
    const waiting = receive(backend, { waitSeconds: 20 });
    clock.moveTo(clock.now() + 60_000);
    // The wait is over at once, by the clock; another one begins while messages expire.
    await send(backend, 'others', 'hello');
    assert.deepEqual(await waiting, []);
    assert.ok(expired() < messages);
    const next = receive(backend, { waitSeconds: 20 });
    await send(backend, 'jobs', 'fresh');
    assert.deepEqual(await next, ['fresh']);
    assert.equal(expired(), messages);
  },
  'what is asked for while a tick is committed shares its batch, and removes the rest at once',
);

testEveryBackend('a client that goes while its receive waits takes nothing', async (open) => {
  const { backend, clock } = await openFull(open);
  clock.moveTo(clock.now() + 59_999);
  await send(backend, 'jobs', 'fresh');
  clock.moveTo(clock.now() + 1);
  const client = new AbortController();
  const gone = receive(backend, {}, client);
  client.abort();
  assert.deepEqual(await gone, []);
  assert.deepEqual(await receive(backend), ['fresh']);
});

testEveryBackend('moving the clock is answered when all is removed', async (open) => {
  const { backend, expired, expiredAtOnce } = await openFull(open);
  await backend.advance(60_000);
  assert.equal(expired(), messages);
  assert.equal(expiredAtOnce(), expiredPerTickMax);
});

testEveryBackend(
  'a replay into a queue goes on when its backlog has expired',
  async (open) => {
    const { backend, clock, expired, expiredAtOnce } = await openFull(open);
    const ArchivePolicy = JSON.stringify({ MessageRetentionPeriod: '1' });
    const attributes = { FifoTopic: 'true', ArchivePolicy };
    const created = await backend.run({ type: 'create-topic', name: 'prices.fifo', attributes });
    assert.ok(created.ok);
    const { topicArn } = created;
    const baseUrl = 'http://mq.example';
    const entries = [{ message: 'hello', groupId: 'g', deduplicationId: 'd' }];
    await backend.run({ type: 'publish', topicArn, isBatch: false, entries, baseUrl });
    const StartingPoint = new Date(clock.now()).toISOString();
    const ReplayPolicy = JSON.stringify({ PointType: 'Timestamp', StartingPoint });
    clock.moveTo(clock.now() + 60_000);
    const subscribed = await backend.run({
      type: 'subscribe',
      topicArn,
      protocol: 'sqs',
      endpoint: 'arn:aws:sqs:us-east-1:000000000000:jobs',
      attributes: { ReplayPolicy, RawMessageDelivery: 'true' },
      baseUrl,
    });
    assert.ok(subscribed.ok);
    assert.deepEqual(await stayAliveFor(receive(backend, { waitSeconds: 20 })), ['hello']);
    assert.equal(expired(), messages);
    assert.equal(expiredAtOnce(), expiredPerTickMax);
  },
  'what is asked for while a tick is committed shares its batch, and removes the rest at once',
);

testEveryBackend('a backlog goes on expiring without any request', async (open) => {
  const { backend, clock, expired } = await openFull(open);
  const gone = new Promise<void>((resolve) => {
    backend.listen(() => {
      if (expired() === messages) resolve();
    });
  });
  clock.moveTo(clock.now() + 60_000);
  await send(backend, 'others', 'hello');
  await stayAliveFor(gone);
});

testEveryBackend('the time that a receive waits includes what it waits for ticks', async (open) => {
  const { backend, clock, expired } = await openFull(open);
  clock.moveTo(clock.now() + 60_000);
  const waiting = receive(backend, { waitSeconds: 20 });
  clock.moveTo(clock.now() + 20_000);
  assert.deepEqual(await stayAliveFor(waiting), []);
  assert.equal(expired(), messages);
});

testEveryBackend('between two ticks others have a turn, whatever falls due', async (open) => {
  const { backend, clock, expired } = await openFull(open);
  clock.moveTo(clock.now() + 40_001);
  const waiting = receive(backend, { queue: 'others', waitSeconds: 20 });
  clock.moveTo(clock.now() + 19_999);
  const listed = backend.run({ type: 'list-queues' });
  clock.moveTo(clock.now() + 1);
  const again = backend.run({ type: 'list-queues' });
  assert.ok(expired() <= expiredPerTickMax);
  await Promise.all([waiting, listed, again]);
});

testEveryBackend('a request that still waits when the server stops is refused', async (open) => {
  const { backend, clock, expired } = await openFull(open);
  clock.moveTo(clock.now() + 60_000);
  const own = backend.run({ type: 'describe-queue', queue: 'jobs' });
  backend.endWaits();
  await assert.rejects(own, Unavailable);
  assert.ok(expired() < messages);
});
