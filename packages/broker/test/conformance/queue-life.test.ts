/**
 * Creating, finding, listing and deleting queues. Names are in queue-names, attributes in queue-attributes; here is when
 * two creations of one queue agree, and what a deletion leaves.
 */

import assert from 'node:assert/strict';
import type { Attributes, Outcome } from '../../src/core/commands.ts';
import { relaxedLimits } from '../../src/core/limits.ts';
import {
  accepted,
  arnOf,
  assertRefused,
  atOnce,
  redrivePolicy,
  type TestBackend,
  type TestQueue,
  test,
} from './fixture.ts';

async function createAgain(
  queue: TestQueue,
  attributes: Attributes = {},
): Promise<Outcome<'create-queue'>> {
  return await queue.home.run({ type: 'create-queue', queue: queue.name, attributes });
}

function assertDiffers(outcome: Outcome<'create-queue'>, attribute: string): void {
  const text = `A queue already exists with the same name and a different value for attribute ${attribute}`;
  assertRefused(outcome, 'QueueNameExists', text);
}

async function list(
  home: TestBackend,
  options: { prefix?: string; limit?: number; after?: string | undefined } = {},
): Promise<{ queues: readonly string[]; next: string | undefined }> {
  const { queues, next } = accepted(await home.run({ type: 'list-queues', ...options }));
  return { queues, next };
}

test('a new queue has the default attributes, overridden by those given (5.1)', async (open) => {
  const shown = await (await open.queue({ attributes: { VisibilityTimeout: '7' } })).attributes(
    'All',
  );
  assert.equal(shown['VisibilityTimeout'], '7');
  assert.equal(shown['MessageRetentionPeriod'], '345600');
});

test('a new queue keeps the tags it was created with (5.1)', async (open) => {
  const home = await open.home();
  accepted(await home.run({ type: 'create-queue', queue: 'jobs', tags: { team: 'blue' } }));
  const { tags } = accepted(await home.run({ type: 'list-tags', queue: 'jobs' }));
  assert.deepEqual(tags, { team: 'blue' });
});

test('creating a queue again without attributes finds it, whatever its attributes are (5.2)', async (open) => {
  const queue = await open.queue({ attributes: { VisibilityTimeout: '7' } });
  assert.equal(accepted(await createAgain(queue)).queue, 'jobs');
});

test('creating a queue again compares only the attributes given (5.2)', async (open) => {
  const queue = await open.queue({ attributes: { VisibilityTimeout: '7', DelaySeconds: '3' } });
  accepted(await createAgain(queue, { VisibilityTimeout: '7' }));
  assertDiffers(await createAgain(queue, { VisibilityTimeout: '8' }), 'VisibilityTimeout');
});

test('creating a queue again compares with defaults that were never set (5.2)', async (open) => {
  const queue = await open.queue();
  accepted(await createAgain(queue, { VisibilityTimeout: '30' }));
  assertDiffers(await createAgain(queue, { VisibilityTimeout: '31' }), 'VisibilityTimeout');
});

test('creating a queue again compares with attributes set since (5.2)', async (open) => {
  const queue = await open.queue({ attributes: { DelaySeconds: '3' } });
  await queue.set({ DelaySeconds: '4' });
  accepted(await createAgain(queue, { DelaySeconds: '4' }));
  assertDiffers(await createAgain(queue, { DelaySeconds: '3' }), 'DelaySeconds');
});

test('the first attribute that differs is named (5.2)', async (open) => {
  const different = { VisibilityTimeout: '30', DelaySeconds: '1', MaximumMessageSize: '1024' };
  assertDiffers(await createAgain(await open.queue(), different), 'DelaySeconds');
});

test('creating a FIFO queue again with its own attributes finds it (5.2)', async (open) => {
  const attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
  const queue = await open.queue({ fifo: true, attributes });
  accepted(await createAgain(queue, attributes));
  const different = { FifoQueue: 'true', ContentBasedDeduplication: 'false' };
  assertDiffers(await createAgain(queue, different), 'ContentBasedDeduplication');
});

test('creating a queue again with a value that is not stored finds it (5.2)', async (open) => {
  const attributes = { KmsDataKeyReusePeriodSeconds: '300' };
  const { home } = await open.queue({ attributes });
  accepted(await home.run({ type: 'create-queue', queue: 'jobs', attributes }));
});

test('creating a queue again finds it when its redrive policy is formatted differently (5.2)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters({ receiveCountMax: 3 });
  const RedrivePolicy = `{ "maxReceiveCount": "3", "deadLetterTargetArn": "${dead.arn}" }`;
  accepted(await createAgain(queue, { RedrivePolicy }));
  assertDiffers(
    await createAgain(queue, { RedrivePolicy: redrivePolicy(dead.arn, 4) }),
    'RedrivePolicy',
  );
});

test('creating a queue again with its own attributes finds it although its dead-letter queue is gone (5.2)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  await dead.delete();
  accepted(await createAgain(queue, { RedrivePolicy: redrivePolicy(dead.arn, 1) }));
});

test('an attribute that differs is named even if its value could not be set (5.2)', async (open) => {
  const attributes = {
    FifoQueue: 'true',
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
  };
  const queue = await open.queue({ fifo: true, attributes });
  const different = { FifoQueue: 'true', DeduplicationScope: 'queue' };
  assertDiffers(await createAgain(queue, different), 'DeduplicationScope');
});

test('creating a queue again changes nothing about it, tags included (5.2)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  const tags = { team: 'red' };
  accepted(await queue.home.run({ type: 'create-queue', queue: queue.name, tags }));
  const kept = accepted(await queue.home.run({ type: 'list-tags', queue: queue.name }));
  assert.deepEqual(kept.tags, {});
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
});

test('a name is reserved for 60 seconds after its queue was deleted (5.4)', async (open) => {
  const queue = await open.queue();
  await queue.delete();
  await queue.advance(59.999);
  const text =
    'You must wait 60 seconds after deleting a queue before you can create another with the same name.';
  assertRefused(await createAgain(queue), 'QueueDeletedRecently', text);
  await queue.advance(0.001);
  accepted(await createAgain(queue));
});

test('the wait before a name can be reused can be switched off (5.4)', async (open) => {
  const queue = await open.queue({ limits: relaxedLimits });
  await queue.delete();
  accepted(await createAgain(queue));
});

test('a queue is found by its name (5.6)', async (open) => {
  const { home } = await open.queue();
  assert.equal(accepted(await home.run({ type: 'find-queue', queue: 'jobs' })).queue, 'jobs');
  const unknown = await home.run({ type: 'find-queue', queue: 'Jobs' });
  assertRefused(unknown, 'QueueDoesNotExist', 'The specified queue does not exist.');
});

test('finding a queue without a name is refused like creating one (5.6)', async (open) => {
  const missing = 'Value for parameter QueueName is invalid. Reason: Must specify a queue name.';
  const { home } = await open.queue();
  assertRefused(await home.run({ type: 'find-queue' }), 'InvalidParameterValue', missing);
  const empty = await home.run({ type: 'find-queue', queue: '' });
  assertRefused(empty, 'InvalidParameterValue', 'Queue name cannot be empty');
});

test('queues are listed by name, filtered by prefix (5.7)', async (open) => {
  const home = await open.home();
  for (const name of ['b', 'aa', 'c', 'ab', 'a']) await home.createQueue(name);
  assert.deepEqual((await list(home)).queues, ['a', 'aa', 'ab', 'b', 'c']);
  assert.deepEqual((await list(home, { prefix: 'a' })).queues, ['a', 'aa', 'ab']);
  assert.deepEqual((await list(home, { prefix: 'd' })).queues, []);
});

test('pages of a list follow each other under the same prefix (5.7)', async (open) => {
  const home = await open.home();
  for (const name of ['a1', 'a2', 'a3', 'b1']) await home.createQueue(name);
  const first = await list(home, { prefix: 'a', limit: 2 });
  assert.deepEqual(first.queues, ['a1', 'a2']);
  const second = await list(home, { prefix: 'a', limit: 2, after: first.next });
  assert.deepEqual(second, { queues: ['a3'], next: undefined });
});

test('the last page of a list names no next one (5.7)', async (open) => {
  const home = await open.home();
  for (const name of ['a', 'b']) await home.createQueue(name);
  assert.equal((await list(home, { limit: 2 })).next, undefined);
});

test('at most 1000 queues are listed, and the next page is named only if a page was asked for (5.7)', async (open) => {
  const home = await open.home();
  await atOnce(1001, (at) => home.createQueue(`q${at}`));
  const whole = await list(home);
  assert.equal(whole.queues.length, 1000);
  assert.equal(whole.next, undefined);
  const page = await list(home, { limit: 1000 });
  assert.equal(page.queues.length, 1000);
  assert.deepEqual((await list(home, { limit: 1000, after: page.next })).queues, ['q999']);
});

test('a page has 1 to 1000 queues (5.7)', async (open) => {
  const { home } = await open.queue();
  assert.deepEqual((await list(home, { limit: 1 })).queues, ['jobs']);
  for (const limit of [0, -1, 1001, 1.5]) {
    assertRefused(await home.run({ type: 'list-queues', limit }), 'InvalidParameterValue');
  }
});

test('a deleted queue is gone at once (5.8)', async (open) => {
  const queue = await open.queue();
  await queue.send();
  await queue.delete();
  assert.deepEqual((await list(queue.home)).queues, []);
  assertRefused(
    await queue.tryReceive(),
    'QueueDoesNotExist',
    'The specified queue does not exist.',
  );
  assertRefused(await queue.home.run({ type: 'find-queue', queue: 'jobs' }), 'QueueDoesNotExist');
});

test('a queue created again under the name of a deleted one starts empty (5.8)', async (open) => {
  const queue = await open.queue({ limits: relaxedLimits });
  await queue.send();
  await queue.delete();
  accepted(await createAgain(queue));
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
  assert.deepEqual(await queue.receive(), []);
});

test('every SQS command on a missing queue is refused with QueueDoesNotExist (5.8)', async (open) => {
  const home = await open.home();
  const queue = 'none';
  const text = 'The specified queue does not exist.';
  const outcomes = [
    await home.run({ type: 'delete-queue', queue }),
    await home.run({ type: 'get-attributes', queue, names: ['All'] }),
    await home.run({ type: 'set-attributes', queue, attributes: {} }),
    await home.run({ type: 'tag-queue', queue, tags: {} }),
    await home.run({ type: 'untag-queue', queue, keys: [] }),
    await home.run({ type: 'list-tags', queue }),
    await home.run({ type: 'add-permission', queue, label: 'a', accounts: [], actions: [] }),
    await home.run({ type: 'remove-permission', queue, label: 'a' }),
    await home.run({ type: 'purge-queue', queue }),
    await home.run({ type: 'send', queue, isBatch: false, entries: [{ body: 'hello' }] }),
    await home.run({ type: 'receive', queue }),
    await home.run({ type: 'delete-messages', queue, isBatch: false, entries: [{}] }),
    await home.run({ type: 'change-visibility', queue, isBatch: false, entries: [{}] }),
    await home.run({ type: 'list-dead-letter-sources', queue }),
  ];
  for (const outcome of outcomes) assertRefused(outcome, 'QueueDoesNotExist', text);
});

test('a missing queue is reported before an empty batch (14.1)', async (open) => {
  const home = await open.home();
  const command = { type: 'send', queue: arnOf('none'), isBatch: true, entries: [] } as const;
  assertRefused(await home.run(command), 'QueueDoesNotExist');
});

test('bad attributes are reported before a recently deleted name (14.1)', async (open) => {
  const queue = await open.queue();
  await queue.delete();
  assertRefused(await createAgain(queue, { VisibilityTimeout: '-1' }), 'InvalidAttributeValue');
  assertRefused(await createAgain(queue), 'QueueDeletedRecently');
});

test('attributes that exclude each other are reported before a missing dead-letter queue (14.1)', async (open) => {
  const queue = await open.queue();
  const policy = { RedrivePolicy: redrivePolicy(arnOf('none'), 3) };
  const encryptedTwice = { KmsMasterKeyId: 'key', SqsManagedSseEnabled: 'true' };
  assertRefused(await queue.trySet({ ...policy, ...encryptedTwice }), 'InvalidAttributeName');
  assertRefused(await queue.trySet(policy), 'InvalidParameterValue');
});
