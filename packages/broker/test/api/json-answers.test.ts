/**
 * Strings that the shapes mark as plain go into AWS JSON answers unescaped, so they must never need escaping, whatever
 * clients send.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Structure, Type } from '../../src/api/shapes/shape.ts';
import { sqsActions } from '../../src/api/shapes/sqs.ts';
import { type Json, TestApi } from './fixture.ts';

/** Every character that a message may hold and JSON must or might escape, and their neighbors. */
const hostile = '\t\n\r !"#[\\]~\u007f\u0080é\u2028\u2029\ud7ff\ue000\ufffd\u{1f600}';

test('answer fields marked as plain never need escaping, whatever clients send', async () => {
  const api = new TestApi();
  const seen = new Map<string, string>();
  const call = async (action: string, input: object): Promise<Json> => {
    const output = await api.called(action, input);
    const shape = sqsActions[action]?.output;
    if (shape !== undefined) {
      for (const [path, text] of plainTexts(shape, output, action)) seen.set(path, text);
    }
    return output;
  };

  const QueueUrl = await api.createQueue('jobs.fifo');
  const mark = { DataType: 'String', StringValue: hostile };
  const message = {
    MessageBody: hostile,
    MessageGroupId: '"!\\"',
    MessageAttributes: { mark },
    MessageSystemAttributes: { AWSTraceHeader: mark },
  };
  const send = (id: string): object => ({ ...message, MessageDeduplicationId: `"\\${id}` });
  await call('SendMessage', { QueueUrl, ...send('1') });
  const batch = [
    { Id: 'ok-_1', ...send('2') },
    { Id: 'no-_1', ...send('3'), MessageBody: '' },
  ];
  await call('SendMessageBatch', { QueueUrl, Entries: batch });
  const names = { AttributeNames: ['All'], MessageAttributeNames: ['All'] };
  const received = await call('ReceiveMessage', { QueueUrl, ...names });
  const { ReceiptHandle } = received.Messages[0];
  const handles = [
    { Id: 'ok-_1', ReceiptHandle, VisibilityTimeout: 1 },
    { Id: 'no-_1', ReceiptHandle: '"\\', VisibilityTimeout: 1 },
  ];
  await call('ChangeMessageVisibilityBatch', { QueueUrl, Entries: handles });
  await call('DeleteMessageBatch', { QueueUrl, Entries: handles });

  for (const [path, text] of seen) assert.equal(JSON.stringify(text), `"${text}"`, path);
  const called = Object.entries(sqsActions).flatMap(([action, { output }]) =>
    output === undefined ? [] : plainPaths(output, action),
  );
  assert.deepEqual([...seen.keys()].sort(), called.sort());
});

/** The plain strings of a value, with their paths: `ReceiveMessage.Messages.MessageId`. */
function plainTexts(type: Type, value: Json, path: string): [string, string][] {
  switch (type.is) {
    case 'structure':
      return type.fields.flatMap((field) =>
        value[field.name] === undefined
          ? []
          : plainTexts(field.type, value[field.name], `${path}.${field.name}`),
      );
    case 'list':
      return value.flatMap((item: Json) => plainTexts(type.of, item, path));
    case 'string':
      return type.isPlain === true ? [[path, value]] : [];
    default:
      return [];
  }
}

/** Every path in a shape that can hold a plain string. */
function plainPaths({ fields }: Structure, path: string): string[] {
  return fields.flatMap(({ name, type }) => {
    const inner = type.is === 'list' ? type.of : type;
    if (inner.is === 'structure') return plainPaths(inner, `${path}.${name}`);
    return inner.is === 'string' && inner.isPlain === true ? [`${path}.${name}`] : [];
  });
}
