/**
 * Replays that have not begun: a backend begins them at once, so only the engine shows how many there may be, and one whose archive
 * ends before. Everything else about them is in conformance/topic/archive-and-replay.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime } from '../../../src/core/iso-time.ts';
import { accepted, arnOf, assertRefused, startedAt } from '../fixture.ts';
import { openTopic, openTopics, type TestTopic } from './fixture.ts';

function openArchive(days = 1): TestTopic {
  const ArchivePolicy = JSON.stringify({ MessageRetentionPeriod: String(days) });
  return openTopic({ fifo: true, attributes: { ArchivePolicy } });
}

function replayPolicy(from: number, until?: number): string {
  const end = until === undefined ? {} : { EndingPoint: isoTime(until) };
  return JSON.stringify({ PointType: 'Timestamp', StartingPoint: isoTime(from), ...end });
}

test('up to 100 replays run at once (13.2)', () => {
  const home = openTopics();
  const ArchivePolicy = '{"MessageRetentionPeriod":"1"}';
  const topics = ['a.fifo', 'b.fifo'].map((name) => home.createTopic(name, { ArchivePolicy }));
  const attributes = { ReplayPolicy: replayPolicy(startedAt) };
  const subscribe = (topic: TestTopic | undefined, at: number) =>
    topic?.trySubscribe({ endpoint: arnOf(`q${at}.fifo`), attributes });
  for (let at = 0; at < 100; at += 1) accepted(subscribe(topics[at % 2], at) as { ok: boolean });
  assertRefused(subscribe(topics[0], 100), 'ReplayLimitExceededException');
});

test('a replay fails when its archive ends, and live delivery continues (13.2)', () => {
  const topic = openArchive();
  topic.publish();
  const { queue, subscriptionArn } = topic.subscribeQueue('jobs.fifo', {
    ReplayPolicy: replayPolicy(startedAt),
  });
  topic.set('ArchivePolicy', '{}');
  assert.equal(topic.attributesOf(subscriptionArn)['ReplayStatus'], 'Failed');
  topic.publishAll('live');
  assert.deepEqual(queue.receiveBodies(), ['live']);
});

test('a replay that has not begun is in progress, and what is published meanwhile follows it (13.2)', () => {
  const topic = openArchive();
  topic.publishAll('1', '2');
  const { queue, subscriptionArn } = topic.subscribeQueue('jobs.fifo', {
    ReplayPolicy: replayPolicy(startedAt),
  });
  assert.equal(topic.attributesOf(subscriptionArn)['ReplayStatus'], 'In progress');
  topic.publishAll('3');
  topic.home.advance(0);
  assert.deepEqual(queue.receiveBodies(), ['1', '2', '3']);
});
