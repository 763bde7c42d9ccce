/**
 * One publish is one list of changes, so that no store can keep a part of it. What queues get is in
 * conformance/topic/fifo-topics.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTopic } from './fixture.ts';

test('one publish produces its window entry and all messages as one list of changes (10.7)', () => {
  const topic = openTopic({ fifo: true });
  topic.subscribeQueue('a.fifo');
  topic.subscribeQueue('b.fifo');
  const before = topic.home.changes.length;
  topic.publish();
  const kinds = topic.home.changes.slice(before).map(({ kind }) => kind);
  assert.deepEqual(
    kinds.filter((kind) => kind === 'topic-window' || kind === 'message'),
    ['topic-window', 'message', 'message'],
  );
});
