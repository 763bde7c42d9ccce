/**
 * The MD5 digests that clients check (7.6–7.8), compared with recorded values from Amazon. A wrong one makes SDKs reject a
 * good message.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, TestApi, urlOf } from './fixture.ts';

const jobs = urlOf('jobs');

async function openApi(): Promise<TestApi> {
  const api = new TestApi();
  await api.createQueue('jobs');
  return api;
}

async function sent(api: TestApi, input: object): Promise<Json> {
  return api.called('SendMessage', { QueueUrl: jobs, MessageBody: 'x', ...input });
}

const mixed = {
  color: { DataType: 'String', StringValue: 'blue' },
  count: { DataType: 'Number', StringValue: '3' },
  blob: { DataType: 'Binary', BinaryValue: Buffer.of(1, 2, 3).toString('base64') },
};

const known: readonly [object, string][] = [
  [
    { timestamp: { DataType: 'Number', StringValue: '1493147359900' } },
    '235c5c510d26fb653d073faed50ae77c',
  ],
  [{ Foo: { DataType: 'String', StringValue: 'Bar' } }, 'ae7155c6026991b6d54b11589678bf9c'],
  [mixed, 'd838729972a4b70e2d2acd9d59ac847c'],
];

for (const [MessageAttributes, md5] of known) {
  test(`message attributes have the digest ${md5}, sent and received (7.7)`, async () => {
    const api = await openApi();
    const answer = await sent(api, { MessageAttributes });
    assert.equal(answer.MD5OfMessageAttributes, md5);
    const message = await api.receiveOne(jobs, { MessageAttributeNames: ['All'] });
    assert.equal(message.MD5OfMessageAttributes, md5);
  });
}

test('system attributes have their own digest, only in the answer to the send (7.7)', async () => {
  const api = await openApi();
  const StringValue = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1';
  const MessageSystemAttributes = { AWSTraceHeader: { DataType: 'String', StringValue } };
  const answer = await sent(api, { MessageSystemAttributes });
  assert.equal(answer.MD5OfMessageSystemAttributes, '5ae4d5d7636402d80f4eb6d213245a88');
  assert.equal(answer.MD5OfMessageAttributes, undefined);
  const message = await api.receiveOne(jobs, { AttributeNames: ['All'] });
  assert.equal(message.MD5OfMessageSystemAttributes, undefined);
});

test('a body has the digest of its UTF-8 bytes, sent and received (7.6)', async () => {
  const api = await openApi();
  const answer = await sent(api, { MessageBody: 'héllo €' });
  const md5 = '6a1950b864488746748ba6312d3ce712';
  assert.equal(answer.MD5OfMessageBody, md5);
  assert.equal((await api.receiveOne(jobs)).MD5OfBody, md5);
});

test('on receive the digest covers the returned attributes (7.8)', async () => {
  const api = await openApi();
  const one = { Foo: { DataType: 'String', StringValue: 'Bar' } };
  await sent(api, { MessageAttributes: { ...mixed, ...one } });
  const message = await api.receiveOne(jobs, { MessageAttributeNames: ['Foo'] });
  assert.equal(message.MD5OfMessageAttributes, 'ae7155c6026991b6d54b11589678bf9c');
});

test('a duplicate is answered with the digests of its own content (11.13)', async () => {
  const api = new TestApi();
  const QueueUrl = await api.createQueue('jobs.fifo');
  const ids = { MessageGroupId: 'g', MessageDeduplicationId: 'd' };
  const first = await sent(api, { QueueUrl, ...ids, MessageBody: 'first' });
  const MessageAttributes = { Foo: { DataType: 'String', StringValue: 'Bar' } };
  const second = await sent(api, { QueueUrl, ...ids, MessageBody: 'hello', MessageAttributes });
  assert.equal(second.MessageId, first.MessageId);
  assert.equal(second.SequenceNumber, first.SequenceNumber);
  assert.equal(second.MD5OfMessageBody, '5d41402abc4b2a76b9719d911017c592');
  assert.equal(second.MD5OfMessageAttributes, 'ae7155c6026991b6d54b11589678bf9c');
});
