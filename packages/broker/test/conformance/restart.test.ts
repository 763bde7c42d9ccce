/**
 * A restart changes nothing that a client can see: what was answered is kept, and time goes on where it was. Long polls and
 * what is remembered of suppressed sends end with the process.
 */

import assert from 'node:assert/strict';
import { accepted, assertRefused, redrivePolicy, startedAt, test } from './fixture.ts';

const restarts = { restarts: true };

test(
  'a duplicate is one after a restart, even if its original is gone',
  async (open) => {
    const queue = await open.queue({ fifo: true });
    const first = await queue.send({ deduplicationId: 'd' });
    await queue.remove(await queue.receiveOne());
    await queue.advance(299);
    await queue.home.restart();
    const again = await queue.send({ deduplicationId: 'd' });
    assert.deepEqual([again.isDuplicate, again.messageId], [true, first.messageId]);
    assert.equal(again.sequence, first.sequence);
    await queue.advance(1);
    assert.equal((await queue.send({ deduplicationId: 'd' })).isDuplicate, false);
  },
  restarts,
);

test(
  'a queue with the yandex profile still knows its bodies after a restart',
  async (open) => {
    const attributes = { ContentBasedDeduplication: 'true', Profile: 'yandex' };
    const queue = await open.queue({ fifo: true, attributes });
    const first = await queue.send({ body: 'b', deduplicationId: 'd1' });
    await queue.home.restart();
    const again = await queue.send({ body: 'b', deduplicationId: 'd2' });
    assert.deepEqual([again.isDuplicate, again.messageId], [true, first.messageId]);
    const [duplicate] = await queue.home.told('duplicate');
    assert.deepEqual(duplicate?.differed, { body: false, attributes: false, group: false });
  },
  restarts,
);

test(
  'a message in flight stays hidden and blocks its group, and its handle still deletes',
  async (open) => {
    const queue = await open.queue({ fifo: true });
    await queue.sendNamed('g1-1', 'g1-2', 'g2-1');
    const message = await queue.receiveOne({ visibilitySeconds: 60 });
    await queue.home.restart();
    assert.deepEqual(await queue.receiveBodies({ visibilitySeconds: 0 }), ['g2-1']);
    await queue.remove(message);
    assert.deepEqual(await queue.receiveBodies(), ['g1-2', 'g2-1']);
  },
  restarts,
);

test(
  'a visibility timeout and a delay end when they would have',
  async (open) => {
    const queue = await open.queue();
    await queue.send({ body: 'hidden' });
    await queue.receiveOne({ visibilitySeconds: 30 });
    await queue.send({ body: 'late', delaySeconds: 40 });
    await queue.advance(29.999);
    await queue.home.restart();
    assert.deepEqual(await queue.counts(), [0, 1, 1]);
    await queue.advance(0.001);
    assert.deepEqual(await queue.counts(), [1, 0, 1]);
    await queue.advance(10);
    const messages = await queue.receive();
    assert.deepEqual(
      messages.map(({ body, receiveCount }) => [body, receiveCount]),
      [
        ['hidden', 2],
        ['late', 1],
      ],
    );
  },
  restarts,
);

test(
  'a repeated attempt gets the same messages after a restart',
  async (open) => {
    const queue = await open.queue({ fifo: true });
    await queue.sendNamed('g1-1', 'g2-1');
    const messages = await queue.receive({ attemptId: 'a' });
    await queue.home.restart();
    assert.deepEqual(await queue.receive({ attemptId: 'a' }), messages);
  },
  restarts,
);

test(
  'settings, tags and the wait for a deleted name are kept',
  async (open) => {
    const queue = await open.queue({ attributes: { VisibilityTimeout: '7' } });
    const { home, name } = queue;
    accepted(await home.run({ type: 'tag-queue', queue: name, tags: { team: 'blue' } }));
    const gone = await home.createQueue('gone');
    await gone.delete();
    await home.restart();
    assert.equal((await queue.attributes('All'))['VisibilityTimeout'], '7');
    const { tags } = accepted(await home.run({ type: 'list-tags', queue: name }));
    assert.deepEqual({ ...tags }, { team: 'blue' });
    const again = { type: 'create-queue', queue: 'gone' } as const;
    assertRefused(await home.run(again), 'QueueDeletedRecently');
    await home.advance(60);
    accepted(await home.run(again));
  },
  restarts,
);

test(
  'a purged queue is empty after a restart, and a reset leaves nothing',
  async (open) => {
    const queue = await open.queue();
    await queue.send({ body: 'purged' });
    await queue.purge();
    await queue.send({ body: 'kept' });
    await queue.home.restart();
    assert.deepEqual(await queue.receiveBodies(), ['kept']);
    await queue.home.port.reset();
    await queue.home.restart();
    const { queues } = accepted(await queue.home.run({ type: 'list-queues' }));
    assert.deepEqual(queues, []);
  },
  restarts,
);

test(
  'a move task goes on where it was, at its pace',
  async (open) => {
    const home = await open.home();
    const dead = await home.createQueue('dead');
    const queue = await home.createQueue('jobs', { RedrivePolicy: redrivePolicy(dead.arn, 1) });
    await dead.sendBatch([{}, {}, {}]);
    const start = { type: 'start-move-task', sourceArn: dead.arn } as const;
    const target = { destinationArn: queue.arn, perSecond: 1 };
    accepted(await home.run({ ...start, ...target }));
    await home.advance(0);
    assert.deepEqual(await queue.counts(), [1, 0, 0]);
    await home.restart();
    await home.advance(1);
    assert.deepEqual(await queue.counts(), [2, 0, 0]);
    await home.advance(1);
    assert.deepEqual(await dead.counts(), [0, 0, 0]);
  },
  restarts,
);

test(
  'a topic keeps its subscriptions, its window and its archive',
  async (open) => {
    const ArchivePolicy = '{"MessageRetentionPeriod":"1"}';
    const topic = await open.topic({ fifo: true, attributes: { ArchivePolicy } });
    const { queue } = await topic.subscribeQueue('jobs.fifo');
    const first = await topic.publish({ message: 'first', deduplicationId: 'd' });
    await topic.home.restart();
    const again = await topic.publish({ message: 'again', deduplicationId: 'd' });
    assert.deepEqual([again.isDuplicate, again.messageId], [true, first.messageId]);
    await topic.publish({ message: 'second' });
    assert.deepEqual(await queue.receiveBodies(), ['first', 'second']);
    const StartingPoint = new Date(startedAt).toISOString();
    const ReplayPolicy = JSON.stringify({ PointType: 'Timestamp', StartingPoint });
    const late = await topic.subscribeQueue('late.fifo', { ReplayPolicy });
    await topic.home.advance(0);
    assert.deepEqual(await late.queue.receiveBodies(), ['first', 'second']);
  },
  restarts,
);

test(
  'a delivery that failed is tried again when it was due',
  async (open) => {
    const topic = await open.topic();
    const { home } = topic;
    accepted(await topic.trySubscribe({ protocol: 'http', endpoint: 'http://a.example/' }));
    await home.advance(0);
    const token = JSON.parse(home.posted[0]?.body ?? '').Token;
    accepted(await home.run({ type: 'confirm-subscription', topicArn: topic.arn, token }));
    home.answer = () => ({ ok: false, reason: 'status 503', isFinal: false });
    await topic.publish();
    await home.advance(0);
    const calls = home.posted.length;
    await home.restart();
    home.answer = () => ({ ok: true });
    await home.advance(19.999);
    assert.equal(home.posted.length, calls);
    await home.advance(0.001);
    assert.equal(home.posted.length, calls + 1);
    await home.advance(3600);
    assert.equal(home.posted.length, calls + 1);
  },
  restarts,
);

test(
  'time goes on where it was',
  async (open) => {
    // Nothing else happens that would be kept.
    const home = await open.home();
    await home.advance(86_400);
    await home.restart();
    assert.equal(home.now, startedAt + 86_400_000);
  },
  restarts,
);
