/**
 * What the handler does around the wire forms: the header about duplicates, a backend that fails, clients that disconnect,
 * and names that are special in JavaScript and must not be here.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Queue } from '../../src/core/queue/queue.ts';
import type { Backend } from '../../src/storage/backend.ts';
import { type Json, requestId, TestApi, urlOf } from './fixture.ts';
import { readXml } from './xml-reader.ts';

const jobs = urlOf('jobs');
const fifo = urlOf('jobs.fifo');
const duplicateHeader = 'x-oncemq-duplicate-of';

describe('duplicates', () => {
  async function openApi(): Promise<TestApi> {
    const api = new TestApi();
    await api.createQueue('jobs.fifo');
    return api;
  }

  function entry(id: string): Json {
    return { Id: id, MessageBody: 'x', MessageGroupId: 'g', MessageDeduplicationId: id };
  }

  test('a duplicate names its original in a header, a first send does not', async () => {
    const api = await openApi();
    const { Id: _, ...message } = entry('a');
    const first = await api.json('SendMessage', { QueueUrl: fifo, ...message });
    assert.equal(first.headers[duplicateHeader], undefined);
    const again = await api.json('SendMessage', { QueueUrl: fifo, ...message });
    assert.equal(again.status, 200);
    assert.equal(again.headers[duplicateHeader], first.value.MessageId);
    const byQuery = await api.query('SendMessage', { QueueUrl: fifo, ...message });
    assert.equal(byQuery.headers[duplicateHeader], first.value.MessageId);
  });

  test('a batch names the originals of all its duplicates, in order', async () => {
    const api = await openApi();
    const batch = (...ids: string[]): Promise<Json> =>
      api.json('SendMessageBatch', { QueueUrl: fifo, Entries: ids.map(entry) });
    const first = await batch('a', 'b');
    assert.equal(first.headers[duplicateHeader], undefined);
    const [a, b] = first.value.Successful.map(({ MessageId }: Json) => MessageId);
    const second = await batch('b', 'c', 'a');
    assert.equal(second.headers[duplicateHeader], `${b}, ${a}`);
    assert.equal(second.value.Failed, undefined);
  });
});

describe('a backend that fails', () => {
  const cause = new Error('the disk is on fire at /secret/place');

  function failing(): TestApi {
    const fail = (): Promise<never> => Promise.reject(cause);
    const realm = { region: 'us-east-1', account: '000000000000' };
    const backend = { kind: 'broken', realm, run: fail, receive: fail } as unknown as Backend;
    return new TestApi({ backend });
  }

  test('is 500 InternalFailure in AWS JSON, with the reason only in onError', async () => {
    const api = failing();
    for (const action of ['SendMessage', 'ReceiveMessage']) {
      const reply = await api.json(action, { QueueUrl: jobs, MessageBody: 'x' });
      assert.equal(reply.status, 500);
      assert.equal(reply.value.__type, 'com.amazon.coral.service#InternalFailure');
      assert.equal(reply.headers['x-amzn-query-error'], 'InternalFailure;Receiver');
      assert.equal(reply.headers['x-amzn-RequestId'], requestId);
      assert.doesNotMatch(reply.body, /disk|secret|at /);
    }
    assert.deepEqual(api.errors, [cause, cause]);
  });

  test('is 500 InternalFailure in AWS Query', async () => {
    const api = failing();
    const reply = await api.query('SendMessage', { QueueUrl: jobs, MessageBody: 'x' });
    assert.equal(reply.status, 500);
    assert.equal(reply.value.Error.Type, 'Receiver');
    assert.equal(reply.value.Error.Code, 'InternalFailure');
    assert.doesNotMatch(reply.body, /disk|secret/);
    assert.deepEqual(api.errors, [cause]);
  });

  test('is 500 InternalError in SNS', async () => {
    const reply = await failing().sns('ListTopics', {});
    assert.equal(reply.status, 500);
    assert.equal(reply.value.Error.Type, 'Receiver');
    assert.equal(reply.value.Error.Code, 'InternalError');
  });
});

test('an error raised by the server is answered in the wire form of the request', () => {
  const { api } = new TestApi();
  const json = api.fail({ headers: { 'x-amz-target': 'x' }, requestId }, 'body-too-large', {
    limit: 5,
  });
  assert.equal(json.status, 413);
  assert.equal(json.headers['x-amzn-query-error'], 'RequestEntityTooLarge;Sender');
  assert.equal(JSON.parse(json.body).message, 'The request is larger than 5 bytes.');
  const xml = api.fail({ headers: {}, requestId }, 'service-unavailable', { reason: 'full.' });
  assert.equal(xml.status, 503);
  const { value } = readXml(xml.body) as Json;
  assert.equal(value.Error.Type, 'Receiver');
  assert.equal(value.Error.Message, 'The request was not carried out: full.');
});

describe('long polls', () => {
  test('a wait ends empty when the client disconnects (9.3)', async () => {
    const api = new TestApi();
    await api.createQueue('jobs');
    const controller = new AbortController();
    const waiting = api.send({
      headers: { 'x-amz-target': 'AmazonSQS.ReceiveMessage' },
      body: JSON.stringify({ QueueUrl: jobs, WaitTimeSeconds: 20 }),
      signal: controller.signal,
    });
    controller.abort();
    assert.equal((await waiting).body, '{}');
  });

  test('a wait ends with the message that arrives (9.3)', async () => {
    const api = new TestApi();
    await api.createQueue('jobs');
    const waiting = api.called('ReceiveMessage', { QueueUrl: jobs, WaitTimeSeconds: 20 });
    await api.called('SendMessage', { QueueUrl: jobs, MessageBody: 'hello' });
    assert.equal((await waiting).Messages[0].Body, 'hello');
  });

  test('an action that does not wait does not read the signal', async () => {
    const api = new TestApi();
    const reply = await api.api.handle({
      method: 'POST',
      path: '/',
      query: '',
      headers: { 'x-amz-target': 'AmazonSQS.ListQueues' },
      body: Buffer.from('{}'),
      get signal(): AbortSignal {
        throw new Error('nobody should have asked');
      },
      requestId,
    });
    assert.equal(reply.status, 200);
  });
});

describe('names of JavaScript object members have no special meaning', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

  async function openApi(): Promise<TestApi> {
    const api = new TestApi();
    await api.createQueue('jobs');
    return api;
  }

  for (const name of names) {
    const key = JSON.stringify(name);
    const url = JSON.stringify(jobs);

    test(`${name} as a member`, async () => {
      const api = await openApi();
      const body = `{${key}:{"QueueUrl":"x","MessageBody":"polluted","DelaySeconds":"x"},"QueueUrl":${url}}`;
      const reply = await api.json('SendMessage', body);
      assert.equal(reply.value.message, 'The request must contain the parameter MessageBody.');
      assert.equal((await api.json(name)).status, 400);
    });

    test(`${name} as a tag, in both wire forms`, async () => {
      const api = await openApi();
      await api.called('TagQueue', `{"QueueUrl":${url},"Tags":{${key}:"one"}}`);
      const read = async (): Promise<string> =>
        (await api.json('ListQueueTags', { QueueUrl: jobs })).body;
      assert.equal(await read(), `{"Tags":{${key}:"one"}}`);
      await api.query('TagQueue', { QueueUrl: jobs, 'Tag.1.Key': name, 'Tag.1.Value': 'two' });
      assert.equal(await read(), `{"Tags":{${key}:"two"}}`);
      const { Tag } = await api.asked('ListQueueTags', { QueueUrl: jobs });
      assert.deepEqual({ ...Tag }, { Key: name, Value: 'two' });
      await api.called('UntagQueue', { QueueUrl: jobs, TagKeys: [name] });
      assert.equal(await read(), '{}');
    });

    test(`${name} as a queue attribute is unknown, in both wire forms`, async () => {
      const api = await openApi();
      const text = `Unknown Attribute ${name}.`;
      const set = await api.json(
        'SetQueueAttributes',
        `{"QueueUrl":${url},"Attributes":{${key}:"1"}}`,
      );
      assert.equal(set.value.message, text);
      const create = await api.query('CreateQueue', {
        QueueName: 'new',
        'Attribute.1.Name': name,
        'Attribute.1.Value': '1',
      });
      assert.equal(create.value.Error.Message, text);
    });

    test(`${name} as a message attribute, in both wire forms`, async () => {
      const api = await openApi();
      const value = '{"DataType":"String","StringValue":"x"}';
      const body = `{"QueueUrl":${url},"MessageBody":"x","MessageAttributes":{${key}:${value}}}`;
      const sent = await api.json('SendMessage', body);
      const asked = { QueueUrl: jobs, MessageAttributeNames: [name] };
      const byQuery = await api.query('SendMessage', {
        QueueUrl: jobs,
        MessageBody: 'x',
        'MessageAttribute.1.Name': name,
        'MessageAttribute.1.Value.DataType': 'String',
        'MessageAttribute.1.Value.StringValue': 'x',
      });
      assert.deepEqual([sent.status, byQuery.status], [200, 200]);
      const received = await api.json('ReceiveMessage', { ...asked, MaxNumberOfMessages: 10 });
      const expected = `"MessageAttributes":{${key}:{"StringValue":"x","DataType":"String"}}`;
      assert.equal(received.body.split(expected).length, 3, received.body);
    });

    test(`${name} as a parameter, a system attribute and a requested name`, async () => {
      const api = await openApi();
      const parameters = { [`${name}.${name}`]: 'x', [`Attribute.${name}.Name`]: 'x', [name]: 'x' };
      const reply = await api.query('GetQueueAttributes', { QueueUrl: jobs, ...parameters });
      assert.equal(reply.status, 200);
      const asked = await api.json('GetQueueAttributes', {
        QueueUrl: jobs,
        AttributeNames: [name],
      });
      assert.equal(asked.value.message, `Unknown Attribute ${name}.`);
      const system = `{"QueueUrl":${url},"MessageBody":"x","MessageSystemAttributes":{${key}:{}}}`;
      assert.equal((await api.json('SendMessage', system)).status, 400);
    });
  }
});

test('a command that fails in the engine gets a 500 and leaves nothing; what is logged names it', async (t) => {
  const api = new TestApi();
  await api.createQueue('jobs');
  const { addMessage } = Queue.prototype;
  const mend = () => {
    Queue.prototype.addMessage = addMessage;
  };
  t.after(mend);
  Queue.prototype.addMessage = function (...args) {
    addMessage.apply(this, args);
    throw new Error('a mistake');
  };
  const reply = await api.json('SendMessage', { QueueUrl: jobs, MessageBody: 'x' });
  mend();
  assert.equal(reply.status, 500);
  assert.match(String(api.errors[0]), /the command send failed: a mistake/);
  const names = ['ApproximateNumberOfMessages'];
  const { Attributes } = await api.called('GetQueueAttributes', {
    QueueUrl: jobs,
    AttributeNames: names,
  });
  assert.equal(Attributes.ApproximateNumberOfMessages, '0');
});
