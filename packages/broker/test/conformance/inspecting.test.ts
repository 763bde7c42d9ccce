/**
 * Looking without touching: counts, messages in order, and what the deduplication window knows. None of this is a
 * receive, so nothing about the messages may change by it.
 */

import assert from 'node:assert/strict';
import type { ExplainedEntry, GroupView, PeekedMessage } from '../../src/core/commands.ts';
import { accepted, startedAt, type TestQueue, test } from './fixture.ts';

async function peek(
  queue: TestQueue,
  options: { groupId?: string; limit?: number; after?: number } = {},
): Promise<readonly PeekedMessage[]> {
  const command = { type: 'peek-messages', queue: queue.name, limit: 10, ...options } as const;
  return accepted(await queue.home.run(command)).messages;
}

async function explain(
  queue: TestQueue,
  options: { deduplicationId?: string; groupId?: string; limit?: number } = {},
): Promise<readonly ExplainedEntry[]> {
  const command = { type: 'explain', queue: queue.name, limit: 10, ...options } as const;
  return accepted(await queue.home.run(command)).entries;
}

test('a description counts messages, groups and ids, and gives the time of the oldest message (O5)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g1-2');
  await queue.advance(5);
  await queue.sendNamed('g2-1');
  await queue.receiveOne();
  assert.deepEqual(await queue.describe(), {
    ok: true,
    isFifo: true,
    visible: 2,
    inFlight: 1,
    delayed: 0,
    groups: 2,
    blockedGroups: 1,
    windowEntries: 3,
    oldestSentAt: startedAt,
  });
});

test('peeking shows messages in order with their states, and receives none of them (O5)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g2-1', 'g1-2');
  await queue.receiveOne({ visibilitySeconds: 10 });
  const shown = (await peek(queue)).map(({ groupId, state, visibleAt, receiveCount }) => [
    groupId,
    state,
    visibleAt,
    receiveCount,
  ]);
  assert.deepEqual(shown, [
    ['g1', 'in-flight', startedAt + 10_000, 1],
    ['g2', 'visible', undefined, 0],
    ['g1', 'visible', undefined, 0],
  ]);
  assert.deepEqual(await queue.counts(), [2, 1, 0]);
});

test('peeking shows one group, and no more than asked for (O5)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g2-1', 'g1-2', 'g1-3');
  assert.equal((await peek(queue, { groupId: 'g1' })).length, 3);
  assert.equal((await peek(queue, { groupId: 'g1', limit: 2 })).length, 2);
  assert.deepEqual(await peek(queue, { groupId: 'none' }), []);
});

test('peeking shows a delayed message and when it will be visible (O5)', async (open) => {
  const queue = await open.queue();
  await queue.send({ delaySeconds: 7 });
  const [message] = await peek(queue);
  assert.equal(message?.state, 'delayed');
  assert.equal(message?.visibleAt, startedAt + 7000);
});

test('an id can be looked up before it is sent again (O6)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { messageId, sequence } = await queue.send({ deduplicationId: 'd' });
  await queue.advance(10);
  const entries = await explain(queue, { deduplicationId: 'd' });
  assert.equal(entries.length, 1);
  const { source, acceptedAt, expiresAt, ...entry } = entries[0] as ExplainedEntry;
  assert.deepEqual([entry.sequence, entry.messageId], [sequence, messageId]);
  assert.deepEqual([source, acceptedAt, expiresAt], ['explicit', startedAt, startedAt + 300_000]);
  assert.deepEqual(await explain(queue, { deduplicationId: 'other' }), []);
});

test('with scope messageGroup an id is looked up in its group (O6)', async (open) => {
  const queue = await open.queue({
    fifo: true,
    attributes: { DeduplicationScope: 'messageGroup' },
  });
  await queue.send({ deduplicationId: 'd', groupId: 'g1' });
  assert.equal((await explain(queue, { deduplicationId: 'd', groupId: 'g1' })).length, 1);
  assert.equal((await explain(queue, { deduplicationId: 'd', groupId: 'g2' })).length, 0);
});

test('without an id the newest window entries are listed, newest first (O6)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const ids: string[] = [];
  for (let at = 0; at < 3; at += 1) ids.push((await queue.send()).messageId);
  assert.deepEqual(
    (await explain(queue, { limit: 2 })).map(({ messageId }) => messageId),
    [ids[2], ids[1]],
  );
});

async function groups(
  queue: TestQueue,
  options: { isBlocked?: boolean; after?: number; limit?: number } = {},
): Promise<{ groups: readonly GroupView[]; next: number | undefined }> {
  const defaults = { isBlocked: false, limit: 10 } as const;
  const command = { type: 'list-groups', queue: queue.name, ...defaults, ...options } as const;
  return accepted(await queue.home.run(command));
}

test('a group is listed with its messages, those in flight, and the message that blocks it (O5)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g1-2', 'g1-3', 'g2-1');
  const { messageId } = await queue.receiveOne({ visibilitySeconds: 10 });
  const [first, second] = (await groups(queue)).groups;
  assert.deepEqual([first?.groupId, first?.messages, first?.inFlight], ['g1', 3, 1]);
  assert.equal(first?.head.messageId, messageId);
  assert.equal(first?.head.visibleAt, startedAt + 10_000);
  assert.deepEqual([second?.groupId, second?.messages, second?.inFlight], ['g2', 1, 0]);
  assert.equal(second?.head.state, 'visible');
  assert.deepEqual(
    (await groups(queue, { isBlocked: true })).groups.map(({ groupId }) => groupId),
    ['g1'],
  );
  await queue.advance(10);
  assert.deepEqual((await groups(queue, { isBlocked: true })).groups, []);
});

test('a group counts its messages through sends and deletes, and disappears with the last (O5)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g1-2');
  const counts = async (): Promise<number[]> =>
    (await groups(queue)).groups.map(({ messages }) => messages);
  assert.deepEqual(await counts(), [2]);
  await queue.remove(await queue.receiveOne());
  assert.deepEqual(await counts(), [1]);
  await queue.remove(await queue.receiveOne());
  assert.deepEqual(await counts(), []);
});

test('groups come in pages, and a standard queue has none (O5)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g2-1', 'g3-1');
  const first = await groups(queue, { limit: 2 });
  assert.equal(first.groups.length, 2);
  const second = await groups(queue, { limit: 2, after: first.next as number });
  assert.deepEqual(
    second.groups.map(({ groupId }) => groupId),
    ['g3'],
  );
  assert.equal(second.next, undefined);
  const standard = await open.queue();
  await standard.send();
  assert.deepEqual((await groups(standard)).groups, []);
});

test('accepted sends are counted by time, in equal parts of the window (O6)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const parts = async (): Promise<readonly number[]> =>
    accepted(await queue.home.run({ type: 'count-sends', queue: queue.name, parts: 3 })).accepted;
  await queue.send();
  await queue.advance(150);
  await queue.send();
  await queue.send();
  assert.deepEqual(await parts(), [0, 1, 2]);
  await queue.advance(149);
  assert.deepEqual(await parts(), [1, 2, 0]);
  await queue.advance(1);
  assert.deepEqual(await parts(), [0, 2, 0]);
});

test('peeking continues after a message that was deleted (O5)', async (open) => {
  const queue = await open.queue();
  for (const body of ['a', 'b', 'c']) await queue.send({ body });
  const sequences = (await peek(queue)).map(({ sequence }) => sequence);
  const after = sequences[0] as number;
  const behind = async (): Promise<number[]> =>
    (await peek(queue, { after })).map(({ sequence }) => sequence);
  assert.deepEqual(await behind(), sequences.slice(1));
  await queue.remove(await queue.receiveOne());
  assert.deepEqual(await behind(), sequences.slice(1));
});
