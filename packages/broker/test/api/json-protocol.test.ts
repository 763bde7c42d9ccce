/**
 * AWS JSON 1.0 (§2) as a protocol: which requests use it, what is left out, what is coerced, and how a malformed body is
 * answered. The worst that any input may cause is a refusal.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Type } from '../../src/api/shapes/shape.ts';
import { sqsActions } from '../../src/api/shapes/sqs.ts';
import { assertJsonError, type Json, requestId, TestApi, urlOf } from './fixture.ts';

const jobs = urlOf('jobs');
const serialization = {
  type: 'com.amazon.coral.service#SerializationException',
  code: 'MalformedInput',
};
const unknownOperation = {
  type: 'com.amazon.coral.service#UnknownOperationException',
  code: 'InvalidAction',
};

async function openApi(): Promise<TestApi> {
  const api = new TestApi();
  await api.createQueue('jobs');
  return api;
}

test('any path is accepted, since the action is in a header (2.1)', async () => {
  const api = await openApi();
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'AmazonSQS.ListQueues',
  };
  for (const path of ['/', '/000000000000/jobs', '/anything']) {
    const reply = await api.send({ path, headers, body: '{}' });
    assert.deepEqual(JSON.parse(reply.body), { QueueUrls: [jobs] });
  }
});

test('a target header makes a request AWS JSON, whatever its content type (2.1)', async () => {
  const api = await openApi();
  const headers = { 'x-amz-target': 'AmazonSQS.ListQueues' };
  const reply = await api.send({ headers, body: '{}' });
  assert.deepEqual(JSON.parse(reply.body), { QueueUrls: [jobs] });
});

test('a missing target, another service and an unknown action are unknown operations (2.8)', async () => {
  const api = await openApi();
  const contentType = { 'content-type': 'application/x-amz-json-1.0' };
  const targets = ['', 'SendMessage', 'AmazonSQS.', 'AmazonSQS.sendMessage', 'AmazonSNS.Publish'];
  const headers = [contentType, ...targets.map((target) => ({ 'x-amz-target': target }))];
  for (const each of headers) {
    const reply = await api.send({ headers: each, body: '{}' });
    assertJsonError({ ...reply, value: JSON.parse(reply.body) }, unknownOperation);
    assert.equal(reply.headers['x-amzn-RequestId'], requestId);
    assert.equal(reply.headers['Content-Type'], 'application/x-amz-json-1.0');
  }
});

test('a body that is not a JSON object is malformed (2.7)', async () => {
  const api = await openApi();
  const bodies = ['', '{', '{"QueueUrl":', 'nonsense', '[]', '"text"', '1', 'null', 'true', '{}x'];
  for (const body of bodies) {
    const reply = await api.send({
      headers: { 'x-amz-target': 'AmazonSQS.ListQueues' },
      body,
    });
    assertJsonError({ ...reply, value: JSON.parse(reply.body) }, serialization);
  }
});

test('a body that is not UTF-8 is malformed (2.7)', async () => {
  const api = await openApi();
  const body = Buffer.from(`{"QueueUrl":"${jobs}","MessageBody":"caf\u00e9"}`, 'latin1');
  const reply = await api.send({ headers: { 'x-amz-target': 'AmazonSQS.SendMessage' }, body });
  assertJsonError({ ...reply, value: JSON.parse(reply.body) }, serialization);
});

test('a body of more values than any input has is malformed, wherever they are', async () => {
  const api = await openApi();
  const ignored = (count: number): string =>
    `{"Ignored":[${Array.from({ length: count }, () => '1')}],"MaxResults":9}`;
  assert.deepEqual(await api.called('ListQueues', ignored(9_990)), { QueueUrls: [jobs] });
  assertJsonError(await api.json('ListQueues', ignored(10_000)), serialization);
  const text = JSON.stringify({ QueueUrl: jobs, MessageBody: '{"a":[],'.repeat(20_000) });
  assert.ok((await api.called('SendMessage', text)).MessageId, 'a text is one value');
});

test('nesting that is too deep is malformed anywhere in the body', async () => {
  const api = await openApi();
  const deep = '['.repeat(200_000);
  const closed = deep + ']'.repeat(200_000);
  assertJsonError(await api.json('ListQueues', deep), serialization);
  assertJsonError(await api.json('ListQueues', closed), serialization);
  assertJsonError(await api.json('ListQueues', `{"NextToken":${closed}}`), serialization);
  assertJsonError(await api.json('ListQueues', `{"x":${closed}}`), serialization);
  const shallow = `${'['.repeat(60)}${']'.repeat(60)}`;
  const long = `{"x":${shallow},"y":"${'['.repeat(5_000)}"}`;
  assert.deepEqual(await api.called('ListQueues', long), { QueueUrls: [jobs] });
  // Alternating lists and objects count together.
  const mixed = (pairs: number): string =>
    `{"y":"${'z'.repeat(5_000)}","x":${'[{"x":'.repeat(pairs)}1${'}]'.repeat(pairs)}}`;
  assert.deepEqual(await api.called('ListQueues', mixed(31)), { QueueUrls: [jobs] });
  assertJsonError(await api.json('ListQueues', mixed(32)), serialization);
});

describe('a member of the wrong type is malformed, everywhere (2.7)', () => {
  const samples: readonly Json[] = ['text', 1.5, 7, true, false, [], ['x'], {}, { a: 'x' }];
  const texts: Readonly<Record<string, RegExp>> = {
    object: /^Start of structure or map found where not expected\.$/,
    list: /^Start of list found where not expected$/,
    scalar: /^(STRING|NUMBER|TRUE|FALSE)_VALUE can not be converted to an? [A-Z]\w+$/,
  };

  function fits(type: Type, value: Json): boolean {
    switch (type.is) {
      case 'list':
        return Array.isArray(value) && value.every((item) => fits(type.of, item));
      case 'map':
        return (
          kindOf(value) === 'object' && Object.values(value).every((item) => fits(type.of, item))
        );
      case 'structure':
        return kindOf(value) === 'object';
      case 'boolean':
        return typeof value === 'boolean';
      case 'integer':
      case 'long':
        return Number.isInteger(value);
      default:
        return typeof value === 'string';
    }
  }

  for (const [action, { input }] of Object.entries(sqsActions)) {
    for (const { name, type } of input.fields) {
      test(`${name} of ${action}`, async () => {
        const api = await openApi();
        for (const sample of samples.filter((each) => !fits(type, each))) {
          const reply = await api.json(action, { QueueUrl: jobs, [name]: sample });
          assertJsonError(reply, serialization);
          const shown = JSON.stringify(sample);
          const isOuter = type.is !== 'list' && type.is !== 'map';
          if (isOuter) assert.match(reply.value.message, texts[kindOf(sample)] as RegExp, shown);
        }
      });
    }
  }

  test('members of entries and of attributes', async () => {
    const api = await openApi();
    const wrong: readonly [object, string][] = [
      [{ Id: 1 }, 'NUMBER_VALUE can not be converted to a String'],
      [{ MessageBody: true }, 'TRUE_VALUE can not be converted to a String'],
      [{ DelaySeconds: '5' }, 'STRING_VALUE can not be converted to an Integer'],
      [{ DelaySeconds: false }, 'FALSE_VALUE can not be converted to an Integer'],
      [{ DelaySeconds: 2 ** 31 }, 'NUMBER_VALUE can not be converted to an Integer'],
      [{ MessageAttributes: { a: 'x' } }, 'STRING_VALUE can not be converted to a Structure'],
      [
        { MessageAttributes: { a: { DataType: {} } } },
        'Start of structure or map found where not expected.',
      ],
      [
        { MessageAttributes: { a: { BinaryValue: 5 } } },
        'NUMBER_VALUE can not be converted to a Blob',
      ],
      [{ MessageAttributes: { a: { StringValue: [] } } }, 'Start of list found where not expected'],
    ];
    for (const [entry, text] of wrong) {
      const reply = await api.json('SendMessageBatch', { QueueUrl: jobs, Entries: [entry] });
      assertJsonError(reply, { ...serialization, text });
    }
  });
});

function kindOf(value: Json): 'list' | 'object' | 'scalar' {
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' ? 'object' : 'scalar';
}

test('a blob that is not padded base64 is malformed (2.5)', async () => {
  const api = await openApi();
  const send = (BinaryValue: string): Promise<Json> =>
    api.json('SendMessage', {
      QueueUrl: jobs,
      MessageBody: 'x',
      MessageAttributes: { blob: { DataType: 'Binary', BinaryValue } },
    });
  for (const bad of ['AQI', 'AQID=', 'AQ==AQID', 'A*ID', 'AQ ID', 'AQ-_', '====', 'A===', 'é===']) {
    assertJsonError(await send(bad), serialization);
  }
  for (const good of ['AQID', 'AQI=', 'AQ==', '/+8=']) assert.equal((await send(good)).status, 200);
});

test('a null member counts as absent (2.6)', async () => {
  const api = await openApi();
  const nothing = { MessageGroupId: null, DelaySeconds: null, MessageSystemAttributes: null };
  const MessageAttributes = {
    a: { DataType: 'String', StringValue: 'x', BinaryValue: null },
    b: null,
  };
  await api.called('SendMessage', {
    QueueUrl: jobs,
    MessageBody: 'hello',
    MessageAttributes,
    ...nothing,
  });
  const MessageAttributeNames = [null, 'All', null];
  const message = await api.receiveOne(jobs, { MessageAttributeNames, WaitTimeSeconds: null });
  const expected = { a: { StringValue: 'x', DataType: 'String' } };
  assert.deepEqual(message.MessageAttributes, expected);
});

test('unknown members are ignored (2.6)', async () => {
  const api = await openApi();
  const unknown = { Colour: 'blue', toString: 1, queueurl: 'other' };
  assert.equal((await api.json('PurgeQueue', { ...unknown, QueueUrl: jobs })).status, 200);
});

test('numbers and booleans as queue attributes and tags become strings (2.5)', async () => {
  const api = new TestApi();
  await api.called('CreateQueue', {
    QueueName: 'jobs.fifo',
    Attributes: { FifoQueue: true, VisibilityTimeout: 7 },
    tags: { count: 5, isNew: false },
  });
  const QueueUrl = urlOf('jobs.fifo');
  const AttributeNames = ['FifoQueue', 'VisibilityTimeout'];
  const { Attributes } = await api.called('GetQueueAttributes', { QueueUrl, AttributeNames });
  assert.deepEqual(Attributes, { VisibilityTimeout: '7', FifoQueue: 'true' });
  const { Tags } = await api.called('ListQueueTags', { QueueUrl });
  assert.deepEqual(Tags, { count: '5', isNew: 'false' });
});

test('an empty answer is an empty object, without lists or maps (2.4)', async () => {
  const api = new TestApi();
  assert.equal((await api.json('ListQueues')).body, '{}');
  await api.createQueue('jobs');
  const actions = [
    'ReceiveMessage',
    'ListQueueTags',
    'ListDeadLetterSourceQueues',
    'GetQueueAttributes',
  ];
  for (const action of actions) {
    assert.equal((await api.json(action, { QueueUrl: jobs })).body, '{}', action);
  }
});

test('a batch without failures has no Failed, one without successes no Successful (2.4)', async () => {
  const api = await openApi();
  const batch = (MessageBody: string): Promise<Json> =>
    api.called('SendMessageBatch', { QueueUrl: jobs, Entries: [{ Id: 'a', MessageBody }] });
  assert.deepEqual(Object.keys(await batch('x')), ['Successful']);
  assert.deepEqual(Object.keys(await batch('')), ['Failed']);
});

test('a message is returned exactly as it was sent, whatever it contains', async () => {
  const api = await openApi();
  const MessageBody = '\t\n\r "quotes" \\ </x>&amp; \u2028 \u{1F600} \uFFFD é';
  await api.called('SendMessage', { QueueUrl: jobs, MessageBody });
  assert.equal((await api.receiveOne(jobs)).Body, MessageBody);
});
