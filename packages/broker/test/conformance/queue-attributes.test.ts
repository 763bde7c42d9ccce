/**
 * Every queue attribute: its default, its range, how it reads back, and which do not go together. What an attribute does
 * to messages is tested with that behavior.
 */

import assert from 'node:assert/strict';
import type { Attributes } from '../../src/core/commands.ts';
import type { ErrorShape } from '../../src/core/errors.ts';
import { accepted, assertRefused, type Opener, startedAt, test } from './fixture.ts';

const startedSeconds = String(startedAt / 1000);

const standardDefaults = {
  ApproximateNumberOfMessages: '0',
  ApproximateNumberOfMessagesDelayed: '0',
  ApproximateNumberOfMessagesNotVisible: '0',
  CreatedTimestamp: startedSeconds,
  DelaySeconds: '0',
  LastModifiedTimestamp: startedSeconds,
  MaximumMessageSize: '1048576',
  MessageRetentionPeriod: '345600',
  QueueArn: 'arn:aws:sqs:us-east-1:000000000000:jobs',
  ReceiveMessageWaitTimeSeconds: '0',
  SqsManagedSseEnabled: 'true',
  VisibilityTimeout: '30',
};

const fifoDefaults = {
  ...standardDefaults,
  QueueArn: 'arn:aws:sqs:us-east-1:000000000000:jobs.fifo',
  ContentBasedDeduplication: 'false',
  DeduplicationScope: 'queue',
  FifoQueue: 'true',
  FifoThroughputLimit: 'perQueue',
};

const ranges = [
  ['VisibilityTimeout', 0, 43_200],
  ['DelaySeconds', 0, 900],
  ['MaximumMessageSize', 1024, 1_048_576],
  ['MessageRetentionPeriod', 60, 1_209_600],
  ['ReceiveMessageWaitTimeSeconds', 0, 20],
  ['KmsDataKeyReusePeriodSeconds', 60, 86_400],
] as const;

/** Creating a queue with the attributes and setting them later are refused alike. */
async function assertNotAllowed(
  open: Opener,
  options: { fifo?: boolean },
  attributes: Attributes,
  shape: ErrorShape,
  text: string,
): Promise<void> {
  const queue = await open.queue(options);
  const before = await queue.attributes('All');
  assertRefused(await queue.trySet(attributes), shape, text);
  assert.deepEqual(await queue.attributes('All'), before);
  const fifo = options.fifo ? { FifoQueue: 'true' } : {};
  const command = {
    type: 'create-queue',
    queue: options.fifo ? 'other.fifo' : 'other',
    attributes: { ...fifo, ...attributes },
  } as const;
  assertRefused(await (await open.home()).run(command), shape, text);
}

test('a fresh standard queue shows these attributes and no others (6.7, 17.7)', async (open) => {
  assert.deepEqual(await (await open.queue()).attributes('All'), standardDefaults);
});

test('a fresh FIFO queue shows four more attributes (6.7)', async (open) => {
  assert.deepEqual(await (await open.queue({ fifo: true })).attributes('All'), fifoDefaults);
});

test('a number attribute takes both ends of its range and nothing outside (6.1)', async (open) => {
  for (const [name, min, max] of ranges) {
    const queue = await open.queue();
    for (const value of [String(min), String(max)]) {
      await queue.set({ [name]: value });
      assert.equal((await queue.attributes(name))[name], value);
    }
    const text = `Invalid value for the parameter ${name}.`;
    for (const value of [String(min - 1), String(max + 1)]) {
      await assertNotAllowed(open, {}, { [name]: value }, 'InvalidAttributeValue', text);
    }
  }
});

test('a number attribute takes only whole decimal numbers (6.1)', async (open) => {
  for (const value of ['', 'abc', '1.5', '0x10', '1e1', ' 30', '-0', '9'.repeat(30)]) {
    const text = 'Invalid value for the parameter VisibilityTimeout.';
    await assertNotAllowed(open, {}, { VisibilityTimeout: value }, 'InvalidAttributeValue', text);
  }
});

test('an enumerated attribute takes only its exact values (6.1)', async (open) => {
  const wrong: readonly Attributes[] = [
    { SqsManagedSseEnabled: 'yes' },
    { ContentBasedDeduplication: '1' },
    { DeduplicationScope: 'messagegroup' },
    { FifoThroughputLimit: 'perGroup' },
  ];
  for (const attributes of wrong) {
    const text = `Invalid value for the parameter ${Object.keys(attributes)[0]}.`;
    await assertNotAllowed(open, { fifo: true }, attributes, 'InvalidAttributeValue', text);
  }
});

test('FifoQueue and ContentBasedDeduplication take any case and are shown in lower case (5.5)', async (open) => {
  const attributes = { FifoQueue: 'True', ContentBasedDeduplication: 'TRUE' };
  const queue = await open.queue({ fifo: true, attributes });
  const shown = await queue.attributes('FifoQueue', 'ContentBasedDeduplication');
  assert.deepEqual(shown, { FifoQueue: 'true', ContentBasedDeduplication: 'true' });
});

test('only the named attributes are returned, and none without names (5.9)', async (open) => {
  const queue = await open.queue();
  assert.deepEqual(await queue.attributes('DelaySeconds', 'VisibilityTimeout'), {
    DelaySeconds: '0',
    VisibilityTimeout: '30',
  });
  assert.deepEqual(await queue.attributes(), {});
});

test('an unknown attribute name is refused (5.9)', async (open) => {
  const { home } = await open.queue();
  const names = ['VisibilityTimeout', 'Colour'];
  const outcome = await home.run({ type: 'get-attributes', queue: 'jobs', names });
  assertRefused(outcome, 'InvalidAttributeName', 'Unknown Attribute Colour.');
});

test('an attribute without a value on this queue is left out (5.9)', async (open) => {
  assert.deepEqual(
    await (await open.queue()).attributes('Policy', 'FifoQueue', 'RedrivePolicy'),
    {},
  );
});

test('one bad value prevents all the others from being set (5.10)', async (open) => {
  const text = 'Invalid value for the parameter DelaySeconds.';
  const attributes = { VisibilityTimeout: '7', DelaySeconds: '901' };
  await assertNotAllowed(open, {}, attributes, 'InvalidAttributeValue', text);
});

test('setting attributes updates LastModifiedTimestamp but not CreatedTimestamp (5.10)', async (open) => {
  const queue = await open.queue();
  await queue.advance(10);
  await queue.set({ VisibilityTimeout: '7' });
  const shown = await queue.attributes('CreatedTimestamp', 'LastModifiedTimestamp');
  assert.equal(shown['CreatedTimestamp'], startedSeconds);
  assert.equal(shown['LastModifiedTimestamp'], String(startedAt / 1000 + 10));
});

test('read-only attributes are refused as unknown when set (5.10)', async (open) => {
  const readOnly = [
    'QueueArn',
    'CreatedTimestamp',
    'LastModifiedTimestamp',
    'ApproximateNumberOfMessages',
    'ApproximateNumberOfMessagesNotVisible',
    'ApproximateNumberOfMessagesDelayed',
    'All',
  ];
  for (const name of readOnly) {
    const text = `Unknown Attribute ${name}.`;
    await assertNotAllowed(open, {}, { [name]: '1' }, 'InvalidAttributeName', text);
  }
});

test('an unknown attribute is refused and named (5.10)', async (open) => {
  const text = 'Unknown Attribute toString.';
  await assertNotAllowed(open, {}, { toString: '1' }, 'InvalidAttributeName', text);
});

test('an empty value removes Policy, RedriveAllowPolicy, RedrivePolicy and KmsMasterKeyId (5.10)', async (open) => {
  const queue = await open.queue();
  const set = {
    Policy: '{"Statement":{"Effect":"Deny","Principal":"*","Action":"*"}}',
    RedriveAllowPolicy: '{"redrivePermission":"denyAll"}',
    KmsMasterKeyId: 'alias/mine',
  };
  await queue.set(set);
  assert.deepEqual(await queue.attributes(...Object.keys(set)), set);
  await queue.set({ Policy: '', RedriveAllowPolicy: '', RedrivePolicy: '', KmsMasterKeyId: '' });
  assert.deepEqual(await queue.attributes(...Object.keys(set), 'RedrivePolicy'), {});
});

test('FifoQueue and ContentBasedDeduplication are unknown on a standard queue (6.2)', async (open) => {
  for (const FifoQueue of ['true', 'false']) {
    const text = 'Unknown Attribute FifoQueue.';
    assertRefused(await (await open.queue()).trySet({ FifoQueue }), 'InvalidAttributeName', text);
  }
  const text = 'Unknown Attribute FifoQueue.';
  await assertNotAllowed(open, {}, { FifoQueue: 'false' }, 'InvalidAttributeName', text);
  const contentText = 'Unknown Attribute ContentBasedDeduplication.';
  const attributes = { ContentBasedDeduplication: 'true' };
  await assertNotAllowed(open, {}, attributes, 'InvalidAttributeName', contentText);
});

test('a standard queue has no DeduplicationScope and no FifoThroughputLimit (6.2)', async (open) => {
  for (const attributes of [{ DeduplicationScope: 'queue' }, { FifoThroughputLimit: 'perQueue' }]) {
    const [name] = Object.keys(attributes);
    const text = `You can specify the ${name} only when FifoQueue is set to true.`;
    await assertNotAllowed(open, {}, attributes, 'InvalidAttributeName', text);
  }
});

test('a queue stays FIFO: FifoQueue=true changes nothing, false is refused (6.3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.set({ FifoQueue: 'true' });
  assert.deepEqual(await queue.attributes('All'), fifoDefaults);
  const text =
    'Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.';
  assertRefused(await queue.trySet({ FifoQueue: 'false' }), 'InvalidAttributeValue', text);
});

test('perMessageGroupId needs the scope messageGroup, set in this call or before (6.4)', async (open) => {
  const grouped = { DeduplicationScope: 'messageGroup' };
  const perGroup = { FifoThroughputLimit: 'perMessageGroupId' };
  await open.queue({ fifo: true, attributes: { ...perGroup, ...grouped } });
  const queue = await open.queue({ fifo: true, attributes: grouped });
  await queue.set(perGroup);
  const text =
    'Invalid value for the parameter FifoThroughputLimit. Reason: The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup.';
  await assertNotAllowed(open, { fifo: true }, perGroup, 'InvalidAttributeValue', text);
  assertRefused(await queue.trySet({ DeduplicationScope: 'queue' }), 'InvalidAttributeValue', text);
  await queue.set({ DeduplicationScope: 'queue', FifoThroughputLimit: 'perQueue' });
});

test('the scope messageGroup needs no throughput limit (6.4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.set({ DeduplicationScope: 'messageGroup' });
  assert.equal((await queue.attributes('FifoThroughputLimit'))['FifoThroughputLimit'], 'perQueue');
});

test('a KMS key and SQS-managed encryption exclude each other (6.5)', async (open) => {
  const both = { KmsMasterKeyId: 'alias/mine', SqsManagedSseEnabled: 'true' };
  const text =
    'You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.';
  await assertNotAllowed(open, {}, both, 'InvalidAttributeName', text);
});

test('a KMS key turns SQS-managed encryption off, and it stays off without the key (6)', async (open) => {
  const queue = await open.queue();
  await queue.set({ KmsMasterKeyId: 'anything at all' });
  assert.equal((await queue.attributes('All'))['SqsManagedSseEnabled'], 'false');
  await queue.set({ KmsMasterKeyId: '' });
  assert.equal((await queue.attributes('All'))['SqsManagedSseEnabled'], 'false');
});

test('KmsDataKeyReusePeriodSeconds is shown once set, and 300 without a key removes it (6)', async (open) => {
  const queue = await open.queue({ attributes: { KmsMasterKeyId: 'k' } });
  await queue.set({ KmsDataKeyReusePeriodSeconds: '600' });
  assert.equal((await queue.attributes('All'))['KmsDataKeyReusePeriodSeconds'], '600');
  await queue.set({ KmsMasterKeyId: '', KmsDataKeyReusePeriodSeconds: '300' });
  assert.deepEqual(await queue.attributes('KmsDataKeyReusePeriodSeconds'), {});
});

test('a Policy must be written in the policy language and reads back as it was given (6)', async (open) => {
  const Policy =
    '{ "Version": "2012-10-17",\n "Statement": [{"Effect":"Deny","Principal":"*","Action":"*"}] }';
  assert.equal(
    (await (await open.queue({ attributes: { Policy } })).attributes('Policy'))['Policy'],
    Policy,
  );
  const unknown = '{"Statement":{"Effect":"deny","Principal":"*","Action":"*"}}';
  for (const bad of ['{', '[]', '"text"', 'null', '{}', unknown]) {
    const text = 'Invalid value for the parameter Policy.';
    await assertNotAllowed(open, {}, { Policy: bad }, 'InvalidAttributeValue', text);
  }
});

test('a smaller MaximumMessageSize applies to the next send (6)', async (open) => {
  const queue = await open.queue();
  await queue.set({ MaximumMessageSize: '1024' });
  await queue.send({ body: 'x'.repeat(1024) });
  assertRefused(await queue.trySend({ body: 'x'.repeat(1025) }), 'InvalidParameterValue');
});

test('six messages in three groups, one received from each of two: 4 visible, 2 in flight (6.6)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g1-2', 'g2-1', 'g2-2', 'g3-1', 'g3-2');
  await queue.receive({ count: 2 });
  assert.deepEqual(await queue.counts(), [4, 2, 0]);
});

test('messages that only wait behind one in flight are counted as visible (6.6)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendNamed('g1-1', 'g1-2', 'g1-3');
  await queue.receive({ count: 1 });
  assert.deepEqual(await queue.counts(), [2, 1, 0]);
});

test('counts are exact at every stage of a message (6.6)', async (open) => {
  const queue = await open.queue({ attributes: { DelaySeconds: '5', VisibilityTimeout: '10' } });
  await queue.send();
  assert.deepEqual(await queue.counts(), [0, 0, 1]);
  await queue.advance(4.999);
  assert.deepEqual(await queue.counts(), [0, 0, 1]);
  await queue.advance(0.001);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
  await queue.receive();
  assert.deepEqual(await queue.counts(), [0, 1, 0]);
  await queue.advance(9.999);
  assert.deepEqual(await queue.counts(), [0, 1, 0]);
  await queue.advance(0.001);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
  await queue.remove(await queue.receiveOne());
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});

test("OnceMQ's own attributes exist only on FIFO queues (O1, O2)", async (open) => {
  for (const attributes of [{ DeduplicationIntervalSeconds: '300' }, { Profile: 'aws' }]) {
    const [name] = Object.keys(attributes);
    const text = `You can specify the ${name} only when FifoQueue is set to true.`;
    await assertNotAllowed(open, {}, attributes, 'InvalidAttributeName', text);
  }
});

test("OnceMQ's own attributes are shown when asked for by name, and in All once they are set (O1, O2)", async (open) => {
  const queue = await open.queue({ fifo: true });
  assert.deepEqual(await queue.attributes('DeduplicationIntervalSeconds', 'Profile'), {
    DeduplicationIntervalSeconds: '300',
    Profile: 'aws',
  });
  await queue.set({ DeduplicationIntervalSeconds: '600', Profile: 'yandex' });
  const all = await queue.attributes('All');
  assert.equal(all['DeduplicationIntervalSeconds'], '600');
  assert.equal(all['Profile'], 'yandex');
});

test('DeduplicationIntervalSeconds takes 1 second to 14 days (O1)', async (open) => {
  const queue = await open.queue({ fifo: true });
  for (const value of ['1', '1209600']) {
    accepted(await queue.trySet({ DeduplicationIntervalSeconds: value }));
  }
  for (const value of ['0', '1209601']) {
    const text = 'Invalid value for the parameter DeduplicationIntervalSeconds.';
    const attributes = { DeduplicationIntervalSeconds: value };
    await assertNotAllowed(open, { fifo: true }, attributes, 'InvalidAttributeValue', text);
  }
});
