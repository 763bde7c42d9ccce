/**
 * What a client sent is repeated in errors only up to 1,024 characters, in every wire form and for every error: an answer of
 * megabytes that nobody reads would stay in memory.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultText, protocolErrors } from '../../src/api/protocol/error-codes.ts';
import { detailCharsMax, type ErrorCode, errors } from '../../src/core/errors.ts';
import { startTestServer } from '../../src/testing.ts';
import { host, TestApi } from './fixture.ts';

const long = 'A'.repeat(2_000_000);

test('no error repeats more than 1,024 characters of its details', () => {
  const rows = { ...errors, ...protocolErrors };
  for (const [code, [, row]] of Object.entries(rows)) {
    const words = [...row.matchAll(/\{(\w+)\}/g)].map(([, word]) => word as string);
    const detail = Object.fromEntries(words.map((word) => [word, long]));
    const text = faultText({ ok: false, code: code as ErrorCode, detail });
    const repeated = [...text.matchAll(/A{2,}/g)].reduce((sum, [found]) => sum + found.length, 0);
    assert.ok(repeated <= detailCharsMax + 10, `${code}: ${repeated}`);
    assert.equal(repeated >= detailCharsMax, words.length > 0, code);
  }
});

test('a text is cut between characters, and a short one is left as it is', () => {
  const text = (action: string): string =>
    faultText({ ok: false, code: 'action-invalid', detail: { action } });
  assert.equal(text('Nothing'), 'The action Nothing is not valid for this endpoint.');
  const whole = 'x'.repeat(detailCharsMax);
  assert.equal(text(whole), `The action ${whole} is not valid for this endpoint.`);
  const cut = text(`${whole.slice(1)}🐘`);
  assert.equal(cut, `The action ${whole.slice(1)}… is not valid for this endpoint.`);
});

test('answers to megabytes of input are short in every wire form', async () => {
  const api = new TestApi();
  const form = { host, 'content-type': 'application/x-www-form-urlencoded' };
  const json = (action: string) => ({
    host,
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': `AmazonSQS.${action}`,
  });
  const jobs = { QueueUrl: `http://${host}/000000000000/jobs` };
  const fifo = { QueueUrl: `http://${host}/000000000000/jobs.fifo` };
  const create = (input: object) =>
    api.send({
      method: 'POST',
      path: '/',
      query: '',
      headers: json('CreateQueue'),
      body: JSON.stringify(input),
    });
  await create({ QueueName: 'jobs' });
  await create({ QueueName: 'jobs.fifo', Attributes: { FifoQueue: 'true' } });
  const post = (headers: Record<string, string>, body: string) =>
    api.send({ method: 'POST', path: '/', query: '', headers, body });
  const answers = [
    await post(form, `Action=${long}`),
    await post({ ...form, accept: 'application/json' }, `Action=${long}`),
    await post(form, `Action=${long}&Version=2010-03-31`),
    await post(json('DeleteMessage'), JSON.stringify({ ...jobs, ReceiptHandle: long })),
    await post(
      json('SendMessage'),
      JSON.stringify({ ...fifo, MessageBody: 'x', MessageGroupId: long }),
    ),
    await post(json('GetQueueAttributes'), JSON.stringify({ ...jobs, AttributeNames: [long] })),
    await post(
      json('SendMessageBatch'),
      JSON.stringify({ ...jobs, Entries: [{ Id: long, MessageBody: 'x' }] }),
    ),
    await post(form, `Action=Subscribe&Version=2010-03-31&TopicArn=${long}&Protocol=${long}`),
  ];
  for (const { status, body } of answers) {
    assert.ok(status >= 400, `${status} ${body.slice(0, 200)}`);
    assert.ok(body.length < 2_000, body.slice(0, 200));
  }
});

test("the server's own endpoints repeat no long path", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const name = 'A'.repeat(8_000);
  for (const path of [name, `queues/${name}`, `queues/${name}/counts`, `topics/${name}`]) {
    const answer = await fetch(`${server.url}/_oncemq/${path}`);
    assert.equal(answer.status, 404);
    assert.ok((await answer.text()).length < detailCharsMax + 200);
  }
});
