/**
 * Which names a queue can have, and what they say about it: a name that ends in .fifo and FifoQueue=true belong together,
 * and the ARN contains the name.
 */

import assert from 'node:assert/strict';
import type { Attributes, Outcome } from '../../src/core/commands.ts';
import { accepted, assertRefused, type Opener, test } from './fixture.ts';

const standardNameText =
  'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length';
const fifoNameText =
  'The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length.';

async function create(
  open: Opener,
  queue: string | undefined,
  attributes: Attributes = {},
): Promise<Outcome<'create-queue'>> {
  return await (await open.home()).run({ type: 'create-queue', queue, attributes });
}

test('the name of a standard queue has up to 80 characters (1.1)', async (open) => {
  accepted(await create(open, 'a'));
  accepted(await create(open, 'a'.repeat(80)));
  assertRefused(await create(open, 'a'.repeat(81)), 'InvalidParameterValue', standardNameText);
});

test('the suffix counts, so the name of a FIFO queue has up to 75 characters before it (1.1)', async (open) => {
  accepted(await create(open, `${'a'.repeat(75)}.fifo`, { FifoQueue: 'true' }));
  const tooLong = await create(open, `${'a'.repeat(76)}.fifo`, { FifoQueue: 'true' });
  assertRefused(tooLong, 'InvalidParameterValue', fifoNameText);
});

test('the suffix alone is not a name (1.1)', async (open) => {
  assertRefused(
    await create(open, '.fifo', { FifoQueue: 'true' }),
    'InvalidParameterValue',
    fifoNameText,
  );
});

test('a name consists of letters, digits, hyphens and underscores (1.1, 5.3)', async (open) => {
  accepted(await create(open, 'AZaz09-_'));
  for (const name of ['a b', 'a.b', 'a/b', 'grün', 'a.fifo.b', 'a\n', '!']) {
    assertRefused(await create(open, name), 'InvalidParameterValue', standardNameText);
  }
});

test('a FIFO name has no second dot (1.1, 5.3)', async (open) => {
  assertRefused(
    await create(open, 'a.b.fifo', { FifoQueue: 'true' }),
    'InvalidParameterValue',
    fifoNameText,
  );
});

test('names that differ in case are different queues (1.1)', async (open) => {
  const home = await open.home();
  await home.createQueue('Jobs');
  await home.createQueue('jobs');
  const { queues } = accepted(await home.run({ type: 'list-queues' }));
  assert.deepEqual(queues, ['Jobs', 'jobs']);
});

test('a name ending in .fifo without FifoQueue=true is refused (1.2, 5.3)', async (open) => {
  assertRefused(await create(open, 'jobs.fifo'), 'InvalidParameterValue', standardNameText);
  const denied = await create(open, 'jobs.fifo', { FifoQueue: 'false' });
  assertRefused(denied, 'InvalidParameterValue', standardNameText);
});

test('FifoQueue=true with a name not ending in .fifo is refused (1.2, 5.3)', async (open) => {
  assertRefused(
    await create(open, 'jobs', { FifoQueue: 'true' }),
    'InvalidParameterValue',
    fifoNameText,
  );
  assertRefused(
    await create(open, 'jobs.FIFO', { FifoQueue: 'true' }),
    'InvalidParameterValue',
    fifoNameText,
  );
  const { home, name } = await open.queue();
  const again = await home.run({
    type: 'create-queue',
    queue: name,
    attributes: { FifoQueue: 'true' },
  });
  assertRefused(again, 'InvalidParameterValue', fifoNameText);
});

test('a missing name and an empty name have different error texts (5.3)', async (open) => {
  const missing = 'Value for parameter QueueName is invalid. Reason: Must specify a queue name.';
  assertRefused(await create(open, undefined), 'InvalidParameterValue', missing);
  assertRefused(await create(open, ''), 'InvalidParameterValue', 'Queue name cannot be empty');
});

test('the ARN consists of region, account and name (1.3)', async (open) => {
  const here = await (await open.queue()).attributes('QueueArn');
  assert.equal(here['QueueArn'], 'arn:aws:sqs:us-east-1:000000000000:jobs');

  const elsewhere = await open.home({ region: 'eu-central-1', account: '123456789012' });
  const there = await (await elsewhere.createQueue('jobs')).attributes('QueueArn');
  assert.equal(there['QueueArn'], 'arn:aws:sqs:eu-central-1:123456789012:jobs');
});
