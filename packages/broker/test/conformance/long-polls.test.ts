/**
 * Long polls (rule 9.3): what ends a wait, who is served, and what a client that has gone leaves behind. How they are kept in
 * order beside the timer of one process is in storage/engine-backend.
 */

import assert from 'node:assert/strict';
import { accepted, assertRefused, type TestBackend, test } from './fixture.ts';

const patient = { waitSeconds: 20 };

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
  const queue = await open.queue({ fifo: true });
  assert.deepEqual(await queue.receive(), []);
});

test('a waiting receive gets the message the moment it is sent (9.3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { home } = queue;
  const waiting = queue.receiveBodies(patient);
  await home.parked(1);
  await queue.send({ body: 'hello' });
  assert.deepEqual(await waiting, ['hello']);
});

test("the queue's wait time applies if the receive gives none (9.2)", async (open) => {
  const queue = await open.queue({ fifo: true });
  const { home } = queue;
  await queue.set({ ReceiveMessageWaitTimeSeconds: '5' });
  const waiting = queue.receive();
  await home.parked(1);
  await home.advance(4.999);
  assert.equal(await isSettled(home, waiting), false);
  await home.advance(0.001);
  assert.deepEqual(await waiting, []);
});

test('a wait ends empty when its time is over, not earlier (9.3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { home } = queue;
  const waiting = queue.receiveBodies(patient);
  await home.parked(1);
  await home.advance(19.999);
  assert.equal(await isSettled(home, waiting), false);
  await home.advance(0.001);
  assert.deepEqual(await waiting, []);
});

test('the receive that has waited longest is served first', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { home } = queue;
  const first = queue.receiveBodies(patient);
  await home.parked(1);
  const second = queue.receiveBodies(patient);
  await home.parked(2);
  await queue.send({ body: 'one', groupId: 'g1' });
  assert.deepEqual(await first, ['one']);
  assert.equal(await isSettled(home, second), false);
  await queue.send({ body: 'two', groupId: 'g2' });
  assert.deepEqual(await second, ['two']);
});

test('the end of a visibility timeout wakes a waiting receive (9.3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { home } = queue;
  await queue.send({ body: 'again' });
  await queue.receive({ visibilitySeconds: 10 });
  const waiting = queue.receive(patient);
  await home.parked(1);
  await home.advance(9.999);
  assert.equal(await isSettled(home, waiting), false);
  await home.advance(0.001);
  const [message] = await waiting;
  assert.equal(message?.receiveCount, 2);
});

test('a delete that unblocks the group wakes a waiting receive (9.3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { home } = queue;
  await queue.send({ body: 'one' });
  await queue.send({ body: 'two' });
  const one = await queue.receiveOne();
  const waiting = queue.receiveBodies(patient);
  await home.parked(1);
  assert.equal(await isSettled(home, waiting), false);
  await queue.remove(one);
  assert.deepEqual(await waiting, ['two']);
});

test('visibility set to 0 wakes a waiting receive (9.3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { home } = queue;
  await queue.send({ body: 'one' });
  const one = await queue.receiveOne();
  const waiting = queue.receiveBodies(patient);
  await home.parked(1);
  await queue.changeVisibility(one, 0);
  assert.deepEqual(await waiting, ['one']);
});

test('the end of a delay wakes a waiting receive (9.3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { home } = queue;
  await queue.set({ DelaySeconds: '3' });
  await queue.send({ body: 'later' });
  const waiting = queue.receiveBodies(patient);
  await home.parked(1);
  await home.advance(3);
  assert.deepEqual(await waiting, ['later']);
});

test('a message moved into the queue wakes a waiting receive (9.3)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters({ fifo: true });
  await queue.send({ body: 'poison' });
  await queue.receiveOne({ visibilitySeconds: 0 });
  const waiting = dead.receiveBodies(patient);
  await queue.home.parked(1);
  assert.deepEqual(await queue.receive(), []);
  assert.deepEqual(await waiting, ['poison']);
});

test('a client that disconnects while it waits takes no message with it', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { home } = queue;
  const gone = new AbortController();
  const waiting = home.port.receive({ type: 'receive', queue: queue.name, ...patient }, gone);
  await home.parked(1);
  gone.abort();
  assert.deepEqual(accepted(await waiting).messages, []);
  await queue.send({ body: 'for the next' });
  assert.deepEqual(await queue.receiveBodies(), ['for the next']);
});

test('deleting a queue ends the waits on it', async (open) => {
  const queue = await open.queue({ fifo: true });
  const waiting = queue.tryReceive(patient);
  await queue.home.parked(1);
  await queue.delete();
  assertRefused(await waiting, 'QueueDoesNotExist');
});
