/**
 * Long polls (rule 9.3): what ends a wait, who is served, and what a client that has gone leaves behind. How they are kept in
 * order beside the timer of one process is in storage/engine-backend.
 */

import assert from 'node:assert/strict';
import type { CommandOf } from '../../src/core/commands.ts';
import type { Backend, Delivered } from '../../src/storage/backend.ts';
import { type Opener, test } from './fixture.ts';

const patient = new AbortController();

async function openPort(open: Opener): Promise<Backend> {
  return (await open.queue({ fifo: true })).home.port;
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

test('a receive without a wait answers at once, empty', async (open) => {
  const backend = await openPort(open);
  assert.deepEqual(await receive(backend), []);
});

test('a waiting receive gets the message the moment it is sent (9.3)', async (open) => {
  const backend = await openPort(open);
  const waiting = receive(backend, { waitSeconds: 20 });
  assert.equal(await isSettled(waiting), false);
  await send(backend, 'hello');
  assert.deepEqual(bodies(await waiting), ['hello']);
});

test("the queue's wait time applies if the receive gives none (9.2)", async (open) => {
  const backend = await openPort(open);
  const attributes = { ReceiveMessageWaitTimeSeconds: '5' };
  await backend.run({ type: 'set-attributes', queue: 'jobs.fifo', attributes });
  const waiting = receive(backend);
  await backend.advance(4_999);
  assert.equal(await isSettled(waiting), false);
  await backend.advance(1);
  assert.deepEqual(await waiting, []);
});

test('a wait ends empty when its time is over, not earlier (9.3)', async (open) => {
  const backend = await openPort(open);
  const waiting = receive(backend, { waitSeconds: 20 });
  await backend.advance(19_999);
  assert.equal(await isSettled(waiting), false);
  await backend.advance(1);
  assert.deepEqual(await waiting, []);
});

test('the receive that has waited longest is served first', async (open) => {
  const backend = await openPort(open);
  const first = receive(backend, { waitSeconds: 20 });
  const second = receive(backend, { waitSeconds: 20 });
  await send(backend, 'one', 'g1');
  assert.deepEqual(bodies(await first), ['one']);
  assert.equal(await isSettled(second), false);
  await send(backend, 'two', 'g2');
  assert.deepEqual(bodies(await second), ['two']);
});

test('the end of a visibility timeout wakes a waiting receive (9.3)', async (open) => {
  const backend = await openPort(open);
  await send(backend, 'again');
  await receive(backend, { visibilitySeconds: 10 });
  const waiting = receive(backend, { waitSeconds: 20 });
  await backend.advance(9_999);
  assert.equal(await isSettled(waiting), false);
  await backend.advance(1);
  const [message] = await waiting;
  assert.equal(message?.receiveCount, 2);
});

test('a delete that unblocks the group wakes a waiting receive (9.3)', async (open) => {
  const backend = await openPort(open);
  await send(backend, 'one');
  await send(backend, 'two');
  const [one] = await receive(backend);
  const waiting = receive(backend, { waitSeconds: 20 });
  assert.equal(await isSettled(waiting), false);
  await remove(backend, one);
  assert.deepEqual(bodies(await waiting), ['two']);
});

test('visibility set to 0 wakes a waiting receive (9.3)', async (open) => {
  const backend = await openPort(open);
  await send(backend, 'one');
  const [one] = await receive(backend);
  const waiting = receive(backend, { waitSeconds: 20 });
  const entries = [{ receiptHandle: one?.receiptHandle, visibilitySeconds: 0 }];
  const queue = 'jobs.fifo';
  await backend.run({ type: 'change-visibility', queue, isBatch: false, entries });
  assert.deepEqual(bodies(await waiting), ['one']);
});

test('the end of a delay wakes a waiting receive (9.3)', async (open) => {
  const backend = await openPort(open);
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

test('a message moved into the queue wakes a waiting receive (9.3)', async (open) => {
  const backend = await openPort(open);
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

test('a client that disconnects while it waits takes no message with it', async (open) => {
  const backend = await openPort(open);
  const gone = new AbortController();
  const waiting = receive(backend, { waitSeconds: 20 }, gone);
  gone.abort();
  assert.deepEqual(await waiting, []);
  await send(backend, 'for the next');
  assert.deepEqual(bodies(await receive(backend)), ['for the next']);
});

test('deleting a queue ends the waits on it', async (open) => {
  const backend = await openPort(open);
  const waiting = backend.receive(
    { type: 'receive', queue: 'jobs.fifo', waitSeconds: 20 },
    patient,
  );
  await backend.run({ type: 'delete-queue', queue: 'jobs.fifo' });
  const ended = await waiting;
  assert.equal(ended.ok ? undefined : ended.code, 'queue-missing');
});
