/**
 * What a store leaves out when it loads a window is what the engine would drop: both find an entry expired at the same
 * millisecond.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change, OwnerPut } from '../../../src/core/changes.ts';
import type { Command } from '../../../src/core/commands.ts';
import { windowExpiredUntil } from '../../../src/core/deduplication/window-expiry.ts';
import { Engine } from '../../../src/core/engine.ts';

const createdAt = 1_700_000_000_000;
const acceptedAt = createdAt + 5;

const lives: Readonly<Record<string, readonly [Command, (arn: string) => Command]>> = {
  'a queue with an interval of its own': [
    {
      type: 'create-queue',
      queue: 'jobs.fifo',
      attributes: { FifoQueue: 'true', DeduplicationIntervalSeconds: '60' },
      tags: {},
    },
    () => ({
      type: 'send',
      queue: 'jobs.fifo',
      isBatch: false,
      entries: [{ body: 'b', groupId: 'g', deduplicationId: 'd' }],
    }),
  ],
  'a topic': [
    { type: 'create-topic', name: 'news.fifo', attributes: { FifoTopic: 'true' } },
    (topicArn) => ({
      type: 'publish',
      topicArn,
      isBatch: false,
      entries: [{ message: 'm', groupId: 'g', deduplicationId: 'd' }],
      baseUrl: '',
    }),
  ],
};

for (const [title, [create, send]] of Object.entries(lives)) {
  test(`the window entry of ${title} expires for a store when it expires in the engine`, () => {
    const engine = new Engine();
    const ids = { uuid: () => '00000000-0000-4000-8000-000000000000' };
    const created = engine.apply(create, { now: createdAt, ids });
    const put = created.changes.find(isOwnerPut) ?? assert.fail('nothing was created');
    const arn = 'topicArn' in created.outcome ? String(created.outcome.topicArn) : '';
    assert.equal(engine.apply(send(arn), { now: acceptedAt, ids }).outcome.ok, true);
    const expiresAt = engine.nextDueAt() ?? assert.fail('nothing expires');
    assert.equal(windowExpiredUntil(put, expiresAt), acceptedAt);
    const { changes } = engine.apply({ type: 'tick' }, { now: expiresAt, ids });
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      [put.kind === 'queue' ? 'window' : 'topic-window'],
    );
  });
}

function isOwnerPut(change: Change): change is OwnerPut {
  return (change.kind === 'queue' || change.kind === 'topic') && change.value !== null;
}
