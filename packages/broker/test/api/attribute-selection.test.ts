/**
 * ReceiveMessage returns exactly the requested attributes (7.8, 7.9, 9.6, 9.7). The digests are tested in
 * message-digests.test.ts.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { arnOf, type Json, startedAt, TestApi, urlOf } from './fixture.ts';

const jobs = urlOf('jobs');
const fifo = urlOf('jobs.fifo');

async function received(input: object, send: object = {}, headers = {}): Promise<Json> {
  const api = new TestApi();
  await api.createQueue('jobs');
  await api.called('SendMessage', { QueueUrl: jobs, MessageBody: 'hello', ...send }, headers);
  return api.receiveOne(jobs, input);
}

describe('system attributes', () => {
  test('without names there are none (9.6)', async () => {
    assert.equal((await received({})).Attributes, undefined);
    assert.equal((await received({ AttributeNames: [] })).Attributes, undefined);
  });

  test('both lists of names are combined (9.6)', async () => {
    const { Attributes } = await received({
      AttributeNames: ['SentTimestamp'],
      MessageSystemAttributeNames: ['ApproximateReceiveCount'],
    });
    const expected = { SentTimestamp: String(startedAt), ApproximateReceiveCount: '1' };
    assert.deepEqual(Attributes, expected);
  });

  test('names that the message lacks, and names that do not exist, are left out (9.6)', async () => {
    const AttributeNames = ['AWSTraceHeader', 'SequenceNumber', 'Colour', '__proto__'];
    assert.equal((await received({ AttributeNames })).Attributes, undefined);
  });

  test('All on a standard queue: no number, no deduplication id (7.9)', async () => {
    const { Attributes } = await received({ AttributeNames: ['All'] });
    assert.deepEqual(Attributes, {
      SenderId: '000000000000',
      SentTimestamp: String(startedAt),
      ApproximateReceiveCount: '1',
      ApproximateFirstReceiveTimestamp: String(startedAt),
    });
  });

  test('a group that was sent to a standard queue is returned (7.9)', async () => {
    const send = { MessageGroupId: 'tenant' };
    const { Attributes } = await received({ AttributeNames: ['MessageGroupId'] }, send);
    assert.deepEqual(Attributes, { MessageGroupId: 'tenant' });
  });

  test('All on a FIFO queue: group, deduplication id and the number of the send (7.9)', async () => {
    const api = new TestApi();
    await api.createQueue('jobs.fifo', { ContentBasedDeduplication: 'true' });
    const send = { QueueUrl: fifo, MessageBody: 'hello', MessageGroupId: 'g' };
    const sent = await api.called('SendMessage', send);
    await api.backend.advance(1500);
    const { Attributes } = await api.receiveOne(fifo, { MessageSystemAttributeNames: ['All'] });
    assert.deepEqual(Attributes, {
      SenderId: '000000000000',
      SentTimestamp: String(startedAt),
      ApproximateReceiveCount: '1',
      ApproximateFirstReceiveTimestamp: String(startedAt + 1500),
      MessageGroupId: 'g',
      MessageDeduplicationId: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      SequenceNumber: sent.SequenceNumber,
    });
  });

  test('a dead letter has its source, and its own id as deduplication id (7.9, 12.6)', async () => {
    const api = new TestApi();
    const dead = await api.createQueue('dead.fifo');
    const policy = { deadLetterTargetArn: arnOf('dead.fifo'), maxReceiveCount: 1 };
    await api.createQueue('jobs.fifo', { RedrivePolicy: JSON.stringify(policy) });
    const ids = { MessageGroupId: 'g', MessageDeduplicationId: 'd' };
    const { MessageId } = await api.called('SendMessage', {
      QueueUrl: fifo,
      MessageBody: 'x',
      ...ids,
    });
    await api.receiveOne(fifo, { VisibilityTimeout: 0 });
    assert.deepEqual(await api.called('ReceiveMessage', { QueueUrl: fifo }), {});
    const { Attributes } = await api.receiveOne(dead, { AttributeNames: ['All'] });
    assert.equal(Attributes.DeadLetterQueueSourceArn, arnOf('jobs.fifo'));
    assert.equal(Attributes.MessageDeduplicationId, MessageId);
    assert.equal(Attributes.MessageGroupId, 'g');
  });
});

describe('the trace header', () => {
  const AttributeNames = ['AWSTraceHeader'];
  const MessageSystemAttributes = {
    AWSTraceHeader: { DataType: 'String', StringValue: 'Root=own' },
  };

  test('is what was sent as a system attribute (7.5)', async () => {
    const { Attributes } = await received({ AttributeNames }, { MessageSystemAttributes });
    assert.deepEqual(Attributes, { AWSTraceHeader: 'Root=own' });
  });

  test("otherwise is the request's own header, in single calls and in batches (7.5)", async () => {
    const headers = { 'x-amzn-trace-id': 'Root=header' };
    const { Attributes } = await received({ AttributeNames }, {}, headers);
    assert.deepEqual(Attributes, { AWSTraceHeader: 'Root=header' });

    const api = new TestApi();
    await api.createQueue('jobs');
    const Entries = [{ Id: 'a', MessageBody: 'x' }];
    await api.called('SendMessageBatch', { QueueUrl: jobs, Entries }, headers);
    const message = await api.receiveOne(jobs, { AttributeNames });
    assert.deepEqual(message.Attributes, { AWSTraceHeader: 'Root=header' });
  });

  test('is not taken from the request when the message has one (7.5)', async () => {
    const headers = { 'x-amzn-trace-id': 'Root=header' };
    const { Attributes } = await received({ AttributeNames }, { MessageSystemAttributes }, headers);
    assert.deepEqual(Attributes, { AWSTraceHeader: 'Root=own' });
  });

  test('of the request has no digest in the answer, with or without a value (7.5)', async () => {
    const api = new TestApi();
    await api.createQueue('jobs');
    for (const value of ['Root=header', '']) {
      const headers = { 'x-amzn-trace-id': value };
      const sent = await api.called('SendMessage', { QueueUrl: jobs, MessageBody: 'x' }, headers);
      assert.equal(sent.MD5OfMessageSystemAttributes, undefined);
    }
  });
});

describe('message attributes', () => {
  const names = ['Hello', 'Help.Me', 'other', 'All.of'];
  const MessageAttributes = Object.fromEntries(
    names.map((name) => [name, { DataType: 'String', StringValue: name }]),
  );

  const cases: readonly [readonly string[], readonly string[]][] = [
    [[], []],
    [['Hello'], ['Hello']],
    [['hello', 'Hel', 'None', '', '.', 'a b', '__proto__'], []],
    [['All'], names],
    [['*'], names],
    [['.*'], names],
    [['Hel.*'], ['Hello', 'Help.Me']],
    [['Help.*'], ['Help.Me']],
    [['Help.M.*'], ['Help.Me']],
    [['Help.Me.*'], ['Help.Me']],
    [
      ['Hello', 'Hello', 'H.*', 'other'],
      ['Hello', 'Help.Me', 'other'],
    ],
    [['Hel*'], []],
  ];

  for (const [MessageAttributeNames, expected] of cases) {
    const asked = MessageAttributeNames.map((name) => `'${name}'`).join(', ');
    test(`asking for [${asked}] gives [${expected.join(', ')}] (9.7)`, async () => {
      const message = await received({ MessageAttributeNames }, { MessageAttributes });
      assert.deepEqual(Object.keys(message.MessageAttributes ?? {}), expected);
      assert.equal(message.MD5OfMessageAttributes === undefined, expected.length === 0);
    });
  }

  test('a message without attributes returns none, whatever is asked for (9.7)', async () => {
    const message = await received({ MessageAttributeNames: ['All'] });
    assert.equal(message.MessageAttributes, undefined);
    assert.equal(message.MD5OfMessageAttributes, undefined);
  });
});
