/**
 * How errors look on both wires: `__type`, header, code, status and text for every row of §4, each caused by a request.
 * Core's tests cover when a request is refused; these cover how the refusal looks.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  faultText,
  protocolErrors,
  wireErrorOf,
  wireErrors,
} from '../../src/api/protocol/error-codes.ts';
import { type ErrorCode, errors } from '../../src/core/errors.ts';
import {
  arnOf,
  assertJsonError,
  assertQueryError,
  type ExpectedError,
  type Json,
  TestApi,
  urlOf,
} from './fixture.ts';

interface Case extends ExpectedError {
  readonly title: string;
  readonly action: string;
  readonly json: object;
  readonly query: Readonly<Record<string, string>>;
  readonly given?: (api: TestApi) => Promise<unknown>;
  readonly queryText?: string;
}

const jobs = urlOf('jobs');
const coral = 'com.amazon.coral.service';
const prefix = 'AWS.SimpleQueueService';

const aQueue = (api: TestApi): Promise<unknown> => api.createQueue('jobs');

const elevenEntries = Array.from({ length: 11 }, (_, at) => ({ Id: `e${at}`, MessageBody: 'x' }));

/** The parameters of a SendMessageBatch with these entries. */
function entriesInQuery(
  entries: readonly Readonly<Record<string, string>>[],
): Record<string, string> {
  const pairs = entries.flatMap((entry, at) =>
    Object.entries(entry).map(([name, value]) => [
      `SendMessageBatchRequestEntry.${at + 1}.${name}`,
      value,
    ]),
  );
  return { QueueUrl: jobs, ...Object.fromEntries(pairs) };
}

const cases: readonly Case[] = [
  {
    title: 'a missing queue, which has its own text in Query (3.10)',
    action: 'GetQueueUrl',
    json: { QueueName: 'none' },
    query: { QueueName: 'none' },
    type: 'QueueDoesNotExist',
    code: `${prefix}.NonExistentQueue`,
    text: 'The specified queue does not exist.',
    queryText: 'The specified queue does not exist for this wsdl version.',
  },
  {
    title: 'an existing queue with another attribute value',
    given: aQueue,
    action: 'CreateQueue',
    json: { QueueName: 'jobs', Attributes: { DelaySeconds: '1' } },
    query: { QueueName: 'jobs', 'Attribute.1.Name': 'DelaySeconds', 'Attribute.1.Value': '1' },
    type: 'QueueNameExists',
    code: 'QueueAlreadyExists',
    text: 'A queue already exists with the same name and a different value for attribute DelaySeconds',
  },
  {
    title: 'a queue deleted within the last minute',
    given: async (api) => {
      await api.createQueue('jobs');
      await api.called('DeleteQueue', { QueueUrl: jobs });
    },
    action: 'CreateQueue',
    json: { QueueName: 'jobs' },
    query: { QueueName: 'jobs' },
    type: 'QueueDeletedRecently',
    code: `${prefix}.QueueDeletedRecently`,
    text: 'You must wait 60 seconds after deleting a queue before you can create another with the same name.',
  },
  {
    title: 'an unknown attribute',
    given: aQueue,
    action: 'GetQueueAttributes',
    json: { QueueUrl: jobs, AttributeNames: ['Colour'] },
    query: { QueueUrl: jobs, 'AttributeName.1': 'Colour' },
    type: 'InvalidAttributeName',
    code: 'InvalidAttributeName',
    text: 'Unknown Attribute Colour.',
  },
  {
    title: 'an attribute value out of range',
    given: aQueue,
    action: 'SetQueueAttributes',
    json: { QueueUrl: jobs, Attributes: { VisibilityTimeout: '43201' } },
    query: {
      QueueUrl: jobs,
      'Attribute.1.Name': 'VisibilityTimeout',
      'Attribute.1.Value': '43201',
    },
    type: 'InvalidAttributeValue',
    code: 'InvalidAttributeValue',
    text: 'Invalid value for the parameter VisibilityTimeout.',
  },
  {
    title: 'a parameter value out of range',
    given: aQueue,
    action: 'ReceiveMessage',
    json: { QueueUrl: jobs, MaxNumberOfMessages: 11 },
    query: { QueueUrl: jobs, MaxNumberOfMessages: '11' },
    type: `${coral}#InvalidParameterValueException`,
    code: 'InvalidParameterValue',
    text: 'Value 11 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.',
  },
  {
    title: 'a missing required parameter (3.11)',
    given: aQueue,
    action: 'SendMessage',
    json: { QueueUrl: jobs },
    query: { QueueUrl: jobs },
    type: `${coral}#MissingRequiredParameterException`,
    code: 'MissingParameter',
    text: 'The request must contain the parameter MessageBody.',
  },
  {
    title: 'a body with a character outside the allowed set',
    given: aQueue,
    action: 'SendMessage',
    json: { QueueUrl: jobs, MessageBody: 'a\u0000b' },
    query: { QueueUrl: jobs, MessageBody: 'a\u0000b' },
    type: 'InvalidMessageContents',
    code: 'InvalidMessageContents',
  },
  {
    title: 'list values in a message attribute',
    given: aQueue,
    action: 'SendMessage',
    json: {
      QueueUrl: jobs,
      MessageBody: 'x',
      MessageAttributes: { list: { DataType: 'String', StringListValues: ['a'] } },
    },
    query: {
      QueueUrl: jobs,
      MessageBody: 'x',
      'MessageAttribute.1.Name': 'list',
      'MessageAttribute.1.Value.DataType': 'String',
      'MessageAttribute.1.Value.StringListValue.1': 'a',
    },
    type: 'UnsupportedOperation',
    code: `${prefix}.UnsupportedOperation`,
    text: 'Message attribute list values in SendMessage operation are not supported.',
  },
  {
    title: 'an invalid receipt handle',
    given: aQueue,
    action: 'DeleteMessage',
    json: { QueueUrl: jobs, ReceiptHandle: '<&>' },
    query: { QueueUrl: jobs, ReceiptHandle: '<&>' },
    type: 'ReceiptHandleIsInvalid',
    code: 'ReceiptHandleIsInvalid',
    status: 404,
    text: 'The input receipt handle "<&>" is not a valid receipt handle.',
  },
  {
    title: 'a second purge within a minute',
    given: async (api) => {
      await api.createQueue('jobs');
      await api.called('PurgeQueue', { QueueUrl: jobs });
    },
    action: 'PurgeQueue',
    json: { QueueUrl: jobs },
    query: { QueueUrl: jobs },
    type: 'PurgeQueueInProgress',
    code: `${prefix}.PurgeQueueInProgress`,
    status: 403,
    text: 'Only one PurgeQueue operation on jobs is allowed every 60 seconds.',
  },
  {
    title: 'a limit that is reached',
    given: aQueue,
    action: 'AddPermission',
    json: {
      QueueUrl: jobs,
      Label: 'all',
      AWSAccountIds: ['111111111111'],
      Actions: Array.from({ length: 8 }, () => 'SendMessage'),
    },
    query: {
      QueueUrl: jobs,
      Label: 'all',
      'AWSAccountId.1': '111111111111',
      ...Object.fromEntries(
        Array.from({ length: 8 }, (_, at) => [`ActionName.${at + 1}`, 'SendMessage']),
      ),
    },
    type: 'OverLimit',
    code: 'OverLimit',
    status: 403,
    text: '8 Actions were found, maximum allowed is 7.',
  },
  {
    title: 'a move task with a missing queue (13.1)',
    action: 'StartMessageMoveTask',
    json: { SourceArn: arnOf('none') },
    query: { SourceArn: arnOf('none') },
    type: 'ResourceNotFoundException',
    code: 'ResourceNotFoundException',
    status: 404,
    text: "The resource that you specified for the SourceArn parameter doesn't exist.",
  },
  {
    title: 'a batch without entries',
    given: aQueue,
    action: 'SendMessageBatch',
    json: { QueueUrl: jobs, Entries: [] },
    query: { QueueUrl: jobs },
    type: 'EmptyBatchRequest',
    code: `${prefix}.EmptyBatchRequest`,
    text: 'There should be at least one SendMessageBatchRequestEntry in the request.',
  },
  {
    title: 'a batch of more than ten entries',
    given: aQueue,
    action: 'SendMessageBatch',
    json: { QueueUrl: jobs, Entries: elevenEntries },
    query: entriesInQuery(elevenEntries),
    type: 'TooManyEntriesInBatchRequest',
    code: `${prefix}.TooManyEntriesInBatchRequest`,
    text: 'Maximum number of entries per request are 10. You have sent 11.',
  },
  {
    title: 'a batch with a repeated entry id',
    given: aQueue,
    action: 'SendMessageBatch',
    json: { QueueUrl: jobs, Entries: [elevenEntries[3], elevenEntries[3]] },
    query: entriesInQuery([{ Id: 'e3' }, { Id: 'e3' }]),
    type: 'BatchEntryIdsNotDistinct',
    code: `${prefix}.BatchEntryIdsNotDistinct`,
    text: 'Id e3 repeated.',
  },
  {
    title: 'a batch with a bad entry id',
    given: aQueue,
    action: 'SendMessageBatch',
    json: { QueueUrl: jobs, Entries: [{ Id: 'a b', MessageBody: 'x' }] },
    query: entriesInQuery([{ Id: 'a b', MessageBody: 'x' }]),
    type: 'InvalidBatchEntryId',
    code: `${prefix}.InvalidBatchEntryId`,
    text: 'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.',
  },
  {
    title: 'a batch of more than 1 MiB',
    given: aQueue,
    action: 'SendMessageBatch',
    json: { QueueUrl: jobs, Entries: twoOf('x'.repeat(524_289)) },
    query: entriesInQuery(twoOf('x'.repeat(524_289))),
    type: 'BatchRequestTooLong',
    code: `${prefix}.BatchRequestTooLong`,
    text: 'Batch requests cannot be longer than 1048576 bytes. You have sent 1048578 bytes.',
  },
  {
    title: 'an unknown action (2.8, 3.4)',
    action: 'DoSomething',
    json: {},
    query: {},
    type: `${coral}#UnknownOperationException`,
    code: 'InvalidAction',
    text: 'The action DoSomething is not valid for this endpoint.',
  },
  {
    title: 'an invalid number (2.7)',
    given: aQueue,
    action: 'ReceiveMessage',
    json: { QueueUrl: jobs, MaxNumberOfMessages: 'ten' },
    query: { QueueUrl: jobs, MaxNumberOfMessages: 'ten' },
    type: `${coral}#SerializationException`,
    code: 'MalformedInput',
    text: 'STRING_VALUE can not be converted to an Integer',
  },
];

function twoOf(body: string): readonly { Id: string; MessageBody: string }[] {
  return ['a', 'b'].map((Id) => ({ Id, MessageBody: body }));
}

describe('every error of §4 in both wire forms', () => {
  for (const expected of cases) {
    const { title, given, action, json, query } = expected;
    test(`${title}, as AWS JSON (2.9, 2.10)`, async () => {
      const api = new TestApi();
      await given?.(api);
      assertJsonError(await api.json(action, json), expected);
    });

    test(`${title}, as AWS Query (3.9, 4.1)`, async () => {
      const api = new TestApi();
      await given?.(api);
      const { queryText, ...row } = expected;
      const text = queryText ?? row.text;
      assertQueryError(await api.query(action, query), text === undefined ? row : { ...row, text });
    });
  }

  // The shapes of SNS end in Exception, and are tested in sns-errors.test.ts.
  test('every shape of core is among the cases', () => {
    const shapes = new Set<string>(Object.values(errors).map(([shape]) => shape));
    const covered = new Set(cases.map(({ code }) => code));
    for (const [shape, { code }] of Object.entries(wireErrors)) {
      if (shapes.has(shape) && !shape.endsWith('Exception'))
        assert.ok(covered.has(code), `no request earns ${shape}`);
    }
  });
});

test('every code of core has a row on the wire (4.1)', () => {
  for (const code of Object.keys(errors) as ErrorCode[]) {
    const row = wireErrorOf({ ok: false, code, detail: {} });
    assert.ok(row, `${code} has no row`);
    assert.match(row.type, /^com\.(amazonaws\.(sqs|sns)|amazon\.coral\.service)#\w+$/);
    assert.ok(row.status >= 400 && row.status < 500 && row.fault === 'Sender');
  }
});

test('no error of the protocol shares its code with one of core', () => {
  for (const code of Object.keys(protocolErrors)) assert.ok(!Object.hasOwn(errors, code), code);
});

test('only the codes of rule 4.1 carry a prefix', () => {
  const prefixed = Object.entries(wireErrors).filter(([, { code }]) => code.startsWith(prefix));
  assert.deepEqual(prefixed.map(([shape]) => shape).toSorted(), [
    'BatchEntryIdsNotDistinct',
    'BatchRequestTooLong',
    'EmptyBatchRequest',
    'InvalidBatchEntryId',
    'PurgeQueueInProgress',
    'QueueDeletedRecently',
    'QueueDoesNotExist',
    'TooManyEntriesInBatchRequest',
    'UnsupportedOperation',
  ]);
});

test('a placeholder without a value stays visible in an error text', () => {
  assert.match(faultText({ ok: false, code: 'batch-id-repeated', detail: {} }), /\{id\?\}/);
});

test('batch entries have the error codes of Query in both wire forms (4.3)', async () => {
  const api = new TestApi();
  await api.createQueue('jobs');
  const entries = [
    { Id: 'a', MessageBody: '' },
    { Id: 'b', MessageBody: '\u0001' },
    { Id: 'c', MessageBody: 'fine' },
  ];
  const expected = [
    ['a', 'MissingParameter'],
    ['b', 'InvalidMessageContents'],
  ];
  const asked = (failed: Json): unknown => failed.map(({ Id, Code }: Json) => [Id, Code]);
  const json = await api.called('SendMessageBatch', { QueueUrl: jobs, Entries: entries });
  assert.deepEqual(asked(json.Failed), expected);
  assert.equal(json.Successful.length, 1);
  const query = await api.asked('SendMessageBatch', entriesInQuery(entries));
  assert.deepEqual(asked(query.BatchResultErrorEntry), expected);
});

describe('required parameters', () => {
  const queueActions = [
    ['SetQueueAttributes', 'Attributes'],
    ['TagQueue', 'Tags'],
    ['UntagQueue', 'TagKeys'],
    ['AddPermission', 'Label'],
    ['RemovePermission', 'Label'],
    ['DeleteMessage', 'ReceiptHandle'],
    ['ChangeMessageVisibility', 'VisibilityTimeout'],
  ] as const;
  const otherActions = [
    ['CancelMessageMoveTask', 'TaskHandle'],
    ['StartMessageMoveTask', 'SourceArn'],
    ['ListMessageMoveTasks', 'SourceArn'],
  ] as const;
  const missing = { type: `${coral}#MissingRequiredParameterException`, code: 'MissingParameter' };

  for (const [action, name] of [...queueActions, ...otherActions]) {
    test(`${action} without ${name} is refused by that name (3.11)`, async () => {
      const api = new TestApi();
      await api.createQueue('jobs');
      const text = `The request must contain the parameter ${name}.`;
      assertJsonError(await api.json(action, { QueueUrl: jobs }), { ...missing, text });
      assertQueryError(await api.query(action, { QueueUrl: jobs }), { ...missing, text });
    });
  }

  for (const [action] of queueActions) {
    test(`${action} on a missing queue reports the queue before missing parameters (14.1)`, async () => {
      const api = new TestApi();
      const error = { type: 'QueueDoesNotExist', code: `${prefix}.NonExistentQueue` };
      assertJsonError(await api.json(action, { QueueUrl: urlOf('none') }), error);
    });
  }

  for (const action of ['CreateQueue', 'GetQueueUrl']) {
    test(`${action} refuses a missing and an empty name (5.3, 5.6)`, async () => {
      const api = new TestApi();
      const error = {
        type: `${coral}#InvalidParameterValueException`,
        code: 'InvalidParameterValue',
      };
      const text = 'Value for parameter QueueName is invalid. Reason: Must specify a queue name.';
      assertJsonError(await api.json(action), { ...error, text });
      const emptyText = 'Queue name cannot be empty';
      assertJsonError(await api.json(action, { QueueName: '' }), { ...error, text: emptyText });
    });
  }
});
