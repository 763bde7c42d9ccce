/**
 * Creating, finding, listing and deleting queues. Names are in queue-names, attributes in queue-attributes; here is when
 * two creations of one queue agree, and what a deletion leaves.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attributes, Outcome } from '../../src/core/commands.ts';
import { relaxedLimits } from '../../src/core/limits.ts';
import {
  accepted,
  arnOf,
  assertRefused,
  openEngine,
  openQueue,
  openQueueWithDeadLetters,
  redrivePolicy,
  type TestEngine,
  type TestQueue,
} from './fixture.ts';

function createAgain(queue: TestQueue, attributes: Attributes = {}): Outcome<'create-queue'> {
  return queue.home.apply({ type: 'create-queue', queue: queue.name, attributes });
}

function assertDiffers(outcome: Outcome<'create-queue'>, attribute: string): void {
  const text = `A queue already exists with the same name and a different value for attribute ${attribute}`;
  assertRefused(outcome, 'QueueNameExists', text);
}

function list(
  home: TestEngine,
  options: { prefix?: string; limit?: number; after?: string | undefined } = {},
): { queues: readonly string[]; next: string | undefined } {
  const { queues, next } = accepted(home.apply({ type: 'list-queues', ...options }));
  return { queues, next };
}

test('a new queue has the default attributes, overridden by those given (5.1)', () => {
  const shown = openQueue({ attributes: { VisibilityTimeout: '7' } }).attributes('All');
  assert.equal(shown['VisibilityTimeout'], '7');
  assert.equal(shown['MessageRetentionPeriod'], '345600');
});

test('a new queue keeps the tags it was created with (5.1)', () => {
  const home = openEngine();
  accepted(home.apply({ type: 'create-queue', queue: 'jobs', tags: { team: 'blue' } }));
  const { tags } = accepted(home.apply({ type: 'list-tags', queue: 'jobs' }));
  assert.deepEqual(tags, { team: 'blue' });
});

test('creating a queue again without attributes finds it, whatever its attributes are (5.2)', () => {
  const queue = openQueue({ attributes: { VisibilityTimeout: '7' } });
  assert.equal(accepted(createAgain(queue)).queue, 'jobs');
});

test('creating a queue again compares only the attributes given (5.2)', () => {
  const queue = openQueue({ attributes: { VisibilityTimeout: '7', DelaySeconds: '3' } });
  accepted(createAgain(queue, { VisibilityTimeout: '7' }));
  assertDiffers(createAgain(queue, { VisibilityTimeout: '8' }), 'VisibilityTimeout');
});

test('creating a queue again compares with defaults that were never set (5.2)', () => {
  const queue = openQueue();
  accepted(createAgain(queue, { VisibilityTimeout: '30' }));
  assertDiffers(createAgain(queue, { VisibilityTimeout: '31' }), 'VisibilityTimeout');
});

test('creating a queue again compares with attributes set since (5.2)', () => {
  const queue = openQueue({ attributes: { DelaySeconds: '3' } });
  queue.set({ DelaySeconds: '4' });
  accepted(createAgain(queue, { DelaySeconds: '4' }));
  assertDiffers(createAgain(queue, { DelaySeconds: '3' }), 'DelaySeconds');
});

test('the first attribute that differs is named (5.2)', () => {
  const different = { VisibilityTimeout: '30', DelaySeconds: '1', MaximumMessageSize: '1024' };
  assertDiffers(createAgain(openQueue(), different), 'DelaySeconds');
});

test('creating a FIFO queue again with its own attributes finds it (5.2)', () => {
  const attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
  const queue = openQueue({ fifo: true, attributes });
  accepted(createAgain(queue, attributes));
  const different = { FifoQueue: 'true', ContentBasedDeduplication: 'false' };
  assertDiffers(createAgain(queue, different), 'ContentBasedDeduplication');
});

test('creating a queue again with a value that is not stored finds it (5.2)', () => {
  const attributes = { KmsDataKeyReusePeriodSeconds: '300' };
  const { home } = openQueue({ attributes });
  accepted(home.apply({ type: 'create-queue', queue: 'jobs', attributes }));
});

test('creating a queue again finds it when its redrive policy is formatted differently (5.2)', () => {
  const { queue, dead } = openQueueWithDeadLetters({ receiveCountMax: 3 });
  const RedrivePolicy = `{ "maxReceiveCount": "3", "deadLetterTargetArn": "${dead.arn}" }`;
  accepted(createAgain(queue, { RedrivePolicy }));
  assertDiffers(createAgain(queue, { RedrivePolicy: redrivePolicy(dead.arn, 4) }), 'RedrivePolicy');
});

test('creating a queue again with its own attributes finds it although its dead-letter queue is gone (5.2)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  dead.delete();
  accepted(createAgain(queue, { RedrivePolicy: redrivePolicy(dead.arn, 1) }));
});

test('an attribute that differs is named even if its value could not be set (5.2)', () => {
  const attributes = {
    FifoQueue: 'true',
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
  };
  const queue = openQueue({ fifo: true, attributes });
  const different = { FifoQueue: 'true', DeduplicationScope: 'queue' };
  assertDiffers(createAgain(queue, different), 'DeduplicationScope');
});

test('creating a queue again changes nothing about it, tags included (5.2)', () => {
  const queue = openQueue();
  queue.send();
  const tags = { team: 'red' };
  accepted(queue.home.apply({ type: 'create-queue', queue: queue.name, tags }));
  const kept = accepted(queue.home.apply({ type: 'list-tags', queue: queue.name }));
  assert.deepEqual(kept.tags, {});
  assert.deepEqual(queue.counts(), [1, 0, 0]);
});

test('a name is reserved for 60 seconds after its queue was deleted (5.4)', () => {
  const queue = openQueue();
  queue.delete();
  queue.advance(59.999);
  const text =
    'You must wait 60 seconds after deleting a queue before you can create another with the same name.';
  assertRefused(createAgain(queue), 'QueueDeletedRecently', text);
  queue.advance(0.001);
  accepted(createAgain(queue));
});

test('a name is free again by the clock alone, without a tick in between (5.4)', () => {
  const queue = openQueue();
  queue.delete();
  queue.home.now += 60_000;
  accepted(createAgain(queue));
});

test('the wait before a name can be reused can be switched off (5.4)', () => {
  const queue = openQueue({ limits: relaxedLimits });
  queue.delete();
  accepted(createAgain(queue));
});

test('a queue is found by its name (5.6)', () => {
  const { home } = openQueue();
  assert.equal(accepted(home.apply({ type: 'find-queue', queue: 'jobs' })).queue, 'jobs');
  const unknown = home.apply({ type: 'find-queue', queue: 'Jobs' });
  assertRefused(unknown, 'QueueDoesNotExist', 'The specified queue does not exist.');
});

test('finding a queue without a name is refused like creating one (5.6)', () => {
  const missing = 'Value for parameter QueueName is invalid. Reason: Must specify a queue name.';
  const { home } = openQueue();
  assertRefused(home.apply({ type: 'find-queue' }), 'InvalidParameterValue', missing);
  const empty = home.apply({ type: 'find-queue', queue: '' });
  assertRefused(empty, 'InvalidParameterValue', 'Queue name cannot be empty');
});

test('queues are listed by name, filtered by prefix (5.7)', () => {
  const home = openEngine();
  for (const name of ['b', 'aa', 'c', 'ab', 'a']) home.createQueue(name);
  assert.deepEqual(list(home).queues, ['a', 'aa', 'ab', 'b', 'c']);
  assert.deepEqual(list(home, { prefix: 'a' }).queues, ['a', 'aa', 'ab']);
  assert.deepEqual(list(home, { prefix: 'd' }).queues, []);
});

test('pages of a list follow each other under the same prefix (5.7)', () => {
  const home = openEngine();
  for (const name of ['a1', 'a2', 'a3', 'b1']) home.createQueue(name);
  const first = list(home, { prefix: 'a', limit: 2 });
  assert.deepEqual(first.queues, ['a1', 'a2']);
  const second = list(home, { prefix: 'a', limit: 2, after: first.next });
  assert.deepEqual(second, { queues: ['a3'], next: undefined });
});

test('the last page of a list names no next one (5.7)', () => {
  const home = openEngine();
  for (const name of ['a', 'b']) home.createQueue(name);
  assert.equal(list(home, { limit: 2 }).next, undefined);
});

test('at most 1000 queues are listed, and the next page is named only if a page was asked for (5.7)', () => {
  const home = openEngine();
  for (let at = 0; at < 1001; at += 1) home.createQueue(`q${at}`);
  const whole = list(home);
  assert.equal(whole.queues.length, 1000);
  assert.equal(whole.next, undefined);
  const page = list(home, { limit: 1000 });
  assert.equal(page.queues.length, 1000);
  assert.deepEqual(list(home, { limit: 1000, after: page.next }).queues, ['q999']);
});

test('a page has 1 to 1000 queues (5.7)', () => {
  const { home } = openQueue();
  assert.deepEqual(list(home, { limit: 1 }).queues, ['jobs']);
  for (const limit of [0, -1, 1001, 1.5]) {
    assertRefused(home.apply({ type: 'list-queues', limit }), 'InvalidParameterValue');
  }
});

test('a deleted queue is gone at once (5.8)', () => {
  const queue = openQueue();
  queue.send();
  queue.delete();
  assert.deepEqual(list(queue.home).queues, []);
  assertRefused(queue.tryReceive(), 'QueueDoesNotExist', 'The specified queue does not exist.');
  assertRefused(queue.home.apply({ type: 'find-queue', queue: 'jobs' }), 'QueueDoesNotExist');
});

test('a queue created again under the name of a deleted one starts empty (5.8)', () => {
  const queue = openQueue({ limits: relaxedLimits });
  queue.send();
  queue.delete();
  accepted(createAgain(queue));
  assert.deepEqual(queue.counts(), [0, 0, 0]);
  assert.deepEqual(queue.receive(), []);
});

test('every SQS command on a missing queue is refused with QueueDoesNotExist (5.8)', () => {
  const home = openEngine();
  const queue = 'none';
  const text = 'The specified queue does not exist.';
  const outcomes = [
    home.apply({ type: 'delete-queue', queue }),
    home.apply({ type: 'get-attributes', queue, names: ['All'] }),
    home.apply({ type: 'set-attributes', queue, attributes: {} }),
    home.apply({ type: 'tag-queue', queue, tags: {} }),
    home.apply({ type: 'untag-queue', queue, keys: [] }),
    home.apply({ type: 'list-tags', queue }),
    home.apply({ type: 'add-permission', queue, label: 'a', accounts: [], actions: [] }),
    home.apply({ type: 'remove-permission', queue, label: 'a' }),
    home.apply({ type: 'purge-queue', queue }),
    home.apply({ type: 'send', queue, isBatch: false, entries: [{ body: 'hello' }] }),
    home.apply({ type: 'receive', queue }),
    home.apply({ type: 'delete-messages', queue, isBatch: false, entries: [{}] }),
    home.apply({ type: 'change-visibility', queue, isBatch: false, entries: [{}] }),
    home.apply({ type: 'list-dead-letter-sources', queue }),
  ];
  for (const outcome of outcomes) assertRefused(outcome, 'QueueDoesNotExist', text);
});

test('a missing queue is reported before an empty batch (14.1)', () => {
  const home = openEngine();
  const command = { type: 'send', queue: arnOf('none'), isBatch: true, entries: [] } as const;
  assertRefused(home.apply(command), 'QueueDoesNotExist');
});

test('bad attributes are reported before a recently deleted name (14.1)', () => {
  const queue = openQueue();
  queue.delete();
  assertRefused(createAgain(queue, { VisibilityTimeout: '-1' }), 'InvalidAttributeValue');
  assertRefused(createAgain(queue), 'QueueDeletedRecently');
});

test('attributes that exclude each other are reported before a missing dead-letter queue (14.1)', () => {
  const queue = openQueue();
  const policy = { RedrivePolicy: redrivePolicy(arnOf('none'), 3) };
  const encryptedTwice = { KmsMasterKeyId: 'key', SqsManagedSseEnabled: 'true' };
  assertRefused(queue.trySet({ ...policy, ...encryptedTwice }), 'InvalidAttributeName');
  assertRefused(queue.trySet(policy), 'InvalidParameterValue');
});
