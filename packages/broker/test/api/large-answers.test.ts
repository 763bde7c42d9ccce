/**
 * The answer to a receive of megabytes is made and sent message by message. Its bytes are the same as if it were made as a whole,
 * in each wire form.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiRequest } from '../../src/api/handler.ts';
import { jsonForm } from '../../src/api/protocol/json.ts';
import { queryForm } from '../../src/api/protocol/query.ts';
import { queryJsonForm } from '../../src/api/protocol/query-json.ts';
import type { NamedAction } from '../../src/api/protocol/wire-form.ts';
import { sqsActions } from '../../src/api/shapes/sqs.ts';
import { type Headers, host, requestId, TestApi, urlOf } from './fixture.ts';

const shape = sqsActions['ReceiveMessage'];
assert.ok(shape);
const action: NamedAction = { name: 'ReceiveMessage', service: 'sqs', shape };
const messages = ['plain', '"<&\\>\r\n', 'é\u{1f600}'].map((Body, n) => ({
  MessageId: `${n}`,
  Body,
  Attributes: { SentTimestamp: '1' },
  MessageAttributes: { mark: { DataType: 'String', StringValue: Body } },
}));

for (const [name, form] of Object.entries({ jsonForm, queryForm, queryJsonForm })) {
  for (const count of [1, messages.length]) {
    test(`${name}: ${count} messages one by one are as they are together`, () => {
      const items = messages.slice(0, count);
      const { texts, ...head } = form.answerList(action, items, requestId);
      const { body, bodyBytes, ...expected } = form.answer(action, { Messages: items }, requestId);
      assert.equal([...texts].join(''), body);
      assert.deepEqual(head, expected);
    });
  }
}

const bodies = [..."'<é"].map((char) => char.repeat(500_000)).concat('small');
const forms: Record<string, Headers> = {
  'AWS JSON': {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'AmazonSQS.ReceiveMessage',
  },
  'AWS Query': { 'content-type': 'application/x-www-form-urlencoded' },
  'AWS Query with JSON': {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  },
};
const largest = '"'.repeat(1_000_000);

for (const [name, headers] of Object.entries(forms)) {
  test(`${name}: an answer of megabytes has a part for each message`, async () => {
    const api = new TestApi();
    const QueueUrl = urlOf('jobs');
    await api.createQueue('jobs');
    for (const MessageBody of [...bodies, largest]) {
      await api.called('SendMessage', { QueueUrl, MessageBody });
    }
    const input = name === 'AWS JSON' ? JSON.stringify({ QueueUrl, MaxNumberOfMessages: 10 }) : '';
    const form = new URLSearchParams({
      Action: 'ReceiveMessage',
      QueueUrl,
      MaxNumberOfMessages: '10',
    });
    const request: ApiRequest = {
      method: 'POST',
      path: '/',
      query: '',
      headers: { host, ...headers },
      body: Buffer.from(input || form.toString()),
      signal: new AbortController().signal,
      requestId,
    };
    const { status, parts = [], bodyBytes } = await api.api.handle(request);
    assert.equal(status, 200);
    assert.ok(parts.length >= bodies.length + 1, `${parts.length} parts`);
    assert.equal(
      bodyBytes,
      parts.reduce((total, { length }) => total + length, 0),
    );
    const text = Buffer.concat(parts).toString();
    const first = name === 'AWS Query' ? '&lt;'.repeat(9) : '<'.repeat(9);
    assert.ok(text.includes(first) && text.includes('ééé') && text.includes('small'));
  });
}
