/**
 * The local backend: long polling (rule 9.3), time that is moved, and events. On a manual clock, so that nothing
 * happens but what the test does.
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

async function remove(backend: Backend, message: Delivered | undefined): Promise<void> {
  const entries = [{ receiptHandle: message?.receiptHandle }];
  await backend.run({ type: 'delete-messages', queue: 'jobs.fifo', isBatch: false, entries });
}

function bodies(messages: readonly Delivered[]): string[] {
  return messages.map(({ content }) => content.body);
}

/** Whether the promise has settled once all that was ready to run has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

testEveryBackend('a receive without a wait answers at once, empty', async (open) => {
  const backend = await withQueue(open);
  assert.deepEqual(await receive(backend), []);
});

testEveryBackend('a waiting receive gets the message the moment it is sent (9.3)', async (open) => {
  const backend = await withQueue(open);
  const waiting = receive(backend, { waitSeconds: 20 });
  assert.equal(await isSettled(waiting), false);
  await send(backend, 'hello');
  assert.deepEqual(bodies(await waiting), ['hello']);
});

testEveryBackend("the queue's wait time applies if the receive gives none (9.2)", async (open) => {
  const backend = await withQueue(open);
  const attributes = { ReceiveMessageWaitTimeSeconds: '5' };
  await backend.run({ type: 'set-attributes', queue: 'jobs.fifo', attributes });
  const waiting = receive(backend);
  await backend.advance(4_999);
  assert.equal(await isSettled(waiting), false);
  await backend.advance(1);
  assert.deepEqual(await waiting, []);
});

testEveryBackend('a wait ends empty when its time is over, not earlier (9.3)', async (open) => {
  const backend = await withQueue(open);
  const waiting = receive(backend, { waitSeconds: 20 });
  await backend.advance(19_999);
  assert.equal(await isSettled(waiting), false);
  await backend.advance(1);
  assert.deepEqual(await waiting, []);
});

testEveryBackend('the receive that has waited longest is served first', async (open) => {
  const backend = await withQueue(open);
  const first = receive(backend, { waitSeconds: 20 });
  const second = receive(backend, { waitSeconds: 20 });
  await send(backend, 'one', 'g1');
  assert.deepEqual(bodies(await first), ['one']);
  assert.equal(await isSettled(second), false);
  await send(backend, 'two', 'g2');
  assert.deepEqual(bodies(await second), ['two']);
});

testEveryBackend('the end of a visibility timeout wakes a waiting receive (9.3)', async (open) => {
  const backend = await withQueue(open);
  await send(backend, 'again');
  await receive(backend, { visibilitySeconds: 10 });
  const waiting = receive(backend, { waitSeconds: 20 });
  await backend.advance(9_999);
  assert.equal(await isSettled(waiting), false);
  await backend.advance(1);
  const [message] = await waiting;
  assert.equal(message?.receiveCount, 2);
});

testEveryBackend('a delete that unblocks the group wakes a waiting receive (9.3)', async (open) => {
  const backend = await withQueue(open);
  await send(backend, 'one');
  await send(backend, 'two');
  const [one] = await receive(backend);
  const waiting = receive(backend, { waitSeconds: 20 });
  assert.equal(await isSettled(waiting), false);
  await remove(backend, one);
  assert.deepEqual(bodies(await waiting), ['two']);
});

testEveryBackend('visibility set to 0 wakes a waiting receive (9.3)', async (open) => {
  const backend = await withQueue(open);
  await send(backend, 'one');
  const [one] = await receive(backend);
  const waiting = receive(backend, { waitSeconds: 20 });
  const entries = [{ receiptHandle: one?.receiptHandle, visibilitySeconds: 0 }];
  const queue = 'jobs.fifo';
  await backend.run({ type: 'change-visibility', queue, isBatch: false, entries });
  assert.deepEqual(bodies(await waiting), ['one']);
});

testEveryBackend('the end of a delay wakes a waiting receive (9.3)', async (open) => {
  const backend = await withQueue(open);
  await backend.run({
    type: 'set-attributes',
    queue: 'jobs.fifo',
    attributes: { DelaySeconds: '3' },
  });
  await send(backend, 'later');
  const waiting = receive(backend, { waitSeconds: 20 });
  await backend.advance(3_000);
  assert.deepEqual(bodies(await waiting), ['later']);
});

testEveryBackend('a message moved into the queue wakes a waiting receive (9.3)', async (open) => {
  const backend = await withQueue(open);
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:jobs.fifo';
  const attributes = {
    FifoQueue: 'true',
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 }),
  };
  await backend.run({ type: 'create-queue', queue: 'work.fifo', attributes });
  const entries = [{ body: 'poison', groupId: 'g', deduplicationId: 'p' }];
  await backend.run({ type: 'send', queue: 'work.fifo', isBatch: false, entries });
  const take: CommandOf<'receive'> = { type: 'receive', queue: 'work.fifo', visibilitySeconds: 0 };
  await backend.receive(take, patient);
  const waiting = receive(backend, { waitSeconds: 20 });
  await backend.receive(take, patient);
  assert.deepEqual(bodies(await waiting), ['poison']);
});

testEveryBackend(
  'a client that disconnects while it waits takes no message with it',
  async (open) => {
    const backend = await withQueue(open);
    const gone = new AbortController();
    const waiting = receive(backend, { waitSeconds: 20 }, gone);
    gone.abort();
    assert.deepEqual(await waiting, []);
    await send(backend, 'for the next');
    assert.deepEqual(bodies(await receive(backend)), ['for the next']);
  },
);

testEveryBackend('deleting a queue ends the waits on it', async (open) => {
  const backend = await withQueue(open);
  const waiting = backend.receive(
    { type: 'receive', queue: 'jobs.fifo', waitSeconds: 20 },
    patient,
  );
  await backend.run({ type: 'delete-queue', queue: 'jobs.fifo' });
  const ended = await waiting;
  assert.equal(ended.ok ? undefined : ended.code, 'queue-missing');
});

testEveryBackend('closing ends every wait, empty', async (open) => {
  const backend = await withQueue(open);
  const waiting = receive(backend, { waitSeconds: 20 });
  await backend.close();
  assert.deepEqual(await waiting, []);
});

testEveryBackend('a reset leaves nothing behind', async (open) => {
  const backend = await withQueue(open);
  await send(backend, 'gone');
  const waiting = receive(backend, { waitSeconds: 20, attemptId: 'a' });
  assert.equal((await waiting).length, 1);
  await backend.reset();
  const listed = await backend.run({ type: 'list-queues' });
  assert.deepEqual(listed.ok && listed.queues, []);
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

testEveryBackend(
  'moving time runs everything due on the way, each at its own time',
  async (open) => {
    const backend = await withQueue(open);
    const events: Event[] = [];
    await send(backend, 'old');
    backend.listen((event) => events.push(event));
    const attributes = { MessageRetentionPeriod: '60' };
    await backend.run({ type: 'set-attributes', queue: 'jobs.fifo', attributes });
    assert.equal(await backend.advance(3_600_000), start + 3_600_000);
    const expired = events.find(({ type }) => type === 'expired');
    assert.equal(expired?.at, start + 60_000);
  },
);

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

testEveryBackend('a page of peeked messages ends early where bodies are large', async (open) => {
  const backend = await withQueue(open);
  const queue = 'jobs.fifo';
  for (let count = 0; count < 8; count += 1) await send(backend, 'x'.repeat(1_000_000));
  const peeked = await backend.peek({ type: 'peek-messages', queue, limit: 100 });
  assert.ok(peeked.ok);
  assert.equal(peeked.messages.length, 5);
  assert.equal(peeked.next, peeked.messages.at(-1)?.sequence);
  const rest = await backend.peek({
    type: 'peek-messages',
    queue,
    limit: 100,
    after: peeked.next as number,
  });
  assert.ok(rest.ok);
  assert.deepEqual([rest.messages.length, rest.next], [3, undefined]);
});

testEveryBackend(
  'a full page of peeked messages is the last if nothing follows it',
  async (open) => {
    const backend = await withQueue(open);
    for (const body of ['first', 'second', 'third', 'fourth']) await send(backend, body);
    const peek = { type: 'peek-messages', queue: 'jobs.fifo', limit: 2 } as const;
    const first = await backend.peek(peek);
    assert.ok(first.ok);
    assert.deepEqual([first.messages.length, first.next], [2, first.messages[1]?.sequence]);
    const last = await backend.peek({ ...peek, after: first.next });
    assert.ok(last.ok);
    const bodies = last.messages.map(({ content }) => content.body);
    assert.deepEqual([bodies, last.next], [['third', 'fourth'], undefined]);
  },
);

testEveryBackend('explaining an id names its original and every suppressed send', async (open) => {
  const backend = await withQueue(open);
  const entry = { body: 'price', groupId: 'g', deduplicationId: 'p-1' };
  const attributes = [{ name: 'market', type: 'String', stringValue: 'retail' }];
  const queue = 'jobs.fifo';
  await backend.run({ type: 'send', queue, isBatch: false, entries: [entry] });
  await backend.advance(1_000);
  await backend.run({ type: 'send', queue, isBatch: false, entries: [{ ...entry, attributes }] });
  const found = await backend.explain({ type: 'explain', queue, deduplicationId: 'p-1', limit: 1 });
  assert.ok(found.ok);
  const [explained] = found.entries;
  assert.equal(explained?.deduplicationId, 'p-1');
  assert.equal(explained?.suppressed.length, 1);
  assert.equal(explained?.suppressed[0]?.ageMs, 1_000);
  assert.deepEqual(explained?.suppressed[0]?.differed, {
    body: false,
    attributes: true,
    group: false,
  });
});

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
  'on a manual clock, work that is due now runs without moving it: a redrive starts at once (13.5)',
  async (open) => {
    const backend = await withQueue(open);
    const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:jobs.fifo';
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
    const attributes = { FifoQueue: 'true', RedrivePolicy };
    await backend.run({ type: 'create-queue', queue: 'work.fifo', attributes });
    const entries = [{ body: 'poison', groupId: 'g', deduplicationId: 'p' }];
    await backend.run({ type: 'send', queue: 'work.fifo', isBatch: false, entries });
    const take: CommandOf<'receive'> = {
      type: 'receive',
      queue: 'work.fifo',
      visibilitySeconds: 0,
    };
    await backend.receive(take, patient);
    await backend.receive(take, patient);
    const moved = new Promise((resolve) => backend.listen(resolve));
    await backend.run({ type: 'start-move-task', sourceArn: deadLetterTargetArn });
    assert.equal(((await moved) as Event).at, start);
  },
);

testEveryBackend('two concurrent moves of time add up', async (open) => {
  const backend = await withQueue(open);
  await Promise.all([backend.advance(10_000), backend.advance(10_000)]);
  assert.equal(backend.now(), start + 20_000);
});

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
