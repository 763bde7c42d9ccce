/**
 * The opaque strings that the api creates itself: page tokens (5.7), task handles (13.2) and sequence numbers (11.7).
 * Clients may have changed those that they send back.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sequenceNumber } from '../../src/core/sequence-number.ts';
import { arnOf, assertJsonError, type Json, TestApi, urlOf } from './fixture.ts';

const invalid = {
  type: 'com.amazon.coral.service#InvalidParameterValueException',
  code: 'InvalidParameterValue',
};

async function pages(api: TestApi, action: string, input: object, member: string): Promise<Json[]> {
  const found: Json[] = [];
  let NextToken: string | undefined;
  do {
    const page = await api.called(action, { ...input, NextToken });
    found.push(page[member]);
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
  return found;
}

test('pages of queues follow each other, within the prefix (5.7)', async () => {
  const api = new TestApi();
  for (const name of ['a1', 'b1', 'b2', 'b3', 'c1']) await api.createQueue(name);
  const input = { QueueNamePrefix: 'b', MaxResults: 2 };
  const found = await pages(api, 'ListQueues', input, 'QueueUrls');
  assert.deepEqual(found, [[urlOf('b1'), urlOf('b2')], [urlOf('b3')]]);
});

test('without a page size there is no token (5.7)', async () => {
  const api = new TestApi();
  for (const name of ['a', 'b']) await api.createQueue(name);
  assert.deepEqual(Object.keys(await api.called('ListQueues')), ['QueueUrls']);
});

test('pages of dead-letter sources follow each other (12.9)', async () => {
  const api = new TestApi();
  const QueueUrl = await api.createQueue('dead');
  const policy = { deadLetterTargetArn: arnOf('dead'), maxReceiveCount: 1 };
  for (const name of ['a', 'b', 'c']) {
    await api.createQueue(name, { RedrivePolicy: JSON.stringify(policy) });
  }
  const input = { QueueUrl, MaxResults: 1 };
  const found = await pages(api, 'ListDeadLetterSourceQueues', input, 'queueUrls');
  assert.deepEqual(found, [[urlOf('a')], [urlOf('b')], [urlOf('c')]]);
});

test('a token not issued by this server is refused (5.7)', async () => {
  const api = new TestApi();
  const QueueUrl = await api.createQueue('jobs');
  for (const NextToken of ['', '!', 'a', 'am9icw==', 'am9icw=', 'a b', '\u0000', '_w']) {
    const input = { QueueUrl, MaxResults: 1, NextToken };
    assertJsonError(await api.json('ListQueues', input), invalid);
    assertJsonError(await api.json('ListDeadLetterSourceQueues', input), invalid);
  }
});

test('a task handle that cannot be decoded is refused (13.7)', async () => {
  const api = new TestApi();
  const encode = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64');
  const bad = ['', 'x', '{}', encode(null), encode('text'), encode([]), encode({ taskId: 'a' })];
  const text = 'Value for parameter TaskHandle is invalid.';
  for (const TaskHandle of [...bad, encode({ taskId: 1, sourceArn: 2 })]) {
    assertJsonError(await api.json('CancelMessageMoveTask', { TaskHandle }), { ...invalid, text });
  }
  const TaskHandle = encode({ taskId: 'a', sourceArn: arnOf('none') });
  assertJsonError(await api.json('CancelMessageMoveTask', { TaskHandle }), {
    type: 'ResourceNotFoundException',
    code: 'ResourceNotFoundException',
    status: 404,
  });
});

test('a task shows its handle while it runs, and not after it ended (13.6)', async () => {
  const api = new TestApi();
  await api.createQueue('dead');
  const policy = { deadLetterTargetArn: arnOf('dead'), maxReceiveCount: 1 };
  await api.createQueue('jobs', { RedrivePolicy: JSON.stringify(policy) });
  for (const MessageBody of ['x', 'y']) {
    await api.called('SendMessage', { QueueUrl: urlOf('dead'), MessageBody });
  }
  const SourceArn = arnOf('dead');
  const { TaskHandle } = await api.called('StartMessageMoveTask', {
    SourceArn,
    DestinationArn: arnOf('jobs'),
    MaxNumberOfMessagesPerSecond: 1,
  });
  const tasks = async (): Promise<Json> =>
    (await api.called('ListMessageMoveTasks', { SourceArn })).Results[0];
  assert.equal((await tasks()).TaskHandle, TaskHandle);
  await api.backend.advance(1000);
  const ended = await tasks();
  assert.equal(ended.Status, 'COMPLETED');
  assert.equal(ended.ApproximateNumberOfMessagesMoved, 2);
  assert.equal(ended.TaskHandle, undefined);
});

test('a queue without tasks has no results (2.4)', async () => {
  const api = new TestApi();
  await api.createQueue('dead');
  assert.deepEqual(await api.called('ListMessageMoveTasks', { SourceArn: arnOf('dead') }), {});
});

test('sequence numbers have 20 digits and sort as strings, up to the last counter (11.7)', () => {
  const sequences = [0, 1, 9, 10, 4711, 2 ** 32, Number.MAX_SAFE_INTEGER];
  const numbers = sequences.map(sequenceNumber);
  for (const number of numbers) assert.match(number, /^\d{20}$/);
  assert.deepEqual(numbers.toSorted(), numbers);
});

test('sequence numbers rise over the whole queue (11.7)', async () => {
  const api = new TestApi();
  const QueueUrl = await api.createQueue('jobs.fifo', { ContentBasedDeduplication: 'true' });
  const numbers: string[] = [];
  for (const MessageBody of ['a', 'b', 'c', 'd']) {
    const input = { QueueUrl, MessageBody, MessageGroupId: `g${numbers.length % 2}` };
    numbers.push((await api.called('SendMessage', input)).SequenceNumber);
  }
  assert.deepEqual(numbers.toSorted(), numbers);
  assert.equal(new Set(numbers).size, numbers.length);
});
