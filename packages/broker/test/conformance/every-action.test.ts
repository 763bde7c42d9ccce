/**
 * Every action of queues once in both wire forms: the same request written by hand as AWS JSON and as AWS Query (3.5) gets
 * the same answer in the corresponding form (§2, 3.6, 3.7). Each case creates its own queues. The other tests of this folder
 * cover what an action does; these cover its inputs and outputs.
 */

import assert from 'node:assert/strict';
import { test as testOnce } from 'node:test';
import { sqsActionFunctions } from '../../src/api/actions/sqs/table.ts';
import { sqsActions } from '../../src/api/shapes/sqs.ts';
import { arnOf, type Json, requestId, startedAt, type TestApi, urlOf } from '../api/fixture.ts';
import { test } from './fixture.ts';

interface Case {
  /** Creates what the action needs; both requests get the result. */
  readonly given?: (api: TestApi) => Promise<Json>;
  readonly json: (given: Json) => object;
  readonly query: (given: Json) => Record<string, string>;
  /** Without these two, the action has no output. */
  readonly jsonOutput?: (output: Json, given: Json) => void;
  readonly queryOutput?: (output: Json, given: Json) => void;
  /** Checks what the action did, in whichever form. */
  readonly effect?: (api: TestApi, given: Json) => Promise<void>;
}

const jobs = urlOf('jobs');
const jobsFifo = urlOf('jobs.fifo');
const helloMd5 = '5d41402abc4b2a76b9719d911017c592';
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const queueOnly = { json: () => ({ QueueUrl: jobs }), query: () => ({ QueueUrl: jobs }) };

async function aQueue(api: TestApi): Promise<void> {
  await api.createQueue('jobs');
}

async function aMessage(api: TestApi): Promise<Json> {
  await api.createQueue('jobs');
  await api.called('SendMessage', { QueueUrl: jobs, MessageBody: 'hello' });
  return api.receiveOne(jobs);
}

async function deadLetters(api: TestApi): Promise<void> {
  await api.createQueue('dead');
  const policy = { deadLetterTargetArn: arnOf('dead'), maxReceiveCount: 1 };
  await api.createQueue('jobs', { RedrivePolicy: JSON.stringify(policy) });
  await api.createQueue('more', { RedrivePolicy: JSON.stringify(policy) });
}

async function aRunningTask(api: TestApi): Promise<Json> {
  await deadLetters(api);
  const dead = urlOf('dead');
  for (const MessageBody of ['one', 'two']) {
    await api.called('SendMessage', { QueueUrl: dead, MessageBody });
  }
  const task = await api.called('StartMessageMoveTask', {
    SourceArn: arnOf('dead'),
    DestinationArn: arnOf('jobs'),
    MaxNumberOfMessagesPerSecond: 1,
  });
  await api.backend.advance(0);
  return task;
}

async function attributesOf(api: TestApi, ...names: string[]): Promise<Json> {
  const input = { QueueUrl: jobs, AttributeNames: names };
  return (await api.called('GetQueueAttributes', input)).Attributes ?? {};
}

async function tagsOf(api: TestApi): Promise<Json> {
  return (await api.called('ListQueueTags', { QueueUrl: jobs })).Tags ?? {};
}

const cases: Readonly<Record<string, Case>> = {
  AddPermission: {
    given: aQueue,
    json: () => ({
      QueueUrl: jobs,
      Label: 'readers',
      AWSAccountIds: ['111111111111', '222222222222'],
      Actions: ['ReceiveMessage', 'DeleteMessage'],
    }),
    query: () => ({
      QueueUrl: jobs,
      Label: 'readers',
      'AWSAccountId.1': '111111111111',
      'AWSAccountId.2': '222222222222',
      'ActionName.1': 'ReceiveMessage',
      'ActionName.2': 'DeleteMessage',
    }),
    effect: async (api) => {
      const [statement] = JSON.parse((await attributesOf(api, 'Policy')).Policy).Statement;
      assert.equal(statement.Sid, 'readers');
      assert.deepEqual(statement.Action, ['SQS:ReceiveMessage', 'SQS:DeleteMessage']);
      assert.equal(statement.Principal.AWS.length, 2);
    },
  },
  CancelMessageMoveTask: {
    given: aRunningTask,
    json: ({ TaskHandle }) => ({ TaskHandle }),
    query: ({ TaskHandle }) => ({ TaskHandle }),
    jsonOutput: (output) => assert.deepEqual(output, { ApproximateNumberOfMessagesMoved: 1 }),
    queryOutput: (output) => assert.deepEqual(output, { ApproximateNumberOfMessagesMoved: '1' }),
  },
  ChangeMessageVisibility: {
    given: aMessage,
    json: ({ ReceiptHandle }) => ({ QueueUrl: jobs, ReceiptHandle, VisibilityTimeout: 0 }),
    query: ({ ReceiptHandle }) => ({ QueueUrl: jobs, ReceiptHandle, VisibilityTimeout: '0' }),
    effect: async (api) => {
      assert.equal((await api.receiveOne(jobs)).Body, 'hello');
    },
  },
  ChangeMessageVisibilityBatch: {
    given: aMessage,
    json: ({ ReceiptHandle }) => ({
      QueueUrl: jobs,
      Entries: [
        { Id: 'good', ReceiptHandle, VisibilityTimeout: 0 },
        { Id: 'bad', ReceiptHandle, VisibilityTimeout: -1 },
      ],
    }),
    query: ({ ReceiptHandle }) => ({
      QueueUrl: jobs,
      'ChangeMessageVisibilityBatchRequestEntry.1.Id': 'good',
      'ChangeMessageVisibilityBatchRequestEntry.1.ReceiptHandle': ReceiptHandle,
      'ChangeMessageVisibilityBatchRequestEntry.1.VisibilityTimeout': '0',
      'ChangeMessageVisibilityBatchRequestEntry.2.Id': 'bad',
      'ChangeMessageVisibilityBatchRequestEntry.2.ReceiptHandle': ReceiptHandle,
      'ChangeMessageVisibilityBatchRequestEntry.2.VisibilityTimeout': '-1',
    }),
    jsonOutput: ({ Successful, Failed }) => {
      assert.deepEqual(Successful, [{ Id: 'good' }]);
      assert.deepEqual([Failed[0].Id, Failed[0].SenderFault], ['bad', true]);
    },
    queryOutput: (output) => {
      assert.deepEqual(output.ChangeMessageVisibilityBatchResultEntry, { Id: 'good' });
      const { Id, SenderFault } = output.BatchResultErrorEntry;
      assert.deepEqual([Id, SenderFault], ['bad', 'true']);
    },
  },
  CreateQueue: {
    json: () => ({
      QueueName: 'jobs',
      Attributes: { VisibilityTimeout: '7', DelaySeconds: '3' },
      tags: { team: 'blue', stage: '' },
    }),
    query: () => ({
      QueueName: 'jobs',
      'Attribute.1.Name': 'VisibilityTimeout',
      'Attribute.1.Value': '7',
      'Attribute.2.Name': 'DelaySeconds',
      'Attribute.2.Value': '3',
      'Tag.1.Key': 'team',
      'Tag.1.Value': 'blue',
      'Tag.2.Key': 'stage',
      'Tag.2.Value': '',
    }),
    jsonOutput: (output) => assert.deepEqual(output, { QueueUrl: jobs }),
    queryOutput: (output) => assert.deepEqual(output, { QueueUrl: jobs }),
    effect: async (api) => {
      const names = ['VisibilityTimeout', 'DelaySeconds'];
      const expected = { VisibilityTimeout: '7', DelaySeconds: '3' };
      assert.deepEqual(await attributesOf(api, ...names), expected);
      assert.deepEqual(await tagsOf(api), { team: 'blue', stage: '' });
    },
  },
  DeleteMessage: {
    given: aMessage,
    json: ({ ReceiptHandle }) => ({ QueueUrl: jobs, ReceiptHandle }),
    query: ({ ReceiptHandle }) => ({ QueueUrl: jobs, ReceiptHandle }),
    effect: async (api) => {
      const name = 'ApproximateNumberOfMessagesNotVisible';
      assert.deepEqual(await attributesOf(api, name), { [name]: '0' });
    },
  },
  DeleteMessageBatch: {
    given: aMessage,
    json: ({ ReceiptHandle }) => ({
      QueueUrl: jobs,
      Entries: [
        { Id: 'bad', ReceiptHandle: 'nonsense' },
        { Id: 'good', ReceiptHandle },
      ],
    }),
    query: ({ ReceiptHandle }) => ({
      QueueUrl: jobs,
      'DeleteMessageBatchRequestEntry.1.Id': 'bad',
      'DeleteMessageBatchRequestEntry.1.ReceiptHandle': 'nonsense',
      'DeleteMessageBatchRequestEntry.2.Id': 'good',
      'DeleteMessageBatchRequestEntry.2.ReceiptHandle': ReceiptHandle,
    }),
    jsonOutput: ({ Successful, Failed }) => {
      assert.deepEqual(Successful, [{ Id: 'good' }]);
      const { Id, SenderFault, Code } = Failed[0];
      assert.deepEqual([Id, SenderFault, Code], ['bad', true, 'ReceiptHandleIsInvalid']);
    },
    queryOutput: (output) => {
      assert.deepEqual(output.DeleteMessageBatchResultEntry, { Id: 'good' });
      assert.deepEqual(output.BatchResultErrorEntry, {
        Id: 'bad',
        SenderFault: 'true',
        Code: 'ReceiptHandleIsInvalid',
        Message: 'The input receipt handle "nonsense" is not a valid receipt handle.',
      });
    },
  },
  DeleteQueue: {
    given: aQueue,
    ...queueOnly,
    effect: async (api) => {
      assert.deepEqual(await api.called('ListQueues'), {});
    },
  },
  GetQueueAttributes: {
    given: (api) => api.createQueue('jobs', { VisibilityTimeout: '7' }),
    json: () => ({ QueueUrl: jobs, AttributeNames: ['VisibilityTimeout', 'QueueArn', 'Policy'] }),
    query: () => ({
      QueueUrl: jobs,
      'AttributeName.1': 'VisibilityTimeout',
      'AttributeName.2': 'QueueArn',
      'AttributeName.3': 'Policy',
    }),
    jsonOutput: (output) =>
      assert.deepEqual(output, {
        Attributes: { VisibilityTimeout: '7', QueueArn: arnOf('jobs') },
      }),
    queryOutput: (output) =>
      assert.deepEqual(output.Attribute, [
        { Name: 'VisibilityTimeout', Value: '7' },
        { Name: 'QueueArn', Value: arnOf('jobs') },
      ]),
  },
  GetQueueUrl: {
    given: aQueue,
    json: () => ({ QueueName: 'jobs', QueueOwnerAWSAccountId: '000000000000' }),
    query: () => ({ QueueName: 'jobs', QueueOwnerAWSAccountId: '000000000000' }),
    jsonOutput: (output) => assert.deepEqual(output, { QueueUrl: jobs }),
    queryOutput: (output) => assert.deepEqual(output, { QueueUrl: jobs }),
  },
  ListDeadLetterSourceQueues: {
    given: deadLetters,
    json: () => ({ QueueUrl: urlOf('dead'), MaxResults: 5 }),
    query: () => ({ QueueUrl: urlOf('dead'), MaxResults: '5' }),
    jsonOutput: (output) => assert.deepEqual(output, { queueUrls: [jobs, urlOf('more')] }),
    queryOutput: (output) => assert.deepEqual(output, { QueueUrl: [jobs, urlOf('more')] }),
  },
  ListMessageMoveTasks: {
    given: aRunningTask,
    json: () => ({ SourceArn: arnOf('dead'), MaxResults: 3 }),
    query: () => ({ SourceArn: arnOf('dead'), MaxResults: '3' }),
    jsonOutput: (output, { TaskHandle }) =>
      assert.deepEqual(output, {
        Results: [
          {
            TaskHandle,
            Status: 'RUNNING',
            SourceArn: arnOf('dead'),
            DestinationArn: arnOf('jobs'),
            MaxNumberOfMessagesPerSecond: 1,
            ApproximateNumberOfMessagesMoved: 1,
            ApproximateNumberOfMessagesToMove: 2,
            StartedTimestamp: startedAt,
          },
        ],
      }),
    queryOutput: (output, { TaskHandle }) =>
      assert.deepEqual(output.ListMessageMoveTasksResultEntry, {
        TaskHandle,
        Status: 'RUNNING',
        SourceArn: arnOf('dead'),
        DestinationArn: arnOf('jobs'),
        MaxNumberOfMessagesPerSecond: '1',
        ApproximateNumberOfMessagesMoved: '1',
        ApproximateNumberOfMessagesToMove: '2',
        StartedTimestamp: String(startedAt),
      }),
  },
  ListQueues: {
    given: async (api) => {
      for (const name of ['jobs', 'job', 'other']) await api.createQueue(name);
    },
    json: () => ({ QueueNamePrefix: 'job' }),
    query: () => ({ QueueNamePrefix: 'job' }),
    jsonOutput: (output) => assert.deepEqual(output, { QueueUrls: [urlOf('job'), jobs] }),
    queryOutput: (output) => assert.deepEqual(output, { QueueUrl: [urlOf('job'), jobs] }),
  },
  ListQueueTags: {
    given: (api) => api.called('CreateQueue', { QueueName: 'jobs', tags: { a: '1', b: '' } }),
    ...queueOnly,
    jsonOutput: (output) => assert.deepEqual(output, { Tags: { a: '1', b: '' } }),
    queryOutput: (output) =>
      assert.deepEqual(output.Tag, [
        { Key: 'a', Value: '1' },
        { Key: 'b', Value: '' },
      ]),
  },
  PurgeQueue: {
    given: aMessage,
    ...queueOnly,
    effect: async (api) => {
      const name = 'ApproximateNumberOfMessagesNotVisible';
      assert.deepEqual(await attributesOf(api, name), { [name]: '0' });
    },
  },
  ReceiveMessage: {
    given: async (api) => {
      await api.createQueue('jobs');
      await api.called('SendMessage', {
        QueueUrl: jobs,
        MessageBody: 'hello',
        MessageAttributes: {
          color: { DataType: 'String', StringValue: 'blue' },
          blob: { DataType: 'Binary', BinaryValue: 'AQID' },
        },
      });
      await api.called('SendMessage', { QueueUrl: jobs, MessageBody: 'again' });
    },
    json: () => ({
      QueueUrl: jobs,
      MaxNumberOfMessages: 10,
      VisibilityTimeout: 5,
      WaitTimeSeconds: 0,
      MessageSystemAttributeNames: ['SentTimestamp'],
      AttributeNames: ['ApproximateReceiveCount'],
      MessageAttributeNames: ['All'],
    }),
    query: () => ({
      QueueUrl: jobs,
      MaxNumberOfMessages: '10',
      VisibilityTimeout: '5',
      WaitTimeSeconds: '0',
      'MessageSystemAttributeName.1': 'SentTimestamp',
      'AttributeName.1': 'ApproximateReceiveCount',
      'MessageAttributeName.1': 'All',
    }),
    jsonOutput: ({ Messages: [message, other] }) => {
      assert.match(message.MessageId, uuid);
      assert.notEqual(message.ReceiptHandle, other.ReceiptHandle);
      assert.equal(message.Body, 'hello');
      assert.equal(message.MD5OfBody, helloMd5);
      const attributes = { SentTimestamp: String(startedAt), ApproximateReceiveCount: '1' };
      assert.deepEqual(message.Attributes, attributes);
      assert.deepEqual(message.MessageAttributes, {
        color: { StringValue: 'blue', DataType: 'String' },
        blob: { BinaryValue: 'AQID', DataType: 'Binary' },
      });
      assert.match(message.MD5OfMessageAttributes, /^[0-9a-f]{32}$/);
      assert.equal(other.Body, 'again');
      assert.deepEqual(Object.keys(other), [
        'MessageId',
        'ReceiptHandle',
        'MD5OfBody',
        'Body',
        'Attributes',
      ]);
    },
    queryOutput: ({ Message: [message, other] }) => {
      assert.deepEqual(Object.keys(message), [
        'MessageId',
        'ReceiptHandle',
        'MD5OfBody',
        'Body',
        'Attribute',
        'MD5OfMessageAttributes',
        'MessageAttribute',
      ]);
      assert.equal(message.Body, 'hello');
      assert.deepEqual(message.Attribute, [
        { Name: 'SentTimestamp', Value: String(startedAt) },
        { Name: 'ApproximateReceiveCount', Value: '1' },
      ]);
      assert.deepEqual(message.MessageAttribute, [
        { Name: 'color', Value: { StringValue: 'blue', DataType: 'String' } },
        { Name: 'blob', Value: { BinaryValue: 'AQID', DataType: 'Binary' } },
      ]);
      assert.equal(other.Body, 'again');
    },
  },
  RemovePermission: {
    given: async (api) => {
      await api.createQueue('jobs');
      const rest = { AWSAccountIds: ['111111111111'], Actions: ['SendMessage'] };
      await api.called('AddPermission', { QueueUrl: jobs, Label: 'senders', ...rest });
    },
    json: () => ({ QueueUrl: jobs, Label: 'senders' }),
    query: () => ({ QueueUrl: jobs, Label: 'senders' }),
    effect: async (api) => {
      assert.deepEqual(await attributesOf(api, 'Policy'), {});
    },
  },
  SendMessage: {
    given: (api) => api.createQueue('jobs.fifo'),
    json: () => ({
      QueueUrl: jobsFifo,
      MessageBody: 'hello',
      DelaySeconds: 0,
      MessageGroupId: 'g',
      MessageDeduplicationId: 'd',
      MessageAttributes: { Foo: { DataType: 'String', StringValue: 'Bar' } },
      MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: 'Root=1' } },
    }),
    query: () => ({
      QueueUrl: jobsFifo,
      MessageBody: 'hello',
      DelaySeconds: '0',
      MessageGroupId: 'g',
      MessageDeduplicationId: 'd',
      'MessageAttribute.1.Name': 'Foo',
      'MessageAttribute.1.Value.DataType': 'String',
      'MessageAttribute.1.Value.StringValue': 'Bar',
      'MessageSystemAttribute.1.Name': 'AWSTraceHeader',
      'MessageSystemAttribute.1.Value.DataType': 'String',
      'MessageSystemAttribute.1.Value.StringValue': 'Root=1',
    }),
    jsonOutput: assertSent,
    queryOutput: assertSent,
  },
  SendMessageBatch: {
    given: aQueue,
    json: () => ({
      QueueUrl: jobs,
      Entries: [
        {
          Id: 'first',
          MessageBody: 'hello',
          MessageAttributes: {
            Foo: { DataType: 'String', StringValue: 'Bar' },
          },
        },
        { Id: 'second', MessageBody: 'late', DelaySeconds: 901 },
        { Id: 'third', MessageBody: 'hello' },
      ],
    }),
    query: () => ({
      QueueUrl: jobs,
      'SendMessageBatchRequestEntry.1.Id': 'first',
      'SendMessageBatchRequestEntry.1.MessageBody': 'hello',
      'SendMessageBatchRequestEntry.1.MessageAttribute.1.Name': 'Foo',
      'SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.DataType': 'String',
      'SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.StringValue': 'Bar',
      'SendMessageBatchRequestEntry.2.Id': 'second',
      'SendMessageBatchRequestEntry.2.MessageBody': 'late',
      'SendMessageBatchRequestEntry.2.DelaySeconds': '901',
      'SendMessageBatchRequestEntry.3.Id': 'third',
      'SendMessageBatchRequestEntry.3.MessageBody': 'hello',
    }),
    jsonOutput: ({ Successful, Failed }) => assertSentBatch(Successful, Failed[0], true),
    queryOutput: ({ SendMessageBatchResultEntry, BatchResultErrorEntry }) =>
      assertSentBatch(SendMessageBatchResultEntry, BatchResultErrorEntry, 'true'),
  },
  SetQueueAttributes: {
    given: aQueue,
    json: () => ({ QueueUrl: jobs, Attributes: { VisibilityTimeout: '9' } }),
    query: () => ({
      QueueUrl: jobs,
      'Attribute.1.Name': 'VisibilityTimeout',
      'Attribute.1.Value': '9',
    }),
    effect: async (api) => {
      const expected = { VisibilityTimeout: '9' };
      assert.deepEqual(await attributesOf(api, 'VisibilityTimeout'), expected);
    },
  },
  StartMessageMoveTask: {
    given: deadLetters,
    json: () => ({ SourceArn: arnOf('dead') }),
    query: () => ({ SourceArn: arnOf('dead') }),
    jsonOutput: assertTaskStarted,
    queryOutput: assertTaskStarted,
  },
  TagQueue: {
    given: aQueue,
    json: () => ({ QueueUrl: jobs, Tags: { team: 'blue' } }),
    query: () => ({ QueueUrl: jobs, 'Tag.1.Key': 'team', 'Tag.1.Value': 'blue' }),
    effect: async (api) => {
      assert.deepEqual(await tagsOf(api), { team: 'blue' });
    },
  },
  UntagQueue: {
    given: (api) =>
      api.called('CreateQueue', { QueueName: 'jobs', tags: { a: '1', b: '2', c: '3' } }),
    json: () => ({ QueueUrl: jobs, TagKeys: ['a', 'c'] }),
    query: () => ({ QueueUrl: jobs, 'TagKey.1': 'a', 'TagKey.2': 'c' }),
    effect: async (api) => {
      assert.deepEqual(await tagsOf(api), { b: '2' });
    },
  },
};

function assertSent(output: Json): void {
  assert.match(output.MessageId, uuid);
  assert.equal(output.MD5OfMessageBody, helloMd5);
  assert.equal(output.MD5OfMessageAttributes, 'ae7155c6026991b6d54b11589678bf9c');
  assert.match(output.MD5OfMessageSystemAttributes, /^[0-9a-f]{32}$/);
  assert.match(output.SequenceNumber, /^\d{20}$/);
}

function assertSentBatch(successful: Json, failed: Json, senderFault: Json): void {
  assert.deepEqual(
    successful.map(({ Id }: Json) => Id),
    ['first', 'third'],
  );
  assert.equal(successful[0].MD5OfMessageBody, helloMd5);
  assert.equal(successful[0].MD5OfMessageAttributes, 'ae7155c6026991b6d54b11589678bf9c');
  assert.deepEqual(Object.keys(successful[1]), ['Id', 'MessageId', 'MD5OfMessageBody']);
  assert.deepEqual(failed, {
    Id: 'second',
    SenderFault: senderFault,
    Code: 'InvalidParameterValue',
    Message:
      'Value 901 for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.',
  });
}

function assertTaskStarted({ TaskHandle }: Json): void {
  const { taskId, sourceArn } = JSON.parse(Buffer.from(TaskHandle, 'base64').toString());
  assert.match(taskId, uuid);
  assert.equal(sourceArn, arnOf('dead'));
}

testOnce('every action has a shape, a function and a case here', () => {
  const names = Object.keys(sqsActions).toSorted();
  assert.equal(names.length, 23);
  assert.deepEqual(Object.keys(sqsActionFunctions).toSorted(), names);
  assert.deepEqual(Object.keys(cases).toSorted(), names);
});

for (const [action, { given, json, query, jsonOutput, queryOutput, effect }] of Object.entries(
  cases,
)) {
  test(`${action} as AWS JSON (2.1–2.5)`, async (open) => {
    const api = await open.api();
    const before = await given?.(api);
    const reply = await api.json(action, json(before));
    assert.equal(reply.status, 200, reply.body);
    assert.equal(reply.headers['Content-Type'], 'application/x-amz-json-1.0');
    assert.equal(reply.headers['x-amzn-RequestId'], requestId);
    if (jsonOutput === undefined) assert.equal(reply.body, '');
    else jsonOutput(reply.value, before);
    await effect?.(api, before);
  });

  for (const method of ['POST', 'GET']) {
    test(`${action} as AWS Query by ${method} (3.1, 3.5–3.7)`, async (open) => {
      const api = await open.api();
      const before = await given?.(api);
      const reply = await api.query(action, query(before), { method });
      assert.equal(reply.status, 200, reply.body);
      assert.equal(reply.headers['Content-Type'], 'text/xml');
      assert.equal(reply.headers['x-amzn-RequestId'], requestId);
      assert.equal(reply.root, `${action}Response`);
      assert.deepEqual(reply.value.ResponseMetadata, { RequestId: requestId });
      const result = reply.value[`${action}Result`];
      if (queryOutput === undefined) assert.equal(result, undefined);
      else queryOutput(result, before);
      await effect?.(api, before);
    });
  }
}
