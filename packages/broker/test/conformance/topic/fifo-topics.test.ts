/**
 * FIFO topics (§10): deduplication across the whole topic, order, sequence numbers, and what of all that reaches queues.
 * One publish is one list of changes.
 */

import assert from 'node:assert/strict';
import { sha256Hex } from '../../../src/core/digest/digests.ts';
import { assertRefused, test } from '../fixture.ts';

const contentBased = { ContentBasedDeduplication: 'true' };

test('every queue gets the messages of a group in the order of publication (10.1)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const queues = [
    (await topic.subscribeQueue('a.fifo')).queue,
    (await topic.subscribeQueue('b.fifo')).queue,
  ];
  await topic.publishAll('1', '2', '3');
  for (const queue of queues) assert.deepEqual(await queue.receiveBodies(), ['1', '2', '3']);
});

test('a publication without a group is refused (10.2)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const text = 'Invalid parameter: The MessageGroupId parameter is required for FIFO topics';
  assertRefused(await topic.tryPublish({ groupId: undefined }), 'InvalidParameterException', text);
});

test('a publication without an id is refused unless deduplication is content-based (10.3)', async (open) => {
  const topic = await open.topic({ fifo: true });
  assertRefused(
    await topic.tryPublish({ deduplicationId: undefined }),
    'InvalidParameterException',
    'Invalid parameter: The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
  );
});

test('a missing group is reported before a missing id (10.2, 10.3)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const outcome = await topic.tryPublish({ groupId: undefined, deduplicationId: undefined });
  assertRefused(
    outcome,
    'InvalidParameterException',
    'Invalid parameter: The MessageGroupId parameter is required for FIFO topics',
  );
});

test('ids have 1 to 128 letters, digits and punctuation (10.4)', async (open) => {
  const topic = await open.topic({ fifo: true });
  for (const id of ['', ' ', 'é', 'x'.repeat(129)]) {
    assertRefused(await topic.tryPublish({ groupId: id }), 'InvalidParameterException');
    assertRefused(await topic.tryPublish({ deduplicationId: id }), 'InvalidParameterException');
  }
  await topic.publish({ groupId: 'x'.repeat(128), deduplicationId: '!~' });
});

test('the content hash covers only the message, not attributes or subject (10.5)', async (open) => {
  const topic = await open.topic({ fifo: true, attributes: contentBased });
  const { queue } = await topic.subscribeQueue('jobs.fifo');
  const wholesale = [{ name: 'business', type: 'String', stringValue: 'wholesale' }];
  const first = await topic.publish({
    deduplicationId: undefined,
    attributes: wholesale,
    subject: 'a',
  });
  const second = await topic.publish({ deduplicationId: undefined, subject: 'b' });
  assert.equal(second.messageId, first.messageId);
  assert.equal(second.isDuplicate, true);
  const [message] = await queue.receive();
  assert.equal(message?.content.deduplicationId, sha256Hex('hello'));
});

test('an explicit id takes precedence over the hash, in both directions (10.6)', async (open) => {
  const topic = await open.topic({ fifo: true, attributes: contentBased });
  const { queue } = await topic.subscribeQueue('jobs.fifo');
  await topic.publish({ message: 'same', deduplicationId: 'a' });
  await topic.publish({ message: 'same', deduplicationId: 'b' });
  await topic.publish({ message: 'hashed', deduplicationId: undefined });
  assert.ok(
    (await topic.publish({ message: 'other', deduplicationId: sha256Hex('hashed') })).isDuplicate,
  );
  assert.deepEqual(await queue.receiveBodies(), ['same', 'same', 'hashed']);
});

test('a duplicate is delivered to no queue, even after the first was deleted and with another group (10.7)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const { queue } = await topic.subscribeQueue('jobs.fifo');
  const { queue: standard } = await topic.subscribeQueue('jobs');
  await topic.publish({ deduplicationId: 'd' });
  await queue.remove(...(await queue.receive()));
  await standard.remove(...(await standard.receive()));
  assert.ok((await topic.publish({ deduplicationId: 'd', groupId: 'other' })).isDuplicate);
  assert.deepEqual([await queue.receiveBodies(), await standard.receiveBodies()], [[], []]);
});

test('the topic remembers an id that no queue ever received (10.7)', async (open) => {
  const topic = await open.topic({ fifo: true });
  await topic.publish({ deduplicationId: 'd' });
  const { queue } = await topic.subscribeQueue('jobs.fifo');
  assert.ok((await topic.publish({ deduplicationId: 'd' })).isDuplicate);
  assert.deepEqual(await queue.receiveBodies(), []);
});

test('a duplicate is answered with the ids of the original (10.8)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const first = await topic.publish({ deduplicationId: 'd' });
  const { messageId, sequence } = await topic.publish({ deduplicationId: 'd', message: 'other' });
  assert.deepEqual([messageId, sequence], [first.messageId, first.sequence]);
});

test('the window is five minutes from the first publication, and a duplicate does not extend it (10.9)', async (open) => {
  const topic = await open.topic({ fifo: true });
  await topic.publish({ deduplicationId: 'd' });
  await topic.home.advance(299.999);
  assert.ok((await topic.publish({ deduplicationId: 'd' })).isDuplicate);
  await topic.home.advance(0.001);
  assert.equal((await topic.publish({ deduplicationId: 'd' })).isDuplicate, false);
});

test('with FifoThroughputScope MessageGroup each group has its own ids (10.10)', async (open) => {
  const topic = await open.topic({
    fifo: true,
    attributes: { FifoThroughputScope: 'MessageGroup' },
  });
  await topic.publish({ deduplicationId: 'd', groupId: 'a' });
  assert.equal((await topic.publish({ deduplicationId: 'd', groupId: 'b' })).isDuplicate, false);
  assert.ok((await topic.publish({ deduplicationId: 'd', groupId: 'a' })).isDuplicate);
});

test('changing FifoThroughputScope forgets no id (10.10)', async (open) => {
  const topic = await open.topic({ fifo: true });
  await topic.publish({ deduplicationId: 'd', groupId: 'a' });
  await topic.set('FifoThroughputScope', 'MessageGroup');
  assert.ok((await topic.publish({ deduplicationId: 'd', groupId: 'a' })).isDuplicate);
  assert.equal((await topic.publish({ deduplicationId: 'd', groupId: 'b' })).isDuplicate, false);
});

test('the queue deduplicates again by the same id in its own window (10.11)', async (open) => {
  const topic = await open.topic({
    fifo: true,
    attributes: { FifoThroughputScope: 'MessageGroup' },
  });
  const { queue } = await topic.subscribeQueue('jobs.fifo');
  await topic.publish({ deduplicationId: 'd', groupId: 'a' });
  await topic.publish({ deduplicationId: 'd', groupId: 'b' });
  assert.equal((await queue.receive()).length, 1);
  assert.equal((await topic.home.told('fanned-out')).at(-1)?.isDuplicate, true);
});

test('a message dropped by a filter is not delivered when published again in the window (10.12)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const filter = { FilterPolicy: '{"kind":["price"]}' };
  const { queue, subscriptionArn } = await topic.subscribeQueue('jobs.fifo', filter);
  await topic.publish({ deduplicationId: 'd' });
  await topic.trySetOn(subscriptionArn, 'FilterPolicy', '');
  assert.ok((await topic.publish({ deduplicationId: 'd' })).isDuplicate);
  assert.deepEqual(await queue.receiveBodies(), []);
});

test('a standard queue receives what a FIFO topic accepts, once (10.13)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const { queue } = await topic.subscribeQueue('jobs');
  await topic.publish({ deduplicationId: 'd' });
  await topic.publish({ deduplicationId: 'd' });
  assert.deepEqual(await queue.receiveBodies(), ['hello']);
});

test('a suppressed publication is reported with what differed (10.7)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const attributes = [{ name: 'business', type: 'String', stringValue: 'retail' }];
  await topic.publish({ deduplicationId: 'd' });
  await topic.home.advance(10);
  await topic.publish({ deduplicationId: 'd', attributes });
  const [event] = await topic.home.told('duplicate-publication');
  assert.deepEqual(event?.differed, { body: false, attributes: true, group: false });
  assert.equal(event?.ageMs, 10_000);
});

test('a different trace does not make two publications differ', async (open) => {
  const topic = await open.topic({ fifo: true });
  for (const stringValue of ['00-5b8e-a1-01', '00-5b8e-a2-01']) {
    const attributes = [{ name: 'traceparent', type: 'String', stringValue }];
    await topic.publish({ deduplicationId: 'd', attributes });
  }
  const [event] = await topic.home.told('duplicate-publication');
  assert.deepEqual(event?.differed, { body: false, attributes: false, group: false });
});

test('sequence numbers rise over the whole topic (2.6)', async (open) => {
  const topic = await open.topic({ fifo: true });
  let latest = 0;
  for (const groupId of ['a', 'b', 'a']) {
    const { sequence = 0 } = await topic.publish({ groupId });
    assert.ok(sequence > latest);
    latest = sequence;
  }
});
