/**
 * Looking without touching: counts, messages in order, and what the deduplication window knows. None of this is a
 * receive, so nothing about the messages may change by it.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExplainedEntry, PeekedMessage } from '../../src/core/commands.ts';
import { accepted, openQueue, startedAt, type TestQueue } from './fixture.ts';

function peek(
  queue: TestQueue,
  options: { groupId?: string; limit?: number } = {},
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

test('a description counts messages, groups and ids, and dates the oldest message (O5)', () => {
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

test('an id can be asked for before it is sent again (O6)', () => {
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

test('with scope messageGroup an id is asked for in its group (O6)', () => {
  const queue = openQueue({ fifo: true, attributes: { DeduplicationScope: 'messageGroup' } });
  queue.send({ deduplicationId: 'd', groupId: 'g1' });
  assert.equal(explain(queue, { deduplicationId: 'd', groupId: 'g1' }).length, 1);
  assert.equal(explain(queue, { deduplicationId: 'd', groupId: 'g2' }).length, 0);
});

test('without an id the newest entries of the window are given, newest first (O6)', () => {
  const queue = openQueue({ fifo: true });
  const ids = [1, 2, 3].map(() => queue.send().messageId);
  assert.deepEqual(
    explain(queue, { limit: 2 }).map(({ messageId }) => messageId),
    [ids[2], ids[1]],
  );
});
