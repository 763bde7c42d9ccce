/**
 * Queue URLs (1.4–1.6): which scheme and host they have in answers, and which of their parts count in requests. A bad one
 * is a queue that does not exist, never another error.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { manualClock } from '../../src/server/clock.ts';
import { openMemoryBackend } from '../../src/storage/memory/open.ts';
import { arnOf, assertJsonError, startedAt, TestApi, urlOf } from './fixture.ts';

const missing = {
  type: 'QueueDoesNotExist',
  code: 'AWS.SimpleQueueService.NonExistentQueue',
  text: 'The specified queue does not exist.',
};

async function openApi(publicUrl?: string): Promise<TestApi> {
  const api = new TestApi(publicUrl === undefined ? {} : { publicUrl });
  await api.createQueue('jobs');
  return api;
}

test('a queue URL has the host that the client used (1.4)', async () => {
  const api = await openApi();
  for (const host of ['127.0.0.1:9324', 'broker', '[::1]:80']) {
    const { QueueUrl } = await api.called('GetQueueUrl', { QueueName: 'jobs' }, { host });
    assert.equal(QueueUrl, `http://${host}/000000000000/jobs`);
  }
});

test('a public URL takes precedence over the host (1.4)', async () => {
  const api = await openApi('https://mq.example');
  const { QueueUrls } = await api.called('ListQueues');
  assert.deepEqual(QueueUrls, ['https://mq.example/000000000000/jobs']);
});

test('a request without a host still gets a URL', async () => {
  const api = await openApi();
  const reply = await api.api.handle({
    method: 'POST',
    path: '/',
    query: '',
    headers: { 'x-amz-target': 'AmazonSQS.ListQueues' },
    body: Buffer.from('{}'),
    signal: new AbortController().signal,
    requestId: 'x',
  });
  assert.deepEqual(JSON.parse(reply.body).QueueUrls, ['http://localhost/000000000000/jobs']);
});

test('in a request the host of a queue URL does not matter, and a bare name is enough (1.4, 1.5)', async () => {
  const api = await openApi();
  const good = [
    urlOf('jobs'),
    'https://sqs.eu-west-1.amazonaws.com/000000000000/jobs',
    'http://elsewhere/prefix/000000000000/jobs',
    'http://localhost:4566/queue/jobs',
    '/000000000000/jobs',
    '000000000000/jobs',
    '/jobs',
    'jobs',
  ];
  for (const QueueUrl of good) {
    assert.equal((await api.json('ListQueueTags', { QueueUrl })).status, 200, QueueUrl);
  }
});

test('a URL that is missing, empty, malformed or of another account is a missing queue (1.6)', async () => {
  const api = await openApi();
  const bad = [
    undefined,
    null,
    '',
    '/',
    '//',
    'http://',
    'http://queues.example:9324',
    urlOf(''),
    urlOf('none'),
    urlOf('jobs/'),
    urlOf('jobs?x=1'),
    'http://queues.example/123456789012/jobs',
    '123456789012/jobs',
    urlOf('__proto__'),
    'constructor',
  ];
  const actions = ['SendMessage', 'ReceiveMessage', 'GetQueueAttributes', 'DeleteQueue'];
  for (const QueueUrl of bad) {
    for (const action of actions) {
      assertJsonError(await api.json(action, { QueueUrl, MessageBody: 'x' }), missing);
    }
  }
});

test('URLs beyond the size of the cache, and long ones, lead to their queues', async () => {
  const api = await openApi();
  await api.createQueue('other');
  const ask = async (QueueUrl: string): Promise<unknown> => {
    const AttributeNames = ['QueueArn'];
    const { Attributes } = await api.called('GetQueueAttributes', { QueueUrl, AttributeNames });
    return Attributes.QueueArn;
  };
  for (let host = 0; host < 1_100; host += 1) {
    const name = host % 2 === 0 ? 'jobs' : 'other';
    assert.equal(await ask(`http://host-${host}/000000000000/${name}`), arnOf(name));
  }
  for (const name of ['jobs', 'other', 'jobs']) {
    assert.equal(await ask(`http://host-1/000000000000/${name}`), arnOf(name));
    assert.equal(await ask(`http://${'h'.repeat(1_000)}/000000000000/${name}`), arnOf(name));
  }
});

test('caching a URL does not retain the request it came with', async () => {
  const api = await openApi();
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const padding = 'p'.repeat(1024 * 1024);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const heldBytes = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = heldBytes();
  for (let host = 0; host < 50; host += 1) {
    const QueueUrl = `http://kept-${host}/000000000000/jobs`;
    const body = `Action=GetQueueAttributes&QueueUrl=${QueueUrl}&Padding=${padding}`;
    assert.equal((await api.send({ headers, body })).status, 200);
  }
  assert.ok(heldBytes() - before < 10 * padding.length);
});

test('two servers with different accounts do not share cached URLs', async () => {
  const backend = openMemoryBackend({ clock: manualClock(startedAt), account: '123456789012' });
  const theirs = new TestApi({ backend });
  const ours = await openApi();
  await theirs.createQueue('jobs');
  const url = urlOf('jobs');
  for (let round = 0; round < 2; round += 1) {
    assert.equal((await ours.json('GetQueueAttributes', { QueueUrl: url })).status, 200);
    assertJsonError(await theirs.json('GetQueueAttributes', { QueueUrl: url }), missing);
  }
});
