/**
 * Archive and replay of FIFO topics (§13): what is kept and for how long, replays in order and into normal delivery, ends, and
 * what a replayed message looks like.
 */

import assert from 'node:assert/strict';
import { isoTime } from '../../../src/core/iso-time.ts';
import {
  accepted,
  arnOf,
  assertRefused,
  type Opener,
  startedAt,
  type TestTopic,
  test,
} from '../fixture.ts';

const invalid = 'InvalidParameterException';
const dayMs = 86_400_000;

async function openArchive(open: Opener, days = 1): Promise<TestTopic> {
  const ArchivePolicy = JSON.stringify({ MessageRetentionPeriod: String(days) });
  return await open.topic({ fifo: true, attributes: { ArchivePolicy } });
}

function replayPolicy(from: number, until?: number): string {
  const end = until === undefined ? {} : { EndingPoint: isoTime(until) };
  return JSON.stringify({ PointType: 'Timestamp', StartingPoint: isoTime(from), ...end });
}

async function archived(topic: TestTopic): Promise<number> {
  const described = await topic.home.run({ type: 'describe-topic', topic: topic.name });
  return accepted(described).archived;
}

test('an archive keeps publications for its retention period (13.1)', async (open) => {
  const topic = await openArchive(open);
  await topic.publish();
  await topic.home.advance(86_399);
  await topic.publish();
  assert.equal(await archived(topic), 2);
  await topic.home.advance(1);
  assert.equal(await archived(topic), 1);
});

test('a topic shows the earliest time its archive can be replayed from (13.1)', async (open) => {
  const topic = await openArchive(open);
  await topic.home.advance(86_400);
  assert.equal((await topic.attributes())['BeginningArchiveTime'], isoTime(startedAt));
  await topic.home.advance(60);
  assert.equal((await topic.attributes())['BeginningArchiveTime'], isoTime(startedAt + 60_000));
});

test('a retention is 1 to 365 days (13.1)', async (open) => {
  const topic = await open.topic({ fifo: true });
  for (const days of ['0', '366', 'x', '1.5']) {
    const policy = JSON.stringify({ MessageRetentionPeriod: days });
    assertRefused(await topic.trySet('ArchivePolicy', policy), invalid);
  }
  for (const days of ['{"toString":1}', '["30"]', 'true']) {
    const policy = `{"MessageRetentionPeriod":${days}}`;
    assertRefused(await topic.trySet('ArchivePolicy', policy), invalid);
  }
  assertRefused(await topic.trySet('ArchivePolicy', 'no'), invalid);
  await topic.set('ArchivePolicy', '{"MessageRetentionPeriod":"365"}');
});

test('{} ends the archive and erases it (13.1)', async (open) => {
  const topic = await openArchive(open);
  await topic.publish();
  await topic.set('ArchivePolicy', '{}');
  assert.equal(await archived(topic), 0);
  const { ArchivePolicy, BeginningArchiveTime } = await topic.attributes();
  assert.deepEqual([ArchivePolicy, BeginningArchiveTime], [undefined, undefined]);
});

test('a topic that archives cannot be deleted (13.1)', async (open) => {
  const topic = await openArchive(open);
  const remove = async () => await topic.home.run({ type: 'delete-topic', topicArn: topic.arn });
  assertRefused(await remove(), 'InvalidStateException');
  await topic.set('ArchivePolicy', '{}');
  accepted(await remove());
});

test('a replay delivers publications in order from its start, followed by new ones (13.2)', async (open) => {
  const topic = await openArchive(open);
  await topic.publishAll('before');
  await topic.home.advance(10);
  await topic.publishAll('1', '2');
  const { queue, subscriptionArn } = await topic.subscribeQueue('jobs.fifo', {
    ReplayPolicy: replayPolicy(startedAt + 10_000),
  });
  // Whether or not the replay has begun, this comes after what is older.
  await topic.publishAll('3');
  await topic.home.advance(0);
  assert.equal((await topic.attributesOf(subscriptionArn))['ReplayStatus'], 'Completed');
  await topic.publishAll('4');
  assert.deepEqual(await queue.receiveBodies(), ['1', '2', '3', '4']);
});

test('a replay that takes more than one command is complete and in order (13.2)', async (open) => {
  const topic = await openArchive(open);
  const messages = Array.from({ length: 250 }, (_, at) => String(at));
  await topic.publishAll(...messages);
  const { queue } = await topic.subscribeQueue('jobs.fifo', {
    ReplayPolicy: replayPolicy(startedAt),
  });
  await topic.home.advance(0);
  const received: string[] = [];
  for (let batch = await queue.receive(); batch.length > 0; batch = await queue.receive()) {
    received.push(...batch.map(({ body }) => body));
    await queue.remove(...batch);
  }
  assert.deepEqual(received, messages);
});

test('after the end of its replay a subscription is paused until it gets another policy (13.2)', async (open) => {
  const topic = await openArchive(open);
  await topic.publishAll('1');
  await topic.home.advance(10);
  await topic.publishAll('2');
  const { queue, subscriptionArn } = await topic.subscribeQueue('jobs.fifo', {
    ReplayPolicy: replayPolicy(startedAt, startedAt + 5_000),
  });
  await topic.home.advance(0);
  await topic.publishAll('3');
  assert.deepEqual(await queue.receiveBodies(), ['1']);
  const next = replayPolicy(startedAt + 10_000);
  accepted(await topic.trySetOn(subscriptionArn, 'ReplayPolicy', next));
  await topic.home.advance(0);
  await topic.publishAll('4');
  await queue.remove();
  await queue.advance(30);
  assert.deepEqual(await queue.receiveBodies(), ['1', '2', '3', '4']);
});

test("until a replay's end in the future the subscription receives new publications (13.2)", async (open) => {
  const topic = await openArchive(open);
  await topic.publishAll('1');
  const { queue, subscriptionArn } = await topic.subscribeQueue('jobs.fifo', {
    ReplayPolicy: replayPolicy(startedAt, startedAt + 60_000),
  });
  const status = async (): Promise<string | undefined> =>
    (await topic.attributesOf(subscriptionArn))['ReplayStatus'];
  await topic.home.advance(5);
  await topic.publishAll('2');
  await topic.home.advance(55);
  assert.equal(await status(), 'In progress');
  await topic.publishAll('3');
  await topic.home.advance(0.001);
  assert.equal(await status(), 'Completed');
  await topic.publishAll('4');
  await topic.home.advance(1);
  assert.deepEqual(await queue.receiveBodies(), ['1', '2', '3']);
});

test('a replay policy has a type, a start and an optional end, and needs an archive (13.2)', async (open) => {
  const topic = await openArchive(open);
  const subscribe = async (ReplayPolicy: string) =>
    await topic.trySubscribe({ endpoint: arnOf('jobs.fifo'), attributes: { ReplayPolicy } });
  for (const policy of [
    'no',
    '{}',
    '{"PointType":"Timestamp"}',
    '{"PointType":"Timestamp","StartingPoint":"yesterday"}',
    '{"PointType":"Timestamp","StartingPoint":"2026-13-01T00:00:00Z"}',
    replayPolicy(startedAt + dayMs, startedAt),
  ]) {
    assertRefused(await subscribe(policy), invalid);
  }
  const plain = await open.topic({ fifo: true });
  const attributes = { ReplayPolicy: replayPolicy(startedAt) };
  const outcome = await plain.trySubscribe({ endpoint: arnOf('jobs.fifo'), attributes });
  assertRefused(
    outcome,
    invalid,
    'Invalid parameter: Attributes Reason: ReplayPolicy: the topic has no ArchivePolicy',
  );
});

test('a replayed message keeps its text, id and time, and is marked as replayed (13.3)', async (open) => {
  const topic = await openArchive(open);
  const { messageId } = await topic.publish();
  await topic.home.advance(10);
  const queue = await topic.home.createQueue('jobs.fifo');
  await topic.subscribe(queue, { ReplayPolicy: replayPolicy(startedAt) });
  await topic.home.advance(0);
  const envelope = JSON.parse((await queue.receiveOne()).body);
  assert.deepEqual(
    [envelope.MessageId, envelope.Message, envelope.Timestamp, envelope.Replayed],
    [messageId, 'hello', isoTime(startedAt), true],
  );
});

test('a replay is delivered even though the queue’s window still holds the first delivery (13.3)', async (open) => {
  const topic = await openArchive(open);
  const { queue, subscriptionArn } = await topic.subscribeQueue('jobs.fifo');
  await topic.publish();
  await queue.remove(...(await queue.receive()));
  accepted(await topic.trySetOn(subscriptionArn, 'ReplayPolicy', replayPolicy(startedAt)));
  await topic.home.advance(0);
  assert.deepEqual(await queue.receiveBodies(), ['hello']);
});

test('the filter policy is applied again (13.3)', async (open) => {
  const topic = await openArchive(open);
  await topic.publish({ attributes: [{ name: 'kind', type: 'String', stringValue: 'price' }] });
  await topic.publishAll('other');
  const { queue } = await topic.subscribeQueue('jobs.fifo', {
    ReplayPolicy: replayPolicy(startedAt),
    FilterPolicy: '{"kind":["price"]}',
  });
  await topic.home.advance(0);
  assert.deepEqual(await queue.receiveBodies(), ['hello']);
});
