/**
 * Long polls (rule 9.3): what ends a wait, who is served, and what a client that has gone leaves behind. How they are kept in
 * order beside the timer of one process is in storage/engine-backend.
 */

import assert from 'node:assert/strict';
import type { CommandOf } from '../../src/core/commands.ts';
import type { Delivered } from '../../src/storage/backend.ts';
import { type Opener, type TestBackend, test } from './fixture.ts';

const patient = new AbortController();

async function openHome(open: Opener): Promise<TestBackend> {
  return (await open.queue({ fifo: true })).home;
}

let sent = 0;

async function send(home: TestBackend, body: string, groupId = 'g'): Promise<void> {
  sent += 1;
  const entry = { body, groupId, deduplicationId: String(sent) };
  const command = { type: 'send', queue: 'jobs.fifo', isBatch: false, entries: [entry] } as const;
  assert.equal((await home.run(command)).ok, true);
}

type Receive = Omit<CommandOf<'receive'>, 'type' | 'queue'>;

async function receive(
  home: TestBackend,
  options: Receive = {},
  client: { readonly signal: AbortSignal } = patient,
): Promise<readonly Delivered[]> {
  const received = await home.port.receive(
    { type: 'receive', queue: 'jobs.fifo', ...options },
    client,
  );
  assert.ok(received.ok);
  return received.messages;
}

async function remove(home: TestBackend, message: Delivered | undefined): Promise<void> {
  const entries = [{ receiptHandle: message?.receiptHandle }];
  await home.run({ type: 'delete-messages', queue: 'jobs.fifo', isBatch: false, entries });
}

function bodies(messages: readonly Delivered[]): string[] {
  return messages.map(({ content }) => content.body);
}

/** Whether the promise has settled once every node has done what it was about to do. */
async function isSettled(home: TestBackend, promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  await home.settle();
  return settled;
}

test('a receive without a wait answers at once, empty', async (open) => {
  const home = await openHome(open);
  assert.deepEqual(await receive(home), []);
});

test('a waiting receive gets the message the moment it is sent (9.3)', async (open) => {
  const home = await openHome(open);
  const waiting = receive(home, { waitSeconds: 20 });
  await home.parked(1);
  await send(home, 'hello');
  assert.deepEqual(bodies(await waiting), ['hello']);
});

test("the queue's wait time applies if the receive gives none (9.2)", async (open) => {
  const home = await openHome(open);
  const attributes = { ReceiveMessageWaitTimeSeconds: '5' };
  await home.run({ type: 'set-attributes', queue: 'jobs.fifo', attributes });
  const waiting = receive(home);
  await home.parked(1);
  await home.advance(4.999);
  assert.equal(await isSettled(home, waiting), false);
  await home.advance(0.001);
  assert.deepEqual(await waiting, []);
});

test('a wait ends empty when its time is over, not earlier (9.3)', async (open) => {
  const home = await openHome(open);
  const waiting = receive(home, { waitSeconds: 20 });
  await home.parked(1);
  await home.advance(19.999);
  assert.equal(await isSettled(home, waiting), false);
  await home.advance(0.001);
  assert.deepEqual(await waiting, []);
});

test('the receive that has waited longest is served first', async (open) => {
  const home = await openHome(open);
  const first = receive(home, { waitSeconds: 20 });
  await home.parked(1);
  const second = receive(home, { waitSeconds: 20 });
  await home.parked(2);
  await send(home, 'one', 'g1');
  assert.deepEqual(bodies(await first), ['one']);
  assert.equal(await isSettled(home, second), false);
  await send(home, 'two', 'g2');
  assert.deepEqual(bodies(await second), ['two']);
});

test('the end of a visibility timeout wakes a waiting receive (9.3)', async (open) => {
  const home = await openHome(open);
  await send(home, 'again');
  await receive(home, { visibilitySeconds: 10 });
  const waiting = receive(home, { waitSeconds: 20 });
  await home.parked(1);
  await home.advance(9.999);
  assert.equal(await isSettled(home, waiting), false);
  await home.advance(0.001);
  const [message] = await waiting;
  assert.equal(message?.receiveCount, 2);
});

test('a delete that unblocks the group wakes a waiting receive (9.3)', async (open) => {
  const home = await openHome(open);
  await send(home, 'one');
  await send(home, 'two');
  const [one] = await receive(home);
  const waiting = receive(home, { waitSeconds: 20 });
  await home.parked(1);
  assert.equal(await isSettled(home, waiting), false);
  await remove(home, one);
  assert.deepEqual(bodies(await waiting), ['two']);
});

test('visibility set to 0 wakes a waiting receive (9.3)', async (open) => {
  const home = await openHome(open);
  await send(home, 'one');
  const [one] = await receive(home);
  const waiting = receive(home, { waitSeconds: 20 });
  await home.parked(1);
  const entries = [{ receiptHandle: one?.receiptHandle, visibilitySeconds: 0 }];
  const queue = 'jobs.fifo';
  await home.run({ type: 'change-visibility', queue, isBatch: false, entries });
  assert.deepEqual(bodies(await waiting), ['one']);
});

test('the end of a delay wakes a waiting receive (9.3)', async (open) => {
  const home = await openHome(open);
  await home.run({
    type: 'set-attributes',
    queue: 'jobs.fifo',
    attributes: { DelaySeconds: '3' },
  });
  await send(home, 'later');
  const waiting = receive(home, { waitSeconds: 20 });
  await home.parked(1);
  await home.advance(3);
  assert.deepEqual(bodies(await waiting), ['later']);
});

test('a message moved into the queue wakes a waiting receive (9.3)', async (open) => {
  const home = await openHome(open);
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:jobs.fifo';
  const attributes = {
    FifoQueue: 'true',
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 }),
  };
  await home.run({ type: 'create-queue', queue: 'work.fifo', attributes });
  const entries = [{ body: 'poison', groupId: 'g', deduplicationId: 'p' }];
  await home.run({ type: 'send', queue: 'work.fifo', isBatch: false, entries });
  const take: CommandOf<'receive'> = { type: 'receive', queue: 'work.fifo', visibilitySeconds: 0 };
  await home.port.receive(take, patient);
  const waiting = receive(home, { waitSeconds: 20 });
  await home.parked(1);
  await home.port.receive(take, patient);
  assert.deepEqual(bodies(await waiting), ['poison']);
});

test('a client that disconnects while it waits takes no message with it', async (open) => {
  const home = await openHome(open);
  const gone = new AbortController();
  const waiting = receive(home, { waitSeconds: 20 }, gone);
  await home.parked(1);
  gone.abort();
  assert.deepEqual(await waiting, []);
  await send(home, 'for the next');
  assert.deepEqual(bodies(await receive(home)), ['for the next']);
});

test('deleting a queue ends the waits on it', async (open) => {
  const home = await openHome(open);
  const waiting = home.port.receive(
    { type: 'receive', queue: 'jobs.fifo', waitSeconds: 20 },
    patient,
  );
  await home.parked(1);
  await home.run({ type: 'delete-queue', queue: 'jobs.fifo' });
  const ended = await waiting;
  assert.equal(ended.ok ? undefined : ended.code, 'queue-missing');
});
