/**
 * What expires together is removed by several ticks, a bounded part by each (limits.ts). No answer depends on how far they
 * are; the simulations, whose ticks remove next to nothing, hold the engine to that in general.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change } from '../../src/core/changes.ts';
import type { Outcome } from '../../src/core/commands.ts';
import { Engine } from '../../src/core/engine.ts';
import { strictLimits } from '../../src/core/limits.ts';
import {
  accepted,
  openEngine,
  openQueue,
  openQueueWithDeadLetters,
  startedAt,
  type TestEngine,
  type TestQueue,
} from './fixture.ts';
import { TopicEngine } from './topic/fixture.ts';

const limits = { ...strictLimits, expiredPerTickMax: 3 };
const minute = { MessageRetentionPeriod: '60' };

function tick(home: TestEngine): Extract<Outcome<'tick'>, { ok: true }> {
  return accepted(home.apply({ type: 'tick' }));
}

function isBehind({ home, name }: TestQueue): boolean {
  return home.engine.isBehind({ type: 'describe-queue', queue: name }, home.now);
}

function expiredIn({ home, name }: TestQueue): number {
  return home.events.filter((event) => event.type === 'expired' && event.queue === name).length;
}

test('a tick removes a bounded number of messages and leaves the others due at once (9.9)', () => {
  for (const fifo of [false, true]) {
    const queue = openQueue({ fifo, attributes: minute, limits });
    for (let at = 0; at < 7; at += 1) queue.send();
    const { home } = queue;
    home.now += 60_000;
    for (const [removed, isUnfinished] of [
      [3, true],
      [6, true],
      [7, false],
    ]) {
      assert.ok((home.engine.nextDueAt() as number) <= home.now);
      assert.equal(tick(home).isUnfinished, isUnfinished);
      assert.equal(expiredIn(queue), removed);
      assert.equal(isBehind(queue), isUnfinished);
    }
  }
});

test('window entries and attempts count as messages do, in one bound for all (9.9)', () => {
  const queue = openQueue({ fifo: true, limits });
  for (const groupId of ['a', 'b', 'c']) {
    queue.send({ groupId });
    queue.remove(queue.receiveOne({ attemptId: groupId }));
  }
  const { home } = queue;
  home.now += 300_000;
  assert.equal(tick(home).isUnfinished, true);
  assert.equal(tick(home).isUnfinished, false);
  assert.equal(home.engine.nextDueAt(), undefined);
});

test('where a tick stopped, commands see nothing that has expired (9.9)', () => {
  const queue = openQueue({ fifo: true, attributes: minute, limits });
  for (let at = 0; at < 7; at += 1) queue.send({ deduplicationId: `old-${at}` });
  queue.home.now += 300_000;
  queue.send({ body: 'fresh' });
  queue.home.now += 1;
  tick(queue.home);
  assert.equal(queue.send({ deduplicationId: 'old-6', body: 'again' }).isDuplicate, false);
  assert.deepEqual(queue.counts(), [2, 0, 0]);
  assert.deepEqual(queue.receiveBodies(), ['fresh', 'again']);
});

test('engines that learned of things in different orders remove the same first', () => {
  const home = new TopicEngine({ limits });
  const queue = home.createQueue('jobs.fifo');
  for (const groupId of ['c', 'b', 'a', 'd']) {
    queue.send({ groupId });
    queue.remove(queue.receiveOne({ attemptId: groupId }));
  }
  const topic = home.createTopic('prices');
  for (const name of ['c', 'b', 'a', 'd']) {
    const endpoint = `http://${name}.example`;
    accepted(topic.trySubscribe({ protocol: 'http', endpoint }));
  }
  const other = new Engine({ limits });
  const isEither = ({ kind }: Change): boolean => kind === 'attempt' || kind === 'subscription';
  other.absorb(
    [...home.changes.filter((it) => !isEither(it)), ...home.changes.filter(isEither).reverse()],
    home.now,
  );
  home.now += 172_800_000;
  for (let isUnfinished = true; isUnfinished; ) {
    const context = { now: home.now, ids: home };
    const expected = home.engine.apply({ type: 'tick' }, context);
    const { outcome, changes } = other.apply({ type: 'tick' }, context);
    assert.deepEqual(changes, expected.changes);
    isUnfinished = accepted(outcome).isUnfinished;
  }
});

test('a queue with much to remove holds up no other', () => {
  const home = openEngine({ ...strictLimits, expiredPerTickMax: 10 });
  const large = home.createQueue('a-large', minute);
  const small = home.createQueue('b-small', minute);
  for (let at = 0; at < 100; at += 1) large.send();
  small.send();
  small.send();
  home.now += 60_000;
  assert.equal(tick(home).isUnfinished, true);
  assert.deepEqual([expiredIn(large), expiredIn(small)], [5, 2]);
  assert.deepEqual([isBehind(large), isBehind(small)], [true, false]);
});

test('creating a queue that is there, or finding it, is not behind with it', () => {
  const queue = openQueue({ attributes: minute, limits });
  for (let at = 0; at < 7; at += 1) queue.send();
  const { home, name } = queue;
  home.now += 60_000;
  const isBehindWith = (type: 'create-queue' | 'find-queue'): boolean =>
    home.engine.isBehind({ type, queue: name }, home.now);
  assert.equal(isBehind(queue), true);
  assert.equal(isBehindWith('create-queue'), false);
  assert.equal(isBehindWith('find-queue'), false);
});

test('a task moves nothing that has expired, wherever a tick stopped (9.9)', () => {
  const { queue, dead } = openQueueWithDeadLetters({ limits });
  for (let at = 0; at < 7; at += 1) queue.send();
  for (let at = 0; at < 2; at += 1) queue.receive({ visibilitySeconds: 0 });
  assert.deepEqual(dead.counts(), [7, 0, 0]);
  dead.set(minute);
  const { home } = queue;
  accepted(home.apply({ type: 'start-move-task', sourceArn: dead.arn }));
  home.now += 60_000;
  assert.equal(tick(home).isUnfinished, true);
  queue.advance(0);
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});

test('a replay brings nothing that has expired, wherever a tick stopped', () => {
  const home = new TopicEngine({ limits });
  const ArchivePolicy = JSON.stringify({ MessageRetentionPeriod: '1' });
  const topic = home.createTopic('prices.fifo', { ArchivePolicy });
  topic.publishAll('1', '2', '3', '4', '5', '6', '7');
  topic.home.now += 86_400_000 - 1;
  topic.publishAll('fresh');
  const StartingPoint = new Date(startedAt).toISOString();
  const { queue } = topic.subscribeQueue('jobs.fifo', {
    ReplayPolicy: JSON.stringify({ PointType: 'Timestamp', StartingPoint }),
  });
  home.now += 1;
  const { isUnfinished, replays } = tick(home);
  assert.deepEqual([isUnfinished, replays], [true, []]);
  home.advance(0);
  assert.deepEqual(queue.receiveBodies(), ['fresh']);
});
