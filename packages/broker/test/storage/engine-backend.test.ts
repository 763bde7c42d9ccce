/**
 * What an engine backend does in its own process: its listeners and what it remembers, its timer, and how it stops. On a manual
 * clock, so that nothing happens but what the test does. What clients see is in ../conformance.
 */

import assert from 'node:assert/strict';
import type { CommandOf } from '../../src/core/commands.ts';
import type { Event } from '../../src/core/events.ts';
import { manualClock } from '../../src/server/clock.ts';
import type { Backend, Delivered } from '../../src/storage/backend.ts';
import { type OpenBackend, testEveryBackend } from './backends.ts';

const start = 1_800_000_000_000;
const patient = new AbortController();

async function withQueue(open: OpenBackend, queue = 'jobs.fifo'): Promise<Backend> {
  const backend = await open({ clock: manualClock(start) });
  const attributes = queue.endsWith('.fifo') ? { FifoQueue: 'true' } : {};
  await backend.run({ type: 'create-queue', queue, attributes });
  return backend;
}

let sent = 0;

async function send(backend: Backend, body: string, groupId = 'g'): Promise<void> {
  sent += 1;
  const entry = { body, groupId, deduplicationId: String(sent) };
  const command = { type: 'send', queue: 'jobs.fifo', isBatch: false, entries: [entry] } as const;
  assert.equal((await backend.run(command)).ok, true);
}

type Receive = Omit<CommandOf<'receive'>, 'type' | 'queue'>;

async function receive(
  backend: Backend,
  options: Receive = {},
  client: { readonly signal: AbortSignal } = patient,
): Promise<readonly Delivered[]> {
  const received = await backend.receive(
    { type: 'receive', queue: 'jobs.fifo', ...options },
    client,
  );
  assert.ok(received.ok);
  return received.messages;
}

function bodies(messages: readonly Delivered[]): string[] {
  return messages.map(({ content }) => content.body);
}

testEveryBackend('closing ends every wait, empty', async (open) => {
  const backend = await withQueue(open);
  const waiting = receive(backend, { waitSeconds: 20 });
  await backend.close();
  assert.deepEqual(await waiting, []);
});

testEveryBackend('a reset is reported to listeners, after all earlier events', async (open) => {
  const backend = await withQueue(open);
  const told: string[] = [];
  const stop = backend.listen(
    ({ type }) => told.push(type),
    () => told.push('reset'),
  );
  // Not awaited: on disk it is not yet kept when the reset comes.
  const sent = send(backend, 'gone');
  await backend.reset();
  await sent;
  assert.deepEqual(told, ['sent', 'reset']);
  stop();
  await backend.reset();
  assert.equal(told.length, 2);
});

testEveryBackend('a removed listener gets no more events', async (open) => {
  const backend = await withQueue(open);
  const events: Event[] = [];
  const stop = backend.listen((event) => events.push(event));
  await send(backend, 'heard');
  stop();
  await send(backend, 'unheard');
  assert.equal(events.length, 1);
});

testEveryBackend(
  'a listener that fails disturbs neither sends nor other listeners',
  async (open) => {
    const failures: unknown[] = [];
    const backend = await open({
      clock: manualClock(start),
      onError: (error) => failures.push(error),
    });
    const heard: string[] = [];
    backend.listen(() => {
      throw new Error('a broken reader');
    });
    backend.listen(({ type }) => heard.push(type));
    const attributes = { FifoQueue: 'true' };
    await backend.run({ type: 'create-queue', queue: 'jobs.fifo', attributes });
    await send(backend, 'sent all the same');
    assert.deepEqual(heard, ['queue-created', 'sent']);
    assert.equal(failures.length, 2);
  },
);

testEveryBackend(
  'a receiver whose message is due is not overtaken by one that comes before the timer',
  async (open) => {
    const clock = manualClock(start);
    const backend = await open({ clock });
    const attributes = { FifoQueue: 'true' };
    await backend.run({ type: 'create-queue', queue: 'jobs.fifo', attributes });
    await send(backend, 'one');
    await receive(backend, { visibilitySeconds: 10 });
    const waiting = receive(backend, { waitSeconds: 20 });
    clock.moveTo(start + 10_000);
    assert.deepEqual(await receive(backend, { visibilitySeconds: 0 }), []);
    assert.deepEqual(bodies(await waiting), ['one']);
  },
);

testEveryBackend(
  'the outcomes of publications are counted even without any listener',
  async (open) => {
    const backend = await open({ clock: manualClock(start) });
    const created = await backend.run({ type: 'create-topic', name: 'prices' });
    assert.ok(created.ok);
    const { topicArn } = created;
    await backend.run({ type: 'create-queue', queue: 'jobs' });
    const subscribe = async (name: string, attributes = {}): Promise<string> => {
      const endpoint = `arn:aws:sqs:us-east-1:000000000000:${name}`;
      const target = { protocol: 'sqs', endpoint, attributes, baseUrl: '' };
      const subscribed = await backend.run({ type: 'subscribe', topicArn, ...target });
      assert.ok(subscribed.ok);
      return subscribed.subscriptionArn;
    };
    const publish = (): Promise<unknown> => {
      const entries = [{ message: 'hello' }];
      return backend.run({ type: 'publish', topicArn, isBatch: false, entries, baseUrl: '' });
    };
    const id = (arn: string): string => arn.slice(topicArn.length + 1);
    const jobs = await subscribe('jobs');
    const gone = await subscribe('gone');
    const picky = await subscribe('other', { FilterPolicy: '{"kind":["price"]}' });
    await publish();
    await publish();
    assert.deepEqual(Object.fromEntries(await backend.deliveryCounts('prices')), {
      [id(jobs)]: { delivered: 2, filteredOut: 0, failed: 0 },
      [id(gone)]: { delivered: 0, filteredOut: 0, failed: 2 },
      [id(picky)]: { delivered: 0, filteredOut: 2, failed: 0 },
    });
    await backend.run({ type: 'unsubscribe', subscriptionArn: gone });
    assert.deepEqual([...(await backend.deliveryCounts('prices')).keys()], [id(jobs), id(picky)]);
    await backend.run({ type: 'delete-topic', topicArn });
    assert.equal((await backend.deliveryCounts('prices')).size, 0);
    assert.equal((await backend.failedDeliveries('prices')).count, 0);
  },
);

testEveryBackend('stopping ends a move of time that is under way', async (open) => {
  const backend = await withQueue(open);
  // Each id leaves the window at a moment of its own.
  for (const body of ['a', 'b', 'c']) {
    await send(backend, body);
    await backend.advance(1_000);
  }
  const moving = backend.advance(3_600_000);
  backend.endWaits();
  await assert.rejects(moving, /the server is stopping/);
  assert.ok(backend.now() < start + 3_600_000);
});
