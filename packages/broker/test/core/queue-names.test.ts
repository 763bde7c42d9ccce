/**
 * Which names a queue can have, and what they say about it: a name that ends in .fifo and FifoQueue=true belong together,
 * and the ARN contains the name.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attributes, Outcome } from '../../src/core/commands.ts';
import { Engine } from '../../src/core/engine.ts';
import { accepted, assertRefused, openEngine, openQueue } from './fixture.ts';

const standardNameText =
  'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length';
const fifoNameText =
  'The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length.';

function create(queue: string | undefined, attributes: Attributes = {}): Outcome<'create-queue'> {
  return openEngine().apply({ type: 'create-queue', queue, attributes });
}

test('the name of a standard queue has up to 80 characters (1.1)', () => {
  accepted(create('a'));
  accepted(create('a'.repeat(80)));
  assertRefused(create('a'.repeat(81)), 'InvalidParameterValue', standardNameText);
});

test('the suffix counts, so the name of a FIFO queue has up to 75 characters before it (1.1)', () => {
  accepted(create(`${'a'.repeat(75)}.fifo`, { FifoQueue: 'true' }));
  const tooLong = create(`${'a'.repeat(76)}.fifo`, { FifoQueue: 'true' });
  assertRefused(tooLong, 'InvalidParameterValue', fifoNameText);
});

test('the suffix alone is not a name (1.1)', () => {
  assertRefused(create('.fifo', { FifoQueue: 'true' }), 'InvalidParameterValue', fifoNameText);
});

test('a name consists of letters, digits, hyphens and underscores (1.1, 5.3)', () => {
  accepted(create('AZaz09-_'));
  for (const name of ['a b', 'a.b', 'a/b', 'grün', 'a.fifo.b', 'a\n', '!']) {
    assertRefused(create(name), 'InvalidParameterValue', standardNameText);
  }
});

test('a FIFO name has no second dot (1.1, 5.3)', () => {
  assertRefused(create('a.b.fifo', { FifoQueue: 'true' }), 'InvalidParameterValue', fifoNameText);
});

test('names that differ in case are different queues (1.1)', () => {
  const home = openEngine();
  home.createQueue('Jobs');
  home.createQueue('jobs');
  const { queues } = accepted(home.apply({ type: 'list-queues' }));
  assert.deepEqual(queues, ['Jobs', 'jobs']);
});

test('a name ending in .fifo without FifoQueue=true is refused (1.2, 5.3)', () => {
  assertRefused(create('jobs.fifo'), 'InvalidParameterValue', standardNameText);
  const denied = create('jobs.fifo', { FifoQueue: 'false' });
  assertRefused(denied, 'InvalidParameterValue', standardNameText);
});

test('FifoQueue=true with a name not ending in .fifo is refused (1.2, 5.3)', () => {
  assertRefused(create('jobs', { FifoQueue: 'true' }), 'InvalidParameterValue', fifoNameText);
  assertRefused(create('jobs.FIFO', { FifoQueue: 'true' }), 'InvalidParameterValue', fifoNameText);
  const { home, name } = openQueue();
  const again = home.apply({
    type: 'create-queue',
    queue: name,
    attributes: { FifoQueue: 'true' },
  });
  assertRefused(again, 'InvalidParameterValue', fifoNameText);
});

test('a missing name and an empty name have different error texts (5.3)', () => {
  const missing = 'Value for parameter QueueName is invalid. Reason: Must specify a queue name.';
  assertRefused(create(undefined), 'InvalidParameterValue', missing);
  assertRefused(create(''), 'InvalidParameterValue', 'Queue name cannot be empty');
});

test('the ARN consists of region, account and name (1.3)', () => {
  const here = openQueue().attributes('QueueArn');
  assert.equal(here['QueueArn'], 'arn:aws:sqs:us-east-1:000000000000:jobs');

  const elsewhere = new Engine({ region: 'eu-central-1', account: '123456789012' });
  const context = { now: 0, ids: { uuid: () => '00000000-0000-4000-8000-000000000001' } };
  elsewhere.apply({ type: 'create-queue', queue: 'jobs' }, context);
  const { outcome } = elsewhere.apply(
    { type: 'get-attributes', queue: 'jobs', names: ['QueueArn'] },
    context,
  );
  const { attributes } = accepted(outcome);
  assert.equal(attributes['QueueArn'], 'arn:aws:sqs:eu-central-1:123456789012:jobs');
});
