/**
 * Dead-letter queues: the two policies, when a message moves, and what it keeps on the way. Coming back is in
 * move-tasks.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { movesPerCommandMax } from '../../src/core/limits.ts';
import {
  accepted,
  arnOf,
  assertRefused,
  openEngine,
  openQueue,
  openQueueWithDeadLetters,
  redrivePolicy,
  type TestQueue,
} from './fixture.ts';

function assertPolicyRefused(queue: TestQueue, policy: string, reason: string): void {
  const text = `Value ${policy} for parameter RedrivePolicy is invalid. Reason: ${reason}`;
  assertRefused(queue.trySet({ RedrivePolicy: policy }), 'InvalidParameterValue', text);
}

/** Receives until nothing comes, so that every message that should become a dead letter does. */
function receiveUntilDead(queue: TestQueue): void {
  for (let at = 0; at < 20 && queue.receive({ visibilitySeconds: 0 }).length > 0; at += 1);
}

test('a redrive policy reads back with its count as a number (12.1)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  queue.set({ RedrivePolicy: `{"maxReceiveCount":"5","deadLetterTargetArn":"${dead.arn}"}` });
  const expected = `{"deadLetterTargetArn":"${dead.arn}","maxReceiveCount":5}`;
  assert.equal(queue.attributes('RedrivePolicy')['RedrivePolicy'], expected);
});

test('a redrive policy is a JSON object (12.1)', () => {
  const text =
    'Invalid value for the parameter RedrivePolicy. Reason: Redrive policy is not a valid JSON map.';
  for (const policy of ['{', '[]', '"x"', '1', 'null']) {
    const outcome = openQueue().trySet({ RedrivePolicy: policy });
    assertRefused(outcome, 'InvalidParameterValue', text);
  }
});

test('a redrive policy has exactly a count and a target (12.1)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  const lacks = 'Redrive policy does not contain mandatory attribute:';
  const target = `"deadLetterTargetArn":"${dead.arn}"`;
  assertPolicyRefused(queue, `{${target}}`, `${lacks} maxReceiveCount.`);
  assertPolicyRefused(queue, '{"maxReceiveCount":1}', `${lacks} deadLetterTargetArn.`);
  assertPolicyRefused(
    queue,
    `{${target},"maxReceiveCount":1,"x":1}`,
    'Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn].',
  );
});

test('maxReceiveCount is 1 to 1000 (12.1)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  for (const count of ['1', '1000', '"7"']) {
    const policy = `{"deadLetterTargetArn":"${dead.arn}","maxReceiveCount":${count}}`;
    queue.set({ RedrivePolicy: policy });
  }
  for (const count of ['0', '1001', '-1', '1.5', '"x"', '""', 'true', '[7]', '{}']) {
    const policy = `{"deadLetterTargetArn":"${dead.arn}","maxReceiveCount":${count}}`;
    const shown = count.replaceAll('"', '');
    const reason = `Invalid value for maxReceiveCount: ${shown}, valid values are from 1 to 1000 both inclusive.`;
    assertPolicyRefused(queue, policy, reason);
  }
});

test('the dead-letter queue exists, in this account and region (12.1, 12.2)', () => {
  const { queue } = openQueueWithDeadLetters();
  const targets = [
    arnOf('none'),
    'arn:aws:sqs:us-east-1:111122223333:dead',
    'arn:aws:sqs:eu-west-1:000000000000:dead',
  ];
  for (const target of targets) {
    assertPolicyRefused(queue, redrivePolicy(target, 1), 'Dead letter target does not exist.');
  }
});

test('a target that is not an ARN is refused, even if a queue has that name (12.1)', () => {
  const { queue } = openQueueWithDeadLetters();
  for (const target of ['"dead"', '""', '1', 'null', '"arn:aws:sqs"']) {
    const policy = `{"deadLetterTargetArn":${target},"maxReceiveCount":1}`;
    assertPolicyRefused(queue, policy, 'Invalid value for deadLetterTargetArn.');
  }
});

test('a refusal quotes the redrive policy as it was written (12.1)', () => {
  const policy = `{ "maxReceiveCount": "1", "deadLetterTargetArn": "${arnOf('none')}" }`;
  assertPolicyRefused(openQueue(), policy, 'Dead letter target does not exist.');
});

test('the dead-letter queue is of the same kind as its source (12.1, 12.2)', () => {
  const home = openEngine();
  const standard = home.createQueue('standard');
  const fifo = home.createQueue('fifo.fifo');
  const reason = 'Dead-letter queue must be same type of queue as the source..';
  assertPolicyRefused(standard, redrivePolicy(fifo.arn, 1), reason);
  assertPolicyRefused(fifo, redrivePolicy(standard.arn, 1), reason);
});

test('a queue is not created with a redrive policy that could not be set (12.1)', () => {
  const attributes = { RedrivePolicy: redrivePolicy(arnOf('none'), 1) };
  const outcome = openEngine().apply({ type: 'create-queue', queue: 'jobs', attributes });
  assertRefused(outcome, 'InvalidParameterValue');
});

test('a queue may be its own dead-letter queue from creation (12.2)', () => {
  const queue = openQueue({ attributes: { RedrivePolicy: redrivePolicy(arnOf('jobs'), 1) } });
  assert.ok(queue.attributes('RedrivePolicy')['RedrivePolicy']);
});

test('a queue that is its own dead-letter queue moves a message once and keeps returning it (12.2)', () => {
  for (const fifo of [false, true]) {
    const name = fifo ? 'jobs.fifo' : 'jobs';
    const RedrivePolicy = redrivePolicy(arnOf(name), 2);
    const queue = openQueue({ fifo, attributes: { RedrivePolicy } });
    queue.send();
    receiveUntilDead(queue);
    const message = queue.receiveOne({ visibilitySeconds: 0 });
    assert.equal(message.deadLetterSource, queue.arn);
    queue.remove(queue.receiveOne());
    assert.deepEqual(queue.counts(), [0, 0, 0]);
  }
});

test('a dead-letter queue with its own redrive policy returns a message as often as that policy says (12.4)', () => {
  for (const fifo of [false, true]) {
    const { queue, dead } = openQueueWithDeadLetters({ fifo });
    const last = queue.home.createQueue(fifo ? 'last.fifo' : 'last');
    dead.set({ RedrivePolicy: redrivePolicy(last.arn, 3) });
    queue.send();
    receiveUntilDead(queue);
    const returned = [1, 2, 3, 4].flatMap(() => dead.receive({ visibilitySeconds: 0 }));
    assert.equal(returned.length, 3);
    assert.equal(last.receiveOne().receiveCount, (returned.at(-1)?.receiveCount ?? 0) + 1);
  }
});

test("two queues that are each other's dead-letter queue keep returning a message (12.4)", () => {
  for (const fifo of [false, true]) {
    const { queue, dead } = openQueueWithDeadLetters({ fifo });
    queue.set({ RedrivePolicy: redrivePolicy(dead.arn, 1) });
    dead.set({ RedrivePolicy: redrivePolicy(queue.arn, 1) });
    queue.send();
    for (const each of [queue, dead, queue, dead]) {
      assert.equal(each.receive({ visibilitySeconds: 0 }).length, 1);
      assert.equal(each.receive().length, 0);
    }
  }
});

test('denyAll keeps every queue from naming this one (12.3)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  dead.set({ RedriveAllowPolicy: '{"redrivePermission":"denyAll"}' });
  const outcome = queue.trySet({ RedrivePolicy: redrivePolicy(dead.arn, 2) });
  assertRefused(outcome, 'InvalidParameterValue');
});

test('allowAll and no policy let every queue name this one (12.3)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  queue.set({ RedrivePolicy: redrivePolicy(dead.arn, 2) });
  dead.set({ RedriveAllowPolicy: '{"redrivePermission":"allowAll"}' });
  queue.set({ RedrivePolicy: redrivePolicy(dead.arn, 3) });
});

test('byQueue lets the queues it lists name this one (12.3)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  const other = queue.home.createQueue('other');
  const RedriveAllowPolicy = JSON.stringify({
    redrivePermission: 'byQueue',
    sourceQueueArns: [queue.arn],
  });
  dead.set({ RedriveAllowPolicy });
  assert.equal(dead.attributes('All')['RedriveAllowPolicy'], RedriveAllowPolicy);
  queue.set({ RedrivePolicy: redrivePolicy(dead.arn, 2) });
  const outcome = other.trySet({ RedrivePolicy: redrivePolicy(dead.arn, 2) });
  assertRefused(outcome, 'InvalidParameterValue');
});

test('sourceQueueArns has 1 to 10 ARNs and is allowed only with byQueue (12.3)', () => {
  const queue = openQueue();
  const policy = (redrivePermission: unknown, count?: number): string => {
    const sourceQueueArns =
      count === undefined ? undefined : Array.from({ length: count }, (_, at) => arnOf(`q${at}`));
    return JSON.stringify({ redrivePermission, sourceQueueArns });
  };
  for (const good of [policy('byQueue', 1), policy('byQueue', 10), policy('allowAll')]) {
    queue.set({ RedriveAllowPolicy: good });
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
    assertRefused(queue.trySet({ RedriveAllowPolicy: bad }), 'InvalidParameterValue');
  }
});

test('a redrive policy stays in effect when its dead-letter queue later denies it (12.3)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  dead.set({ RedriveAllowPolicy: '{"redrivePermission":"denyAll"}' });
  queue.send();
  receiveUntilDead(queue);
  assert.deepEqual(dead.counts(), [1, 0, 0]);
});

test('a message is returned exactly maxReceiveCount times and then moved (12.4)', () => {
  for (const fifo of [false, true]) {
    for (const receiveCountMax of [1, 3]) {
      const { queue, dead } = openQueueWithDeadLetters({ fifo, receiveCountMax });
      queue.send();
      for (let count = 1; count <= receiveCountMax; count += 1) {
        assert.equal(queue.receiveOne({ visibilitySeconds: 0 }).receiveCount, count);
      }
      assert.deepEqual(dead.counts(), [0, 0, 0]);
      assert.deepEqual(queue.receive(), []);
      assert.deepEqual(queue.counts(), [0, 0, 0]);
      assert.deepEqual(dead.counts(), [1, 0, 0]);
    }
  }
});

test('a message stays in its queue until a receive reaches it (12.4)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  queue.send();
  queue.receiveOne({ visibilitySeconds: 1 });
  queue.advance(100);
  assert.deepEqual(queue.counts(), [1, 0, 0]);
  assert.deepEqual(dead.counts(), [0, 0, 0]);
});

test('the receive that moves a message continues with the next one (12.4)', () => {
  const { queue } = openQueueWithDeadLetters();
  queue.send({ body: 'dying' });
  queue.receiveOne({ visibilitySeconds: 0 });
  queue.advance(1);
  queue.send({ body: 'next' });
  assert.equal(queue.receiveOne().body, 'next');
});

test('dead letters of a FIFO queue arrive in the order of their group (12.4)', () => {
  const { queue, dead } = openQueueWithDeadLetters({ fifo: true });
  queue.sendNamed('g-1', 'g-2', 'g-3');
  receiveUntilDead(queue);
  assert.deepEqual(dead.receiveBodies(), ['g-1', 'g-2', 'g-3']);
});

test('one receive moves a bounded number of messages, and the next one moves the rest (12.4)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  const total = movesPerCommandMax + 1;
  for (let at = 0; at < total; at += 1) queue.send();
  for (let at = 0; at < total; at += 10) queue.receive({ visibilitySeconds: 1 });
  queue.advance(1);
  const first = accepted(queue.tryReceive());
  assert.deepEqual(first.messages, []);
  assert.equal(first.noneUntil, queue.home.now);
  assert.equal(accepted(queue.tryReceive()).noneUntil, undefined);
  assert.deepEqual(dead.counts(), [total, 0, 0]);
});

test('a dead letter keeps its id, content, first receive time and receive count (12.5, 17.5)', () => {
  for (const fifo of [false, true]) {
    const { queue, dead } = openQueueWithDeadLetters({ fifo });
    const sent = queue.send({
      body: 'dying',
      attributes: [{ name: 'a', type: 'String', stringValue: 'x' }],
      systemAttributes: [{ name: 'AWSTraceHeader', type: 'String', stringValue: 'Root=1' }],
      senderId: 'AIDA',
    });
    queue.advance(1);
    const received = queue.receiveOne({ visibilitySeconds: 0 });
    queue.advance(1);
    queue.receive();
    const letter = dead.receiveOne();
    assert.equal(letter.messageId, sent.messageId);
    assert.deepEqual(letter.content, received.content);
    assert.equal(letter.firstReceivedAt, received.firstReceivedAt);
    assert.equal(letter.receiveCount, 2);
    assert.equal(letter.deadLetterSource, queue.arn);
  }
});

test("a dead letter is available at once, whatever the dead-letter queue's delay (12.5)", () => {
  for (const fifo of [false, true]) {
    const { queue, dead } = openQueueWithDeadLetters({ fifo });
    dead.set({ DelaySeconds: '900' });
    queue.send({ delaySeconds: 0 });
    receiveUntilDead(queue);
    assert.equal(dead.receive().length, 1);
  }
});

test('the receipt handle of the last receive does not delete a dead letter (12.5)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  queue.send();
  const message = queue.receiveOne({ visibilitySeconds: 0 });
  queue.receive();
  queue.remove(message);
  assertRefused(dead.tryRemove(message.receiptHandle), 'ReceiptHandleIsInvalid');
  assert.deepEqual(dead.counts(), [1, 0, 0]);
});

test('a FIFO dead letter keeps its group and takes its MessageId as deduplication id (12.6, 17.5)', () => {
  const { queue, dead } = openQueueWithDeadLetters({ fifo: true });
  const { messageId } = queue.send({ groupId: 'blue', deduplicationId: 'd' });
  receiveUntilDead(queue);
  const letter = dead.receiveOne();
  assert.equal(letter.groupId, 'blue');
  assert.equal(letter.deduplicationId, messageId);
});

test('FIFO dead letters get new sequence numbers in the order of their arrival (12.6)', () => {
  const { queue, dead } = openQueueWithDeadLetters({ fifo: true });
  queue.sendNamed('g1-1', 'g2-1');
  const already = dead.send().sequence as number;
  receiveUntilDead(queue);
  const sequences = dead.receive().map(({ sequence }) => sequence);
  assert.equal(sequences.length, 3);
  assert.ok((sequences[1] as number) > already);
  assert.ok((sequences[2] as number) > (sequences[1] as number));
});

test('no window drops a dead letter, whether the dead-letter queue or another dead letter used its id (12.6)', () => {
  const { queue, dead } = openQueueWithDeadLetters({ fifo: true });
  const other = queue.home.createQueue('other.fifo', {
    RedrivePolicy: redrivePolicy(dead.arn, 1),
  });
  dead.send({ deduplicationId: 'd' });
  queue.send({ deduplicationId: 'd' });
  other.send({ deduplicationId: 'd' });
  receiveUntilDead(queue);
  receiveUntilDead(other);
  assert.deepEqual(dead.counts(), [3, 0, 0]);
});

test('a dead letter adds no id to the window of its dead-letter queue (12.6)', () => {
  const { queue, dead } = openQueueWithDeadLetters({ fifo: true });
  queue.send({ deduplicationId: 'd' });
  receiveUntilDead(queue);
  assert.equal(dead.send({ deduplicationId: 'd' }).isDuplicate, false);
});

test('a standard dead letter expires by its original send time (12.7)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  dead.set({ MessageRetentionPeriod: '100' });
  const sentAt = queue.home.now;
  queue.send();
  queue.advance(60);
  dead.send({ body: 'younger' });
  receiveUntilDead(queue);
  assert.deepEqual(
    dead.receive({ visibilitySeconds: 0 }).map((letter) => letter.sentAt),
    [sentAt + 60_000, sentAt],
  );
  queue.advance(39.999);
  assert.deepEqual(dead.counts(), [2, 0, 0]);
  queue.advance(0.001);
  assert.deepEqual(dead.receiveBodies(), ['younger']);
});

test('a FIFO dead letter expires by the time of its move (12.7)', () => {
  const { queue, dead } = openQueueWithDeadLetters({ fifo: true });
  dead.set({ MessageRetentionPeriod: '100' });
  queue.send();
  queue.advance(60);
  receiveUntilDead(queue);
  queue.advance(99.999);
  assert.deepEqual(dead.counts(), [1, 0, 0]);
  queue.advance(0.001);
  assert.deepEqual(dead.counts(), [0, 0, 0]);
});

test('when the dead-letter queue is deleted, a message is delivered as if there were no policy (12.8)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  queue.send();
  dead.delete();
  for (const receiveCount of [1, 2, 3]) {
    assert.equal(queue.receiveOne({ visibilitySeconds: 0 }).receiveCount, receiveCount);
  }
});

test('the queues that name this one as their dead-letter queue are listed (12.9)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  const { home } = queue;
  for (const name of ['a', 'z', 'm']) {
    home.createQueue(name, { RedrivePolicy: redrivePolicy(dead.arn, 1) });
  }
  home.createQueue('stranger');
  const list = (options: { limit?: number; after?: string | undefined } = {}) =>
    accepted(home.apply({ type: 'list-dead-letter-sources', queue: dead.name, ...options }));
  assert.deepEqual(list().queues, ['a', 'jobs', 'm', 'z']);
  const first = list({ limit: 3 });
  assert.deepEqual(first.queues, ['a', 'jobs', 'm']);
  assert.deepEqual(list({ limit: 3, after: first.next }).queues, ['z']);
  queue.set({ RedrivePolicy: '' });
  assert.deepEqual(list().queues, ['a', 'm', 'z']);
});

test('a page of sources has 1 to 1000 queues (12.9)', () => {
  const { home } = openQueue();
  for (const limit of [0, 1001]) {
    const outcome = home.apply({ type: 'list-dead-letter-sources', queue: 'jobs', limit });
    assertRefused(outcome, 'InvalidParameterValue');
  }
});
