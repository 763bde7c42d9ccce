/**
 * Archive and replay of FIFO topics (§13): what is kept and for how long, replays in order and into normal delivery, ends, and
 * what a replayed message looks like.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime, readIsoTime } from '../../../src/core/iso-time.ts';
import { accepted, arnOf, assertRefused, startedAt } from '../fixture.ts';
import { openTopic, openTopics, type TestTopic } from './fixture.ts';

const invalid = 'InvalidParameterException';
const dayMs = 86_400_000;

function openArchive(days = 1): TestTopic {
  const ArchivePolicy = JSON.stringify({ MessageRetentionPeriod: String(days) });
  return openTopic({ fifo: true, attributes: { ArchivePolicy } });
}

function replayPolicy(from: number, until?: number): string {
  const end = until === undefined ? {} : { EndingPoint: isoTime(until) };
  return JSON.stringify({ PointType: 'Timestamp', StartingPoint: isoTime(from), ...end });
}

function archived(topic: TestTopic): number {
  const described = topic.home.apply({ type: 'describe-topic', topic: topic.name });
  return accepted(described).archived;
}

test('an archive keeps publications for its retention period (13.1)', () => {
  const topic = openArchive();
  topic.publish();
  topic.home.advance(86_399);
  topic.publish();
  assert.equal(archived(topic), 2);
  topic.home.advance(1);
  assert.equal(archived(topic), 1);
});

test('a topic shows the earliest time its archive can be replayed from (13.1)', () => {
  const topic = openArchive();
  topic.home.advance(86_400);
  assert.equal(topic.attributes()['BeginningArchiveTime'], isoTime(startedAt));
  topic.home.advance(60);
  assert.equal(topic.attributes()['BeginningArchiveTime'], isoTime(startedAt + 60_000));
});

test('a retention is 1 to 365 days (13.1)', () => {
  const topic = openTopic({ fifo: true });
  for (const days of ['0', '366', 'x', '1.5']) {
    const policy = JSON.stringify({ MessageRetentionPeriod: days });
    assertRefused(topic.trySet('ArchivePolicy', policy), invalid);
  }
  for (const days of ['{"toString":1}', '["30"]', 'true']) {
    const policy = `{"MessageRetentionPeriod":${days}}`;
    assertRefused(topic.trySet('ArchivePolicy', policy), invalid);
  }
  assertRefused(topic.trySet('ArchivePolicy', 'no'), invalid);
  topic.set('ArchivePolicy', '{"MessageRetentionPeriod":"365"}');
});

test('{} ends the archive and erases it (13.1)', () => {
  const topic = openArchive();
  topic.publish();
  topic.set('ArchivePolicy', '{}');
  assert.equal(archived(topic), 0);
  const { ArchivePolicy, BeginningArchiveTime } = topic.attributes();
  assert.deepEqual([ArchivePolicy, BeginningArchiveTime], [undefined, undefined]);
});

test('a topic that archives cannot be deleted (13.1)', () => {
  const topic = openArchive();
  const remove = () => topic.home.apply({ type: 'delete-topic', topicArn: topic.arn });
  assertRefused(remove(), 'InvalidStateException');
  topic.set('ArchivePolicy', '{}');
  accepted(remove());
});

test('a replay delivers publications in order from its start, followed by new ones (13.2)', () => {
  const topic = openArchive();
  topic.publishAll('before');
  topic.home.advance(10);
  topic.publishAll('1', '2');
  const { queue, subscriptionArn } = topic.subscribeQueue('jobs.fifo', {
    ReplayPolicy: replayPolicy(startedAt + 10_000),
  });
  assert.equal(topic.attributesOf(subscriptionArn)['ReplayStatus'], 'In progress');
  // Published before the replay has begun: it comes after what is older.
  topic.publishAll('3');
  topic.home.advance(0);
  assert.equal(topic.attributesOf(subscriptionArn)['ReplayStatus'], 'Completed');
  topic.publishAll('4');
  assert.deepEqual(queue.receiveBodies(), ['1', '2', '3', '4']);
});

test('a replay that takes more than one command is complete and in order (13.2)', () => {
  const topic = openArchive();
  const messages = Array.from({ length: 250 }, (_, at) => String(at));
  topic.publishAll(...messages);
  const { queue } = topic.subscribeQueue('jobs.fifo', { ReplayPolicy: replayPolicy(startedAt) });
  topic.home.advance(0);
  const received: string[] = [];
  for (let batch = queue.receive(); batch.length > 0; batch = queue.receive()) {
    received.push(...batch.map(({ body }) => body));
    queue.remove(...batch);
  }
  assert.deepEqual(received, messages);
});

test('after the end of its replay a subscription is paused until it gets another policy (13.2)', () => {
  const topic = openArchive();
  topic.publishAll('1');
  topic.home.advance(10);
  topic.publishAll('2');
  const { queue, subscriptionArn } = topic.subscribeQueue('jobs.fifo', {
    ReplayPolicy: replayPolicy(startedAt, startedAt + 5_000),
  });
  topic.home.advance(0);
  topic.publishAll('3');
  assert.deepEqual(queue.receiveBodies(), ['1']);
  const next = replayPolicy(startedAt + 10_000);
  accepted(topic.trySetOn(subscriptionArn, 'ReplayPolicy', next));
  topic.home.advance(0);
  topic.publishAll('4');
  queue.remove();
  queue.advance(30);
  assert.deepEqual(queue.receiveBodies(), ['1', '2', '3', '4']);
});

test("until a replay's end in the future the subscription receives new publications (13.2)", () => {
  const topic = openArchive();
  topic.publishAll('1');
  const { queue, subscriptionArn } = topic.subscribeQueue('jobs.fifo', {
    ReplayPolicy: replayPolicy(startedAt, startedAt + 60_000),
  });
  const status = (): string | undefined => topic.attributesOf(subscriptionArn)['ReplayStatus'];
  topic.home.advance(5);
  topic.publishAll('2');
  topic.home.advance(55);
  assert.equal(status(), 'In progress');
  topic.publishAll('3');
  topic.home.advance(0.001);
  assert.equal(status(), 'Completed');
  topic.publishAll('4');
  topic.home.advance(1);
  assert.deepEqual(queue.receiveBodies(), ['1', '2', '3']);
});

test('a replay policy has a type, a start and an optional end, and needs an archive (13.2)', () => {
  const topic = openArchive();
  const subscribe = (ReplayPolicy: string) =>
    topic.trySubscribe({ endpoint: arnOf('jobs.fifo'), attributes: { ReplayPolicy } });
  for (const policy of [
    'no',
    '{}',
    '{"PointType":"Timestamp"}',
    '{"PointType":"Timestamp","StartingPoint":"yesterday"}',
    '{"PointType":"Timestamp","StartingPoint":"2026-13-01T00:00:00Z"}',
    replayPolicy(startedAt + dayMs, startedAt),
  ]) {
    assertRefused(subscribe(policy), invalid);
  }
  const plain = openTopic({ fifo: true });
  const attributes = { ReplayPolicy: replayPolicy(startedAt) };
  const outcome = plain.trySubscribe({ endpoint: arnOf('jobs.fifo'), attributes });
  assertRefused(
    outcome,
    invalid,
    'Invalid parameter: Attributes Reason: ReplayPolicy: the topic has no ArchivePolicy',
  );
});

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

test('a replayed message keeps its text, id and time, and is marked as replayed (13.3)', () => {
  const topic = openArchive();
  const { messageId } = topic.publish();
  topic.home.advance(10);
  const queue = topic.home.createQueue('jobs.fifo');
  topic.subscribe(queue, { ReplayPolicy: replayPolicy(startedAt) });
  topic.home.advance(0);
  const envelope = JSON.parse(queue.receiveOne().body);
  assert.deepEqual(
    [envelope.MessageId, envelope.Message, envelope.Timestamp, envelope.Replayed],
    [messageId, 'hello', isoTime(startedAt), true],
  );
});

test('a replay is delivered even though the queue’s window still holds the first delivery (13.3)', () => {
  const topic = openArchive();
  const { queue, subscriptionArn } = topic.subscribeQueue('jobs.fifo');
  topic.publish();
  queue.remove(...queue.receive());
  accepted(topic.trySetOn(subscriptionArn, 'ReplayPolicy', replayPolicy(startedAt)));
  topic.home.advance(0);
  assert.deepEqual(queue.receiveBodies(), ['hello']);
});

test('the filter policy is applied again (13.3)', () => {
  const topic = openArchive();
  topic.publish({ attributes: [{ name: 'kind', type: 'String', stringValue: 'price' }] });
  topic.publishAll('other');
  const { queue } = topic.subscribeQueue('jobs.fifo', {
    ReplayPolicy: replayPolicy(startedAt),
    FilterPolicy: '{"kind":["price"]}',
  });
  topic.home.advance(0);
  assert.deepEqual(queue.receiveBodies(), ['hello']);
});

test('times are written and parsed as Date does', () => {
  for (const time of [0, -1, startedAt, 951_782_400_000, 4_107_542_399_999, 1_709_164_800_000]) {
    assert.equal(isoTime(time), new Date(time).toISOString());
    assert.equal(readIsoTime(isoTime(time)), time);
  }
  assert.equal(readIsoTime('2026-01-01T01:00:00+01:00'), Date.UTC(2026, 0, 1));
  assert.equal(readIsoTime('2026-01-01T00:00Z'), Date.UTC(2026, 0, 1));
  for (const text of ['2026-01-01', '2026-01-01T24:00:00Z', '2026-00-01T00:00:00Z']) {
    assert.equal(readIsoTime(text), undefined);
  }
});
