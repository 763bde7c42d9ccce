/**
 * Dead-letter queues: the two policies, when a message moves, and what it keeps on the way. Coming back is in
 * move-tasks.
 */

import assert from 'node:assert/strict';
import { movesPerCommandMax } from '../../src/core/limits.ts';
import {
  accepted,
  arnOf,
  assertRefused,
  type Delivered,
  redrivePolicy,
  type TestQueue,
  test,
} from './fixture.ts';

async function assertPolicyRefused(
  queue: TestQueue,
  policy: string,
  reason: string,
): Promise<void> {
  const text = `Value ${policy} for parameter RedrivePolicy is invalid. Reason: ${reason}`;
  assertRefused(await queue.trySet({ RedrivePolicy: policy }), 'InvalidParameterValue', text);
}

/** Receives until nothing comes, so that every message that should become a dead letter does. */
async function receiveUntilDead(queue: TestQueue): Promise<void> {
  for (let at = 0; at < 20 && (await queue.receive({ visibilitySeconds: 0 })).length > 0; at += 1);
}

test('a redrive policy reads back with its count as a number (12.1)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  await queue.set({ RedrivePolicy: `{"maxReceiveCount":"5","deadLetterTargetArn":"${dead.arn}"}` });
  const expected = `{"deadLetterTargetArn":"${dead.arn}","maxReceiveCount":5}`;
  assert.equal((await queue.attributes('RedrivePolicy'))['RedrivePolicy'], expected);
});

test('a redrive policy is a JSON object (12.1)', async (open) => {
  const text =
    'Invalid value for the parameter RedrivePolicy. Reason: Redrive policy is not a valid JSON map.';
  for (const policy of ['{', '[]', '"x"', '1', 'null']) {
    const outcome = await (await open.queue()).trySet({ RedrivePolicy: policy });
    assertRefused(outcome, 'InvalidParameterValue', text);
  }
});

test('a redrive policy has exactly a count and a target (12.1)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  const lacks = 'Redrive policy does not contain mandatory attribute:';
  const target = `"deadLetterTargetArn":"${dead.arn}"`;
  await assertPolicyRefused(queue, `{${target}}`, `${lacks} maxReceiveCount.`);
  await assertPolicyRefused(queue, '{"maxReceiveCount":1}', `${lacks} deadLetterTargetArn.`);
  await assertPolicyRefused(
    queue,
    `{${target},"maxReceiveCount":1,"x":1}`,
    'Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn].',
  );
});

test('maxReceiveCount is 1 to 1000 (12.1)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  for (const count of ['1', '1000', '"7"']) {
    const policy = `{"deadLetterTargetArn":"${dead.arn}","maxReceiveCount":${count}}`;
    await queue.set({ RedrivePolicy: policy });
  }
  for (const count of ['0', '1001', '-1', '1.5', '"x"', '""', 'true', '[7]', '{}']) {
    const policy = `{"deadLetterTargetArn":"${dead.arn}","maxReceiveCount":${count}}`;
    const shown = count.replaceAll('"', '');
    const reason = `Invalid value for maxReceiveCount: ${shown}, valid values are from 1 to 1000 both inclusive.`;
    await assertPolicyRefused(queue, policy, reason);
  }
});

test('the dead-letter queue exists, in this account and region (12.1, 12.2)', async (open) => {
  const { queue } = await open.queueWithDeadLetters();
  const targets = [
    arnOf('none'),
    'arn:aws:sqs:us-east-1:111122223333:dead',
    'arn:aws:sqs:eu-west-1:000000000000:dead',
  ];
  for (const target of targets) {
    await assertPolicyRefused(
      queue,
      redrivePolicy(target, 1),
      'Dead letter target does not exist.',
    );
  }
});

test('a target that is not an ARN is refused, even if a queue has that name (12.1)', async (open) => {
  const { queue } = await open.queueWithDeadLetters();
  for (const target of ['"dead"', '""', '1', 'null', '"arn:aws:sqs"']) {
    const policy = `{"deadLetterTargetArn":${target},"maxReceiveCount":1}`;
    await assertPolicyRefused(queue, policy, 'Invalid value for deadLetterTargetArn.');
  }
});

test('a refusal quotes the redrive policy as it was written (12.1)', async (open) => {
  const policy = `{ "maxReceiveCount": "1", "deadLetterTargetArn": "${arnOf('none')}" }`;
  await assertPolicyRefused(await open.queue(), policy, 'Dead letter target does not exist.');
});

test('the dead-letter queue is of the same kind as its source (12.1, 12.2)', async (open) => {
  const home = await open.home();
  const standard = await home.createQueue('standard');
  const fifo = await home.createQueue('fifo.fifo');
  const reason = 'Dead-letter queue must be same type of queue as the source..';
  await assertPolicyRefused(standard, redrivePolicy(fifo.arn, 1), reason);
  await assertPolicyRefused(fifo, redrivePolicy(standard.arn, 1), reason);
});

test('a queue is not created with a redrive policy that could not be set (12.1)', async (open) => {
  const attributes = { RedrivePolicy: redrivePolicy(arnOf('none'), 1) };
  const outcome = await (await open.home()).run({
    type: 'create-queue',
    queue: 'jobs',
    attributes,
  });
  assertRefused(outcome, 'InvalidParameterValue');
});

test('a queue may be its own dead-letter queue from creation (12.2)', async (open) => {
  const queue = await open.queue({
    attributes: { RedrivePolicy: redrivePolicy(arnOf('jobs'), 1) },
  });
  assert.ok((await queue.attributes('RedrivePolicy'))['RedrivePolicy']);
});

test('a queue that is its own dead-letter queue moves a message once and keeps returning it (12.2)', async (open) => {
  for (const fifo of [false, true]) {
    const name = fifo ? 'jobs.fifo' : 'jobs';
    const RedrivePolicy = redrivePolicy(arnOf(name), 2);
    const queue = await open.queue({ fifo, attributes: { RedrivePolicy } });
    await queue.send();
    await receiveUntilDead(queue);
    const message = await queue.receiveOne({ visibilitySeconds: 0 });
    assert.equal(message.deadLetterSource, queue.arn);
    await queue.remove(await queue.receiveOne());
    assert.deepEqual(await queue.counts(), [0, 0, 0]);
  }
});

test('a dead-letter queue with its own redrive policy returns a message as often as that policy says (12.4)', async (open) => {
  for (const fifo of [false, true]) {
    const { queue, dead } = await open.queueWithDeadLetters({ fifo });
    const last = await queue.home.createQueue(fifo ? 'last.fifo' : 'last');
    await dead.set({ RedrivePolicy: redrivePolicy(last.arn, 3) });
    await queue.send();
    await receiveUntilDead(queue);
    const returned: Delivered[] = [];
    for (let at = 0; at < 4; at += 1) {
      returned.push(...(await dead.receive({ visibilitySeconds: 0 })));
    }
    assert.equal(returned.length, 3);
    assert.equal((await last.receiveOne()).receiveCount, (returned.at(-1)?.receiveCount ?? 0) + 1);
  }
});

test("two queues that are each other's dead-letter queue keep returning a message (12.4)", async (open) => {
  for (const fifo of [false, true]) {
    const { queue, dead } = await open.queueWithDeadLetters({ fifo });
    await queue.set({ RedrivePolicy: redrivePolicy(dead.arn, 1) });
    await dead.set({ RedrivePolicy: redrivePolicy(queue.arn, 1) });
    await queue.send();
    for (const each of [queue, dead, queue, dead]) {
      assert.equal((await each.receive({ visibilitySeconds: 0 })).length, 1);
      assert.equal((await each.receive()).length, 0);
    }
  }
});

test('denyAll keeps every queue from naming this one (12.3)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  await dead.set({ RedriveAllowPolicy: '{"redrivePermission":"denyAll"}' });
  const outcome = await queue.trySet({ RedrivePolicy: redrivePolicy(dead.arn, 2) });
  assertRefused(outcome, 'InvalidParameterValue');
});

test('allowAll and no policy let every queue name this one (12.3)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  await queue.set({ RedrivePolicy: redrivePolicy(dead.arn, 2) });
  await dead.set({ RedriveAllowPolicy: '{"redrivePermission":"allowAll"}' });
  await queue.set({ RedrivePolicy: redrivePolicy(dead.arn, 3) });
});

test('byQueue lets the queues it lists name this one (12.3)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  const other = await queue.home.createQueue('other');
  const RedriveAllowPolicy = JSON.stringify({
    redrivePermission: 'byQueue',
    sourceQueueArns: [queue.arn],
  });
  await dead.set({ RedriveAllowPolicy });
  assert.equal((await dead.attributes('All'))['RedriveAllowPolicy'], RedriveAllowPolicy);
  await queue.set({ RedrivePolicy: redrivePolicy(dead.arn, 2) });
  const outcome = await other.trySet({ RedrivePolicy: redrivePolicy(dead.arn, 2) });
  assertRefused(outcome, 'InvalidParameterValue');
});

test('sourceQueueArns has 1 to 10 ARNs and is allowed only with byQueue (12.3)', async (open) => {
  const queue = await open.queue();
  const policy = (redrivePermission: unknown, count?: number): string => {
    const sourceQueueArns =
      count === undefined ? undefined : Array.from({ length: count }, (_, at) => arnOf(`q${at}`));
    return JSON.stringify({ redrivePermission, sourceQueueArns });
  };
  for (const good of [policy('byQueue', 1), policy('byQueue', 10), policy('allowAll')]) {
    await queue.set({ RedriveAllowPolicy: good });
  }
  const wrong = [
    policy('byQueue'),
    policy('byQueue', 0),
    policy('byQueue', 11),
    policy('allowAll', 1),
    policy('denyAll', 1),
    policy('sometimes'),
    policy(undefined),
    '[]',
    '{',
  ];
  for (const bad of wrong) {
    assertRefused(await queue.trySet({ RedriveAllowPolicy: bad }), 'InvalidParameterValue');
  }
});

test('a redrive policy stays in effect when its dead-letter queue later denies it (12.3)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  await dead.set({ RedriveAllowPolicy: '{"redrivePermission":"denyAll"}' });
  await queue.send();
  await receiveUntilDead(queue);
  assert.deepEqual(await dead.counts(), [1, 0, 0]);
});

test('a message is returned exactly maxReceiveCount times and then moved (12.4)', async (open) => {
  for (const fifo of [false, true]) {
    for (const receiveCountMax of [1, 3]) {
      const { queue, dead } = await open.queueWithDeadLetters({ fifo, receiveCountMax });
      await queue.send();
      for (let count = 1; count <= receiveCountMax; count += 1) {
        assert.equal((await queue.receiveOne({ visibilitySeconds: 0 })).receiveCount, count);
      }
      assert.deepEqual(await dead.counts(), [0, 0, 0]);
      assert.deepEqual(await queue.receive(), []);
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
      assert.deepEqual(await dead.counts(), [1, 0, 0]);
    }
  }
});

test('a message stays in its queue until a receive reaches it (12.4)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  await queue.send();
  await queue.receiveOne({ visibilitySeconds: 1 });
  await queue.advance(100);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
  assert.deepEqual(await dead.counts(), [0, 0, 0]);
});

test('the receive that moves a message continues with the next one (12.4)', async (open) => {
  const { queue } = await open.queueWithDeadLetters();
  await queue.send({ body: 'dying' });
  await queue.receiveOne({ visibilitySeconds: 0 });
  await queue.advance(1);
  await queue.send({ body: 'next' });
  assert.equal((await queue.receiveOne()).body, 'next');
});

test('dead letters of a FIFO queue arrive in the order of their group (12.4)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters({ fifo: true });
  await queue.sendNamed('g-1', 'g-2', 'g-3');
  await receiveUntilDead(queue);
  assert.deepEqual(await dead.receiveBodies(), ['g-1', 'g-2', 'g-3']);
});

test('one receive moves a bounded number of messages, and the next one moves the rest (12.4)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  const total = movesPerCommandMax + 1;
  for (let at = 0; at < total; at += 1) await queue.send();
  for (let at = 0; at < total; at += 10) await queue.receive({ visibilitySeconds: 1 });
  await queue.advance(1);
  assert.deepEqual(await queue.receive(), []);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
  assert.deepEqual(await queue.receive(), []);
  assert.deepEqual(await dead.counts(), [total, 0, 0]);
});

test('a dead letter keeps its id, content, first receive time and receive count (12.5, 17.5)', async (open) => {
  for (const fifo of [false, true]) {
    const { queue, dead } = await open.queueWithDeadLetters({ fifo });
    const sent = await queue.send({
      body: 'dying',
      attributes: [{ name: 'a', type: 'String', stringValue: 'x' }],
      systemAttributes: [{ name: 'AWSTraceHeader', type: 'String', stringValue: 'Root=1' }],
      senderId: 'AIDA',
    });
    await queue.advance(1);
    const received = await queue.receiveOne({ visibilitySeconds: 0 });
    await queue.advance(1);
    await queue.receive();
    const letter = await dead.receiveOne();
    assert.equal(letter.messageId, sent.messageId);
    assert.deepEqual(letter.content, received.content);
    assert.equal(letter.firstReceivedAt, received.firstReceivedAt);
    assert.equal(letter.receiveCount, 2);
    assert.equal(letter.deadLetterSource, queue.arn);
  }
});

test("a dead letter is available at once, whatever the dead-letter queue's delay (12.5)", async (open) => {
  for (const fifo of [false, true]) {
    const { queue, dead } = await open.queueWithDeadLetters({ fifo });
    await dead.set({ DelaySeconds: '900' });
    await queue.send({ delaySeconds: 0 });
    await receiveUntilDead(queue);
    assert.equal((await dead.receive()).length, 1);
  }
});

test('the receipt handle of the last receive does not delete a dead letter (12.5)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  await queue.send();
  const message = await queue.receiveOne({ visibilitySeconds: 0 });
  await queue.receive();
  await queue.remove(message);
  assertRefused(await dead.tryRemove(message.receiptHandle), 'ReceiptHandleIsInvalid');
  assert.deepEqual(await dead.counts(), [1, 0, 0]);
});

test('a FIFO dead letter keeps its group and takes its MessageId as deduplication id (12.6, 17.5)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters({ fifo: true });
  const { messageId } = await queue.send({ groupId: 'blue', deduplicationId: 'd' });
  await receiveUntilDead(queue);
  const letter = await dead.receiveOne();
  assert.equal(letter.groupId, 'blue');
  assert.equal(letter.deduplicationId, messageId);
});

test('FIFO dead letters get new sequence numbers in the order of their arrival (12.6)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters({ fifo: true });
  await queue.sendNamed('g1-1', 'g2-1');
  const already = (await dead.send()).sequence as number;
  await receiveUntilDead(queue);
  const sequences = (await dead.receive()).map(({ sequence }) => sequence);
  assert.equal(sequences.length, 3);
  assert.ok((sequences[1] as number) > already);
  assert.ok((sequences[2] as number) > (sequences[1] as number));
});

test('no window drops a dead letter, whether the dead-letter queue or another dead letter used its id (12.6)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters({ fifo: true });
  const other = await queue.home.createQueue('other.fifo', {
    RedrivePolicy: redrivePolicy(dead.arn, 1),
  });
  await dead.send({ deduplicationId: 'd' });
  await queue.send({ deduplicationId: 'd' });
  await other.send({ deduplicationId: 'd' });
  await receiveUntilDead(queue);
  await receiveUntilDead(other);
  assert.deepEqual(await dead.counts(), [3, 0, 0]);
});

test('a dead letter adds no id to the window of its dead-letter queue (12.6)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters({ fifo: true });
  await queue.send({ deduplicationId: 'd' });
  await receiveUntilDead(queue);
  assert.equal((await dead.send({ deduplicationId: 'd' })).isDuplicate, false);
});

test('a standard dead letter expires by its original send time (12.7)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  await dead.set({ MessageRetentionPeriod: '100' });
  const sentAt = queue.home.now;
  await queue.send();
  await queue.advance(60);
  await dead.send({ body: 'younger' });
  await receiveUntilDead(queue);
  assert.deepEqual(
    (await dead.receive({ visibilitySeconds: 0 })).map((letter) => letter.sentAt),
    [sentAt + 60_000, sentAt],
  );
  await queue.advance(39.999);
  assert.deepEqual(await dead.counts(), [2, 0, 0]);
  await queue.advance(0.001);
  assert.deepEqual(await dead.receiveBodies(), ['younger']);
});

test('a FIFO dead letter expires by the time of its move (12.7)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters({ fifo: true });
  await dead.set({ MessageRetentionPeriod: '100' });
  await queue.send();
  await queue.advance(60);
  await receiveUntilDead(queue);
  await queue.advance(99.999);
  assert.deepEqual(await dead.counts(), [1, 0, 0]);
  await queue.advance(0.001);
  assert.deepEqual(await dead.counts(), [0, 0, 0]);
});

test('when the dead-letter queue is deleted, a message is delivered as if there were no policy (12.8)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  await queue.send();
  await dead.delete();
  for (const receiveCount of [1, 2, 3]) {
    assert.equal((await queue.receiveOne({ visibilitySeconds: 0 })).receiveCount, receiveCount);
  }
});

test('the queues that name this one as their dead-letter queue are listed (12.9)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  const { home } = queue;
  for (const name of ['a', 'z', 'm']) {
    await home.createQueue(name, { RedrivePolicy: redrivePolicy(dead.arn, 1) });
  }
  await home.createQueue('stranger');
  const list = async (options: { limit?: number; after?: string | undefined } = {}) =>
    accepted(await home.run({ type: 'list-dead-letter-sources', queue: dead.name, ...options }));
  assert.deepEqual((await list()).queues, ['a', 'jobs', 'm', 'z']);
  const first = await list({ limit: 3 });
  assert.deepEqual(first.queues, ['a', 'jobs', 'm']);
  assert.deepEqual((await list({ limit: 3, after: first.next })).queues, ['z']);
  await queue.set({ RedrivePolicy: '' });
  assert.deepEqual((await list()).queues, ['a', 'm', 'z']);
});

test('a page of sources has 1 to 1000 queues (12.9)', async (open) => {
  const { home } = await open.queue();
  for (const limit of [0, 1001]) {
    const outcome = await home.run({ type: 'list-dead-letter-sources', queue: 'jobs', limit });
    assertRefused(outcome, 'InvalidParameterValue');
  }
});

test('a message that moves twice at the same moment arrives whole', async (open) => {
  const home = await open.home();
  const last = await home.createQueue('last');
  const policy = (target: { readonly arn: string }): { RedrivePolicy: string } => ({
    RedrivePolicy: redrivePolicy(target.arn, 1),
  });
  const middle = await home.createQueue('middle', policy(last));
  const first = await home.createQueue('first', policy(middle));
  await first.send({ body: 'twice' });
  await first.receiveOne({ visibilitySeconds: 0 });
  // Without waiting for answers, so that a node may do it all in one commit; the last queue is the first to be changed.
  await Promise.all([
    last.send({ body: 'before' }),
    first.tryReceive(),
    middle.tryReceive({ visibilitySeconds: 0 }),
    middle.tryReceive({ visibilitySeconds: 0 }),
  ]);
  // Where each receive went to a node of its own, they came in any order.
  for (let count = 0; count < 2; count += 1) await middle.tryReceive({ visibilitySeconds: 0 });
  assert.deepEqual((await last.receiveBodies()).toSorted(), ['before', 'twice']);
});
