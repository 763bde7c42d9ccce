/**
 * Order on FIFO queues: message groups, what blocks them, whose turn it is, and sequence numbers. The examples that
 * fix Amazon's order are here literally, as g1-1 g2-1: the first messages of groups g1 and g2.
 */

import assert from 'node:assert/strict';
import { type Delivered, type Opener, type TestQueue, test } from './fixture.ts';

/** A queue of one group with these messages, and what receiving them all gives. */
async function receivedTogether(
  open: Opener,
  count: number,
): Promise<{ queue: TestQueue; messages: readonly Delivered[] }> {
  const queue = await open.queue({ fifo: true });
  for (let at = 1; at <= count; at += 1) await queue.send({ body: `m${at}` });
  const messages = await queue.receive({ visibilitySeconds: 10 });
  assert.equal(messages.length, count);
  return { queue, messages };
}

test('a group delivers its messages in the order in which they were accepted (11.1)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const bodies = Array.from({ length: 25 }, (_, at) => `m${at}`);
  for (const body of bodies) await queue.send({ body });
  const received: string[] = [];
  for (let calls = 0; calls < 5; calls += 1) {
    const messages = await queue.receive({ count: 6 });
    received.push(...messages.map(({ body }) => body));
    await queue.remove(...messages);
  }
  assert.deepEqual(received, bodies);
});

test('there can be any number of groups (11.1)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendMany(Array.from({ length: 5000 }, (_, at) => ({ groupId: `g${at}` })));
  assert.equal((await queue.describe()).groups, 5000);
  assert.equal(new Set((await queue.receive()).map(({ groupId }) => groupId)).size, 10);
});

test('one receive gives several messages of one group, in order (11.2a, 17.1)', async (open) => {
  const { messages } = await receivedTogether(open, 3);
  assert.deepEqual(
    messages.map(({ body }) => body),
    ['m1', 'm2', 'm3'],
  );
});

test('a group with a message in flight delivers nothing more until it is deleted or visible again (11.2b)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g-1', 'g-2');
  const first = await queue.receiveOne({ visibilitySeconds: 10 });
  assert.deepEqual(await queue.receive(), []);
  await queue.advance(9.999);
  assert.deepEqual(await queue.receive(), []);
  await queue.advance(0.001);
  assert.deepEqual(await queue.receiveBodies({ visibilitySeconds: 0 }), ['g-1', 'g-2']);
  await queue.remove(await queue.receiveOne());
  assert.equal((await queue.receiveOne()).body, 'g-2');
  assert.equal(first.body, 'g-1');
});

test('messages sent while an earlier one is in flight wait behind it (11.2b)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g-1');
  const first = await queue.receiveOne();
  await queue.sendNamed('g-2');
  assert.deepEqual(await queue.receive(), []);
  await queue.remove(first);
  assert.deepEqual(await queue.receiveBodies(), ['g-2']);
});

test('a blocked group does not block another (11.2b)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g1-2', 'g2-1');
  await queue.receiveOne();
  assert.deepEqual(await queue.receiveBodies(), ['g2-1']);
});

test('a group stays blocked while one of several received messages is in flight (11.2c)', async (open) => {
  const { queue, messages } = await receivedTogether(open, 3);
  await queue.send({ body: 'm4' });
  for (const message of messages.slice(0, 2)) {
    await queue.remove(message);
    assert.deepEqual(await queue.receive(), []);
  }
  await queue.remove(messages[2] as Delivered);
  assert.deepEqual(await queue.receiveBodies(), ['m4']);
});

test('a group stays blocked by its first message when the later ones are deleted (11.2c)', async (open) => {
  const { queue, messages } = await receivedTogether(open, 3);
  await queue.send({ body: 'm4' });
  await queue.remove(...messages.slice(1));
  assert.deepEqual(await queue.receive(), []);
  await queue.advance(10);
  assert.deepEqual(await queue.receiveBodies(), ['m1', 'm4']);
});

test('m1 visible again while m2 is in flight is delivered alone (11.2d)', async (open) => {
  const { queue, messages } = await receivedTogether(open, 2);
  await queue.changeVisibility(messages[0] as Delivered, 0);
  assert.deepEqual(await queue.receiveBodies(), ['m1']);
});

test('m1 after a shortened timeout is delivered alone while m2 is in flight (11.2d)', async (open) => {
  const { queue, messages } = await receivedTogether(open, 2);
  await queue.changeVisibility(messages[0] as Delivered, 3);
  await queue.advance(3);
  assert.deepEqual(await queue.receiveBodies(), ['m1']);
  assert.deepEqual(await queue.receive(), []);
});

test('m2 visible again while m1 is in flight waits behind it (11.2d)', async (open) => {
  const { queue, messages } = await receivedTogether(open, 2);
  await queue.changeVisibility(messages[1] as Delivered, 0);
  assert.deepEqual(await queue.receive(), []);
});

test('of three received, with the second extended, the first is delivered again and the third is not (11.2e)', async (open) => {
  const { queue, messages } = await receivedTogether(open, 3);
  await queue.changeVisibility(messages[1] as Delivered, 60);
  await queue.advance(10);
  assert.deepEqual(await queue.receiveBodies(), ['m1']);
});

test('of three received, with the first extended, none is delivered again (11.2e)', async (open) => {
  const { queue, messages } = await receivedTogether(open, 3);
  await queue.changeVisibility(messages[0] as Delivered, 60);
  await queue.advance(10);
  assert.deepEqual(await queue.receive(), []);
});

test('of three received, with the third extended, the first two are delivered again (11.2e)', async (open) => {
  const { queue, messages } = await receivedTogether(open, 3);
  await queue.changeVisibility(messages[2] as Delivered, 60);
  await queue.advance(10);
  assert.deepEqual(await queue.receiveBodies(), ['m1', 'm2']);
});

test('when all received messages are deleted the next ones follow at once (11.2f)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g-1', 'g-2', 'g-3', 'g-4');
  await queue.remove(...(await queue.receive({ count: 2 })));
  assert.deepEqual(await queue.receiveBodies(), ['g-3', 'g-4']);
});

test('a message in flight that expires frees its group (11.2)', async (open) => {
  const queue = await open.queue({ fifo: true, attributes: { MessageRetentionPeriod: '60' } });
  await queue.sendNamed('g-1');
  await queue.receiveOne({ visibilitySeconds: 1000 });
  await queue.advance(30);
  await queue.sendNamed('g-2');
  assert.deepEqual(await queue.receive(), []);
  await queue.advance(30);
  assert.deepEqual(await queue.receiveBodies(), ['g-2']);
});

test('one receive takes one group up to the maximum before the next (11.3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g2-1', 'g1-2', 'g2-2', 'g1-3');
  assert.deepEqual(await queue.receiveBodies({ count: 4 }), ['g1-1', 'g1-2', 'g1-3', 'g2-1']);
});

test('groups of one answer are adjacent: g1-1 g1-2 g1-3 g2-1 (11.4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g2-1', 'g1-2', 'g1-3');
  assert.deepEqual(await queue.receiveBodies(), ['g1-1', 'g1-2', 'g1-3', 'g2-1']);
});

test('groups received with timeout 0 queue up after a group never received (11.4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g2-1', 'g2-2', 'g3-1', 'g1-2');
  const first = await queue.receiveBodies({ count: 3, visibilitySeconds: 0 });
  assert.deepEqual(first, ['g1-1', 'g1-2', 'g2-1']);
  assert.deepEqual(await queue.receiveBodies(), ['g3-1', 'g1-1', 'g1-2', 'g2-1', 'g2-2']);
});

test('a group whose message became visible again comes after one never received (11.4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g2-1');
  await queue.changeVisibility(await queue.receiveOne(), 0);
  assert.deepEqual(await queue.receiveBodies(), ['g2-1', 'g1-1']);
});

test('groups whose timeouts ended are ordered by when they ended (11.4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g2-1', 'g3-1');
  await queue.receiveOne({ visibilitySeconds: 9 });
  await queue.receiveOne({ visibilitySeconds: 3 });
  await queue.receiveOne({ visibilitySeconds: 6 });
  await queue.advance(20);
  assert.deepEqual(await queue.receiveBodies(), ['g2-1', 'g3-1', 'g1-1']);
});

test('a group unblocked by a delete is ordered by the age of its next message (11.4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g1-2', 'g2-1');
  const first = await queue.receiveOne();
  await queue.remove(first);
  assert.deepEqual(await queue.receiveBodies(), ['g1-2', 'g2-1']);
});

test('a busy group does not starve a younger one (11.4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  for (let at = 0; at < 5; at += 1) await queue.sendNamed('busy-x');
  await queue.advance(1);
  await queue.sendNamed('quiet-x');
  const received: string[] = [];
  for (let calls = 0; calls < 7; calls += 1) {
    await queue.advance(1);
    await queue.sendNamed('busy-x');
    const message = await queue.receiveOne();
    received.push(message.groupId as string);
    await queue.remove(message);
  }
  assert.equal(received.indexOf('quiet'), 5);
});

test('an empty group leaves no trace, and its id can be used again (11.5)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g-1');
  await queue.remove(await queue.receiveOne());
  assert.equal((await queue.describe()).groups, 0);
  await queue.sendNamed('g-2');
  assert.deepEqual(await queue.receiveBodies(), ['g-2']);
});

test('a receive with timeout 0 never returns a message twice in one answer (11.6)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g1-2', 'g2-1');
  const bodies = await queue.receiveBodies({ visibilitySeconds: 0 });
  assert.deepEqual(bodies, ['g1-1', 'g1-2', 'g2-1']);
});

test('a receive with timeout 0 does not block its group (11.6)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g-1', 'g-2');
  await queue.receiveOne({ visibilitySeconds: 0 });
  assert.deepEqual(await queue.receiveBodies(), ['g-1', 'g-2']);
});

test('sequence numbers rise over the whole queue, whatever the group (11.7)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const sequences: number[] = [];
  for (let at = 0; at < 20; at += 1) {
    sequences.push((await queue.send({ groupId: `g${at % 3}` })).sequence as number);
    if (at % 5 === 0) await queue.remove(await queue.receiveOne());
  }
  for (let at = 1; at < sequences.length; at += 1) {
    assert.ok((sequences[at] as number) > (sequences[at - 1] as number));
  }
});

test('a message keeps its sequence number across receives (11.7)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { sequence } = await queue.send();
  for (let at = 0; at < 3; at += 1) {
    assert.equal((await queue.receiveOne({ visibilitySeconds: 0 })).sequence, sequence);
  }
});

test('sequence numbers continue after a purge (11.7)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const before = (await queue.send()).sequence as number;
  await queue.purge();
  assert.ok(((await queue.send()).sequence as number) > before);
});

test('FifoThroughputLimit sets no limit (11.25)', async (open) => {
  for (const limit of ['perQueue', 'perMessageGroupId']) {
    const attributes = { DeduplicationScope: 'messageGroup', FifoThroughputLimit: limit };
    const queue = await open.queue({ fifo: true, attributes });
    await queue.sendMany(Array.from({ length: 5000 }, () => ({})));
    assert.deepEqual(await queue.counts(), [5000, 0, 0]);
  }
});

test('moving a dead letter unblocks its group in the same receive (12.4)', async (open) => {
  const { queue } = await open.queueWithDeadLetters({ fifo: true });
  await queue.sendNamed('g-1', 'g-2');
  await queue.receiveOne({ visibilitySeconds: 0 });
  assert.deepEqual(await queue.receiveBodies({ count: 1 }), ['g-2']);
});
