/**
 * Looking without touching: counts, messages in order, and what the deduplication window knows. None of this is a
 * receive, so nothing about the messages may change by it.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExplainedEntry, GroupView, PeekedMessage } from '../../src/core/commands.ts';
import { accepted, openQueue, startedAt, type TestQueue } from './fixture.ts';

function peek(
  queue: TestQueue,
  options: { groupId?: string; limit?: number; after?: number } = {},
): readonly PeekedMessage[] {
  const command = { type: 'peek-messages', queue: queue.name, limit: 10, ...options } as const;
  return accepted(queue.home.apply(command)).messages;
}

function explain(
  queue: TestQueue,
  options: { deduplicationId?: string; groupId?: string; limit?: number } = {},
): readonly ExplainedEntry[] {
  const command = { type: 'explain', queue: queue.name, limit: 10, ...options } as const;
  return accepted(queue.home.apply(command)).entries;
}

test('a description counts messages, groups and ids, and gives the time of the oldest message (O5)', () => {
  const queue = openQueue({ fifo: true });
  queue.sendNamed('g1-1', 'g1-2');
  queue.advance(5);
  queue.sendNamed('g2-1');
  queue.receiveOne();
  assert.deepEqual(queue.describe(), {
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

test('peeking shows messages in order with their states, and receives none of them (O5)', () => {
  const queue = openQueue({ fifo: true });
  queue.sendNamed('g1-1', 'g2-1', 'g1-2');
  queue.receiveOne({ visibilitySeconds: 10 });
  const shown = peek(queue).map(({ groupId, state, visibleAt, receiveCount }) => [
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
  assert.deepEqual(queue.counts(), [2, 1, 0]);
});

test('peeking shows one group, and no more than asked for (O5)', () => {
  const queue = openQueue({ fifo: true });
  queue.sendNamed('g1-1', 'g2-1', 'g1-2', 'g1-3');
  assert.equal(peek(queue, { groupId: 'g1' }).length, 3);
  assert.equal(peek(queue, { groupId: 'g1', limit: 2 }).length, 2);
  assert.deepEqual(peek(queue, { groupId: 'none' }), []);
});

test('peeking shows a delayed message and when it will be visible (O5)', () => {
  const queue = openQueue();
  queue.send({ delaySeconds: 7 });
  const [message] = peek(queue);
  assert.equal(message?.state, 'delayed');
  assert.equal(message?.visibleAt, startedAt + 7000);
});

test('an id can be looked up before it is sent again (O6)', () => {
  const queue = openQueue({ fifo: true });
  const { messageId, sequence } = queue.send({ deduplicationId: 'd' });
  queue.advance(10);
  assert.deepEqual(explain(queue, { deduplicationId: 'd' }), [
    {
      sequence,
      messageId,
      source: 'explicit',
      acceptedAt: startedAt,
      expiresAt: startedAt + 300_000,
    },
  ]);
  assert.deepEqual(explain(queue, { deduplicationId: 'other' }), []);
});

test('with scope messageGroup an id is looked up in its group (O6)', () => {
  const queue = openQueue({ fifo: true, attributes: { DeduplicationScope: 'messageGroup' } });
  queue.send({ deduplicationId: 'd', groupId: 'g1' });
  assert.equal(explain(queue, { deduplicationId: 'd', groupId: 'g1' }).length, 1);
  assert.equal(explain(queue, { deduplicationId: 'd', groupId: 'g2' }).length, 0);
});

test('without an id the newest window entries are listed, newest first (O6)', () => {
  const queue = openQueue({ fifo: true });
  const ids = [1, 2, 3].map(() => queue.send().messageId);
  assert.deepEqual(
    explain(queue, { limit: 2 }).map(({ messageId }) => messageId),
    [ids[2], ids[1]],
  );
});

function groups(
  queue: TestQueue,
  options: { isBlocked?: boolean; after?: number; limit?: number } = {},
): { groups: readonly GroupView[]; next: number | undefined } {
  const defaults = { isBlocked: false, limit: 10 } as const;
  const command = { type: 'list-groups', queue: queue.name, ...defaults, ...options } as const;
  return accepted(queue.home.apply(command));
}

test('a group is listed with its messages, those in flight, and the message that blocks it (O5)', () => {
  const queue = openQueue({ fifo: true });
  queue.sendNamed('g1-1', 'g1-2', 'g1-3', 'g2-1');
  const { messageId } = queue.receiveOne({ visibilitySeconds: 10 });
  const [first, second] = groups(queue).groups;
  assert.deepEqual([first?.groupId, first?.messages, first?.inFlight], ['g1', 3, 1]);
  assert.equal(first?.head.messageId, messageId);
  assert.equal(first?.head.visibleAt, startedAt + 10_000);
  assert.deepEqual([second?.groupId, second?.messages, second?.inFlight], ['g2', 1, 0]);
  assert.equal(second?.head.state, 'visible');
  assert.deepEqual(
    groups(queue, { isBlocked: true }).groups.map(({ groupId }) => groupId),
    ['g1'],
  );
  queue.advance(10);
  assert.deepEqual(groups(queue, { isBlocked: true }).groups, []);
});

test('a group counts its messages through sends and deletes, and disappears with the last (O5)', () => {
  const queue = openQueue({ fifo: true });
  queue.sendNamed('g1-1', 'g1-2');
  const counts = (): number[] => groups(queue).groups.map(({ messages }) => messages);
  assert.deepEqual(counts(), [2]);
  queue.remove(queue.receiveOne());
  assert.deepEqual(counts(), [1]);
  queue.remove(queue.receiveOne());
  assert.deepEqual(counts(), []);
});

test('groups come in pages, and a standard queue has none (O5)', () => {
  const queue = openQueue({ fifo: true });
  queue.sendNamed('g1-1', 'g2-1', 'g3-1');
  const first = groups(queue, { limit: 2 });
  assert.equal(first.groups.length, 2);
  const second = groups(queue, { limit: 2, after: first.next as number });
  assert.deepEqual(
    second.groups.map(({ groupId }) => groupId),
    ['g3'],
  );
  assert.equal(second.next, undefined);
  const standard = openQueue();
  standard.send();
  assert.deepEqual(groups(standard).groups, []);
});

test('accepted sends are counted by time, in equal parts of the window (O6)', () => {
  const queue = openQueue({ fifo: true });
  const parts = (): readonly number[] =>
    accepted(queue.home.apply({ type: 'count-sends', queue: queue.name, parts: 3 })).accepted;
  queue.send();
  queue.advance(150);
  queue.send();
  queue.send();
  assert.deepEqual(parts(), [0, 1, 2]);
  queue.advance(149);
  assert.deepEqual(parts(), [1, 2, 0]);
  queue.advance(1);
  assert.deepEqual(parts(), [0, 2, 0]);
});

test('peeking continues after a message that was deleted (O5)', () => {
  const queue = openQueue();
  const sequences = ['a', 'b', 'c'].map((body) => {
    queue.send({ body });
    return peek(queue).at(-1)?.sequence as number;
  });
  const after = sequences[0] as number;
  const behind = (): number[] => peek(queue, { after }).map(({ sequence }) => sequence);
  assert.deepEqual(behind(), sequences.slice(1));
  queue.remove(queue.receiveOne());
  assert.deepEqual(behind(), sequences.slice(1));
});
