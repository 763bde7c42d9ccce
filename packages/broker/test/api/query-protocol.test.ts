/**
 * AWS Query (§3) as a protocol: where parameters may be, how a queue's path counts, how XML represents any text, and the
 * JSON form of its answers. The worst that any input may cause is a refusal.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  assertQueryError,
  type ExpectedError,
  type Json,
  type QueryReply,
  requestId,
  TestApi,
  urlOf,
} from './fixture.ts';
import { readXml } from './xml-reader.ts';

const jobs = urlOf('jobs');
const jobsPath = '/000000000000/jobs';
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const malformed: ExpectedError = { type: '', code: 'MalformedInput' };
const invalidAction: ExpectedError = { type: '', code: 'InvalidAction' };

async function openApi(): Promise<TestApi> {
  const api = new TestApi();
  await api.createQueue('jobs');
  return api;
}

async function sendText(
  api: TestApi,
  request: Parameters<TestApi['send']>[0],
): Promise<QueryReply> {
  const reply = await api.send({ headers: form, ...request });
  return { ...reply, ...readXml(reply.body) };
}

describe('parameters', () => {
  test('they may be split between query string and body, and Version is optional (3.1)', async () => {
    const api = await openApi();
    const reply = await sendText(api, {
      query: `QueueUrl=${encodeURIComponent(jobs)}&Action=SendMessage&Version=2012-11-05`,
      body: 'MessageBody=a+b%2Bc%26%3D%C3%A9',
    });
    assert.equal(reply.status, 200, reply.body);
    assert.equal((await api.receiveOne(jobs)).Body, 'a b+c&=é');
  });

  test('a body without a content type is a form (3.1)', async () => {
    const api = await openApi();
    const reply = await sendText(api, { headers: {}, body: 'Action=ListQueues' });
    assert.deepEqual(reply.value.ListQueuesResult, { QueueUrl: jobs });
  });

  test('entries, names and attributes are ordered by their numbers (3.5)', async () => {
    const api = await openApi();
    const { SendMessageBatchResultEntry } = await api.asked('SendMessageBatch', {
      QueueUrl: jobs,
      'SendMessageBatchRequestEntry.10.Id': 'ten',
      'SendMessageBatchRequestEntry.10.MessageBody': 'x',
      'SendMessageBatchRequestEntry.2.Id': 'two',
      'SendMessageBatchRequestEntry.2.MessageBody': 'x',
      'SendMessageBatchRequestEntry.first.Id': 'no-number',
      'SendMessageBatchRequestEntry.7.Id': 'seven',
      'SendMessageBatchRequestEntry.7.MessageBody': 'x',
    });
    const ids = SendMessageBatchResultEntry.map(({ Id }: Json) => Id);
    assert.deepEqual(ids, ['two', 'seven', 'ten']);
  });

  test('a list of one may omit its number, and an empty value is an empty list', async () => {
    const api = await openApi();
    const one = await api.asked('GetQueueAttributes', {
      QueueUrl: jobs,
      AttributeName: 'QueueArn',
    });
    assert.equal(one.Attribute.Name, 'QueueArn');
    assert.equal(await api.asked('GetQueueAttributes', { QueueUrl: jobs, AttributeName: '' }), '');
  });

  test('a single pair may omit its number, as old clients write it', async () => {
    const api = new TestApi();
    await api.asked('CreateQueue', {
      QueueName: 'jobs',
      'Attribute.Name': 'DelaySeconds',
      'Attribute.Value': '7',
      'Tag.Key': 'team',
      'Tag.Value': 'red',
    });
    const attributes = async (): Promise<Json> =>
      (await api.called('GetQueueAttributes', { QueueUrl: jobs, AttributeNames: ['All'] }))
        .Attributes;
    const tags = async (): Promise<Json> =>
      (await api.called('ListQueueTags', { QueueUrl: jobs })).Tags;
    assert.equal((await attributes()).DelaySeconds, '7');
    assert.deepEqual(await tags(), { team: 'red' });
    await api.asked('SetQueueAttributes', {
      QueueUrl: jobs,
      'Attribute.Name': 'DelaySeconds',
      'Attribute.Value': '0',
    });
    assert.equal((await attributes()).DelaySeconds, '0');
    await api.asked('TagQueue', { QueueUrl: jobs, 'Tag.Key': 'cost', 'Tag.Value': '' });
    assert.deepEqual(await tags(), { team: 'red', cost: '' });
    await api.asked('SendMessage', {
      QueueUrl: jobs,
      MessageBody: 'x',
      'MessageAttribute.Name': 'color',
      'MessageAttribute.Value.DataType': 'String',
      'MessageAttribute.Value.StringValue': 'blue',
    });
    const { MessageAttributes } = await api.receiveOne(jobs, { MessageAttributeNames: ['All'] });
    assert.deepEqual(MessageAttributes, { color: { DataType: 'String', StringValue: 'blue' } });
  });

  test('a batch of one may omit its number', async () => {
    const api = await openApi();
    const { SendMessageBatchResultEntry } = await api.asked('SendMessageBatch', {
      QueueUrl: jobs,
      'SendMessageBatchRequestEntry.Id': 'one',
      'SendMessageBatchRequestEntry.MessageBody': 'x',
    });
    assert.equal(SendMessageBatchResultEntry.Id, 'one');
  });

  test('tags may use the member name, as Java clients do', async () => {
    const api = await openApi();
    await api.asked('TagQueue', { QueueUrl: jobs, 'Tags.1.Key': 'team', 'Tags.1.Value': 'red' });
    assert.deepEqual((await api.called('ListQueueTags', { QueueUrl: jobs })).Tags, { team: 'red' });
  });

  test('storing part of a request does not retain the whole request in memory', async () => {
    const api = new TestApi();
    await api.createQueue('jobs.fifo', { FifoQueue: 'true' });
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    const heldBytes = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const padding = 'p'.repeat(1024 * 1024);
    const before = heldBytes();
    for (let group = 0; group < 50; group += 1) {
      const ids = `MessageGroupId=a-group-with-a-name-${group}&MessageDeduplicationId=${group}`;
      const body = `Action=SendMessage&MessageBody=x&${ids}&Padding=${padding}`;
      assert.equal((await sendText(api, { path: `${jobsPath}.fifo`, body })).status, 200);
    }
    assert.ok(heldBytes() - before < 10 * padding.length);
  });

  test('where some pairs have a number, only those are read', async () => {
    const api = await openApi();
    await api.asked('TagQueue', {
      QueueUrl: jobs,
      'Tag.Key': 'a',
      'Tag.Value': '1',
      'Tag.1.Key': 'b',
      'Tag.1.Value': '2',
    });
    assert.deepEqual((await api.called('ListQueueTags', { QueueUrl: jobs })).Tags, { b: '2' });
  });

  test('a pair without its key or its value is a missing parameter (3.11)', async () => {
    const api = await openApi();
    const missing = (name: string): ExpectedError => {
      const text = `The request must contain the parameter ${name}.`;
      return { type: '', code: 'MissingParameter', text };
    };
    const noKey = await api.query('TagQueue', { QueueUrl: jobs, 'Tag.1.Value': 'x' });
    assertQueryError(noKey, missing('Tag.1.Key'));
    const noValue = await api.query('TagQueue', { QueueUrl: jobs, 'Tag.1.Key': 'x' });
    assertQueryError(noValue, missing('Tag.1.Value'));
    const noNumber = await api.query('TagQueue', { QueueUrl: jobs, 'Tag.Value': 'x' });
    assertQueryError(noNumber, missing('Tag.Key'));
    const noPair = await api.query('TagQueue', { QueueUrl: jobs, Tag: 'x' });
    assertQueryError(noPair, missing('Tag.Key'));
  });

  test('a message attribute without a value is refused and named (7.4)', async () => {
    const api = await openApi();
    const text =
      "The message (user) attribute 'color' must contain a non-empty message attribute type.";
    const reply = await api.query('SendMessage', {
      QueueUrl: jobs,
      MessageBody: 'x',
      'MessageAttribute.1.Name': 'color',
    });
    assertQueryError(reply, { type: '', code: 'InvalidParameterValue', text });
  });

  test('a scalar with only numbered parts is absent', async () => {
    const api = await openApi();
    const reply = await api.query('SendMessage', { QueueUrl: jobs, 'MessageBody.1': 'x' });
    assertQueryError(reply, { type: '', code: 'MissingParameter' });
  });

  test('a malformed or too large number is refused as malformed (2.7)', async () => {
    const api = await openApi();
    for (const DelaySeconds of ['', 'x', '1.5', '1e2', '0x1', ' 1', '2147483648', '9'.repeat(40)]) {
      const reply = await api.query('SendMessage', {
        QueueUrl: jobs,
        MessageBody: 'x',
        DelaySeconds,
      });
      assertQueryError(reply, malformed);
    }
  });

  test('a blob that is not base64 is malformed', async () => {
    const api = await openApi();
    const reply = await api.query('SendMessage', {
      QueueUrl: jobs,
      MessageBody: 'x',
      'MessageAttribute.1.Name': 'blob',
      'MessageAttribute.1.Value.DataType': 'Binary',
      'MessageAttribute.1.Value.BinaryValue': 'not base64',
    });
    assertQueryError(reply, malformed);
  });

  test('bytes that are not UTF-8, escaped or bare, are malformed', async () => {
    const api = await openApi();
    for (const body of ['Action=ListQueues&x=%ff', 'Action=ListQueues&x=%', '%zz=1&Action=a']) {
      assertQueryError(await sendText(api, { body }), malformed);
    }
    const bare = Buffer.from('Action=ListQueues&QueueNamePrefix=\u00e9', 'latin1');
    assertQueryError(await sendText(api, { body: bare }), malformed);
  });

  test('ten thousand parameters are accepted, one more is malformed', async () => {
    const api = await openApi();
    const many = (count: number): string => `Action=ListQueues${'&a=1'.repeat(count - 1)}`;
    assert.equal((await sendText(api, { body: many(10_000) })).status, 200);
    assertQueryError(await sendText(api, { body: many(10_001) }), malformed);
  });

  test('a name of eight parts is accepted, one of nine is malformed', async () => {
    const api = await openApi();
    const named = (parts: number): string => `Action=ListQueues&${'a.'.repeat(parts - 1)}a=1`;
    assert.equal((await sendText(api, { body: named(8) })).status, 200);
    assertQueryError(await sendText(api, { body: named(9) }), malformed);
    assertQueryError(await sendText(api, { body: named(300_000) }), malformed);
  });
});

describe('paths', () => {
  test("a queue's path names the queue, unless QueueUrl does (3.2)", async () => {
    const api = await openApi();
    await api.createQueue('other');
    await api.query('SendMessage', { MessageBody: 'by path' }, { path: jobsPath });
    const elsewhere = { QueueUrl: urlOf('other'), MessageBody: 'by url' };
    await api.query('SendMessage', elsewhere, { path: jobsPath });
    assert.equal((await api.receiveOne(jobs)).Body, 'by path');
    assert.equal((await api.receiveOne(urlOf('other'))).Body, 'by url');
  });

  test('at the root an action on a queue needs a QueueUrl (1.6)', async () => {
    const api = await openApi();
    const code = 'AWS.SimpleQueueService.NonExistentQueue';
    assertQueryError(await api.query('PurgeQueue'), { type: '', code });
  });

  for (const action of ['CreateQueue', 'ListQueues']) {
    test(`${action} is refused at a queue's path (3.3)`, async () => {
      const api = await openApi();
      const reply = await api.query(action, { QueueName: 'new' }, { path: jobsPath });
      const text = `The action ${action} is not valid for this endpoint.`;
      assertQueryError(reply, { ...invalidAction, text });
    });
  }

  test('GetQueueUrl works at the path of any queue (3.3)', async () => {
    const api = await openApi();
    await api.createQueue('other');
    const reply = await api.query('GetQueueUrl', { QueueName: 'other' }, { path: jobsPath });
    assert.deepEqual(reply.value.GetQueueUrlResult, { QueueUrl: urlOf('other') });
  });

  test('a request without an action is not found, even if it accepts JSON (3.4)', async () => {
    const api = await openApi();
    for (const path of ['/', jobsPath]) {
      for (const headers of [{}, { accept: 'application/json' }]) {
        const reply = await api.send({ method: 'GET', path, headers });
        assert.equal(reply.status, 404);
        assert.equal(reply.body, '<UnknownOperationException/>');
        assert.equal(reply.headers['x-amzn-RequestId'], requestId);
      }
    }
  });

  test('an unknown action is refused and named, even with markup in its name (3.4)', async () => {
    const api = await openApi();
    for (const action of ['Broadcast', 'constructor', '__proto__', '<a>&"', 'listQueues']) {
      const text = `The action ${action} is not valid for this endpoint.`;
      assertQueryError(await api.query(action), { ...invalidAction, text });
    }
  });
});

describe('answers', () => {
  test('an action with output has its Result element even when it is empty (3.6)', async () => {
    const api = await openApi();
    const reply = await api.query('ReceiveMessage', { QueueUrl: jobs });
    const start = '<?xml version="1.0"?><ReceiveMessageResponse xmlns=';
    assert.ok(reply.body.startsWith(`${start}"http://queue.amazonaws.com/doc/2012-11-05/">`));
    assert.ok(reply.body.includes('<ReceiveMessageResult/>'));
  });

  test('an action without output has no Result element (3.6)', async () => {
    const api = await openApi();
    const reply = await api.query('PurgeQueue', { QueueUrl: jobs });
    assert.deepEqual(Object.keys(reply.value), ['ResponseMetadata']);
  });

  test('an error is a document with type, code, text, detail and request id (3.9)', async () => {
    const reply = await new TestApi().query('PurgeQueue', { QueueUrl: 'none' });
    assert.equal(
      reply.body,
      '<?xml version="1.0"?>' +
        '<ErrorResponse xmlns="http://queue.amazonaws.com/doc/2012-11-05/"><Error><Type>Sender</Type>' +
        '<Code>AWS.SimpleQueueService.NonExistentQueue</Code>' +
        '<Message>The specified queue does not exist for this wsdl version.</Message><Detail/>' +
        `</Error><RequestId>${requestId}</RequestId></ErrorResponse>`,
    );
    assert.equal(reply.headers['Content-Type'], 'text/xml');
  });

  test('a message is returned through XML as it was sent, carriage returns included (3.8)', async () => {
    const api = await openApi();
    const bodies = [
      '\r\n a\rb \n\t "quoted" <tag attr=\'x\'> &amp; ]]> &#13; ',
      '\u{1F600} \u{10FFFF} é \uFFFD \uE000 \uD7FF',
      '&',
      '\r',
    ];
    for (const MessageBody of bodies) {
      await api.query('SendMessage', { QueueUrl: jobs, MessageBody });
      const { Message } = await api.asked('ReceiveMessage', { QueueUrl: jobs });
      assert.equal(Message.Body, MessageBody);
    }
  });

  test('characters that XML cannot hold are replaced where an error text echoes them', async () => {
    const api = await openApi();
    const QueueUrl = jobs;
    const reply = await api.query('DeleteMessage', {
      QueueUrl,
      ReceiptHandle: 'a\u0000\u001F\uFFFFb',
    });
    const text = 'The input receipt handle "a\uFFFD\uFFFD\uFFFDb" is not a valid receipt handle.';
    assertQueryError(reply, { type: '', code: 'ReceiptHandleIsInvalid', status: 404, text });
  });
});

describe('answers in JSON, for clients that accept it (3.12)', () => {
  const options = { method: 'GET', headers: { accept: 'application/json' } };

  async function asked(api: TestApi, query: Record<string, string>): Promise<Json> {
    const reply = await api.send({ ...options, query: new URLSearchParams(query).toString() });
    assert.equal(reply.headers['Content-Type'], 'application/json');
    return JSON.parse(reply.body);
  }

  test('messages are listed under a lower-case name', async () => {
    const api = await openApi();
    await api.called('SendMessage', { QueueUrl: jobs, MessageBody: 'hello' });
    const value = await asked(api, {
      Action: 'ReceiveMessage',
      QueueUrl: jobs,
      'AttributeName.1': 'ApproximateReceiveCount',
    });
    const { ReceiveMessageResult, ResponseMetadata } = value.ReceiveMessageResponse;
    assert.deepEqual(ResponseMetadata, { RequestId: requestId });
    const [message] = ReceiveMessageResult.messages;
    assert.equal(message.Body, 'hello');
    const attributes = [{ Name: 'ApproximateReceiveCount', Value: '1' }];
    assert.deepEqual(message.Attributes, attributes);
  });

  test('queue attributes are a list of pairs, and empty results are left out as in XML', async () => {
    const api = await openApi();
    const query = { Action: 'GetQueueAttributes', QueueUrl: jobs };
    const value = await asked(api, { ...query, 'AttributeName.1': 'DelaySeconds' });
    const { GetQueueAttributesResult } = value.GetQueueAttributesResponse;
    const expected = { Attributes: [{ Name: 'DelaySeconds', Value: '0' }] };
    assert.deepEqual(GetQueueAttributesResult, expected);
    const empty = await asked(api, query);
    assert.deepEqual(empty.GetQueueAttributesResponse.GetQueueAttributesResult, {});
    const purged = await asked(api, { Action: 'PurgeQueue', QueueUrl: jobs });
    assert.deepEqual(Object.keys(purged.PurgeQueueResponse), ['ResponseMetadata']);
  });

  test('an error has code and text', async () => {
    const { Error: error } = await asked(new TestApi(), { Action: 'PurgeQueue', QueueUrl: 'none' });
    assert.equal(error.Code, 'AWS.SimpleQueueService.NonExistentQueue');
    assert.equal(error.Message, 'The specified queue does not exist for this wsdl version.');
  });
});
