/**
 * The server as a library: starting, the `/_oncemq/` endpoints, stopping. Over real HTTP, on a manual clock; the actions
 * themselves are tested without a socket in test/api, and by real clients in test/sdk.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ConfigError, startServer } from '../../src/index.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../../src/testing.ts';
import { holdCommits } from '../support/commit-holder.ts';

async function open(t: TestContext, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer({ clock: 'manual', ...options });
  t.after(() => server.close());
  return server;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into at will here
type Answer = { status: number; body: any; headers: Headers };

async function ask(server: { url: string }, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, init);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

function sqs(server: { url: string }, action: string, input: object): Promise<Answer> {
  return ask(server, '/', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `AmazonSQS.${action}`,
    },
    body: JSON.stringify(input),
  });
}

async function withQueue(t: TestContext): Promise<TestServer> {
  const server = await open(t);
  const Attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
  await sqs(server, 'CreateQueue', { QueueName: 'jobs.fifo', Attributes });
  return server;
}

const send = (server: TestServer, body: string, group = 'g', attributes = {}): Promise<Answer> =>
  sqs(server, 'SendMessage', {
    QueueUrl: 'jobs.fifo',
    MessageBody: body,
    MessageGroupId: group,
    MessageAttributes: attributes,
  });

test('health reports the state, the version, the storage and the clock', async (t) => {
  const { status, body } = await ask(await open(t), '/_oncemq/health');
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body), ['status', 'version', 'storage', 'clock']);
  assert.equal(body.status, 'ok');
  assert.equal(body.storage, 'memory');
  assert.equal(body.clock, 'manual');
});

test('health also answers at the path of ElasticMQ, and to HEAD', async (t) => {
  const server = await open(t);
  for (const path of ['/health', '/_oncemq/health']) {
    assert.equal((await ask(server, path)).body.status, 'ok', path);
    const head = await fetch(`${server.url}${path}`, { method: 'HEAD' });
    assert.equal(head.status, 200, path);
    assert.equal(await head.text(), '');
  }
});

test('the clock moves by the seconds asked for, and the window closes on the way', async (t) => {
  const server = await withQueue(t);
  const first = await send(server, 'same');
  const before = server.clock.now();
  const init = { method: 'POST', body: '{"seconds":300}' };
  const moved = await ask(server, '/_oncemq/clock/advance', init);
  assert.deepEqual(moved.body, { now: before + 300_000 });
  const second = await send(server, 'same');
  assert.notEqual(second.body.MessageId, first.body.MessageId);
});

test('an invalid move of the clock is refused and moves nothing', async (t) => {
  const server = await open(t);
  const before = server.clock.now();
  for (const body of [
    '',
    '{',
    'null',
    '[]',
    '{"seconds":-1}',
    '{"seconds":"1"}',
    '{"seconds":1e99}',
  ]) {
    const { status } = await ask(server, '/_oncemq/clock/advance', { method: 'POST', body });
    assert.equal(status, 400, body);
  }
  assert.equal(server.clock.now(), before);
});

test("an invalid move of a test's own clock is a RangeError and moves nothing", async (t) => {
  const server = await withQueue(t);
  const before = server.clock.now();
  const told = server.events.length;
  for (const seconds of [Number.NaN, Infinity, -1, -Infinity, 1e99, undefined, null, '1', {}]) {
    const moved = server.clock.advance(seconds as number);
    const message = `clock.advance takes a number of seconds from 0 to 315360000, not ${seconds}.`;
    await assert.rejects(moved, { name: 'RangeError', message });
  }
  assert.equal(server.clock.now(), before);
  assert.equal(server.events.length, told);
  assert.equal(await server.clock.advance(0.5), before + 500);
});

test('a real clock is not moved, and the answer says why', async (t) => {
  const server = await startServer({ port: 0, memory: true });
  t.after(() => server.close());
  const init = { method: 'POST', body: '{"seconds":1}' };
  const { status, body } = await ask(server, '/_oncemq/clock/advance', init);
  assert.equal(status, 409);
  assert.match(body.error.message, /--clock virtual or --clock manual/);
});

test('a reset empties the server', async (t) => {
  const server = await withQueue(t);
  assert.equal((await ask(server, '/_oncemq/reset', { method: 'POST' })).status, 200);
  assert.deepEqual((await ask(server, '/_oncemq/queues')).body, { queues: [] });
});

test('queues are listed with their counts', async (t) => {
  const server = await withQueue(t);
  await send(server, 'one');
  await send(server, 'two');
  await send(server, 'three', 'h');
  await sqs(server, 'ReceiveMessage', { QueueUrl: 'jobs.fifo' });
  await server.clock.advance(7);
  const counts = {
    name: 'jobs.fifo',
    fifo: true,
    visible: 2,
    inFlight: 1,
    delayed: 0,
    groups: 2,
    dedupEntries: 3,
    oldestAgeSeconds: 7,
  };
  assert.deepEqual((await ask(server, '/_oncemq/queues')).body, { queues: [counts] });
  assert.deepEqual((await ask(server, '/_oncemq/queues/jobs.fifo')).body, counts);
});

test('peeking shows messages in order and receives none', async (t) => {
  const server = await withQueue(t);
  await send(server, 'one');
  const { body: sent } = await send(server, 'two', 'h');
  const peeked = await ask(server, '/_oncemq/queues/jobs.fifo/messages?group=h&limit=5');
  assert.equal(peeked.body.messages.length, 1);
  assert.equal(peeked.body.messages[0].body, 'two');
  assert.equal(peeked.body.messages[0].sequenceNumber, sent.SequenceNumber);
  const received = await sqs(server, 'ReceiveMessage', {
    QueueUrl: 'jobs.fifo',
    MaxNumberOfMessages: 10,
    AttributeNames: ['ApproximateReceiveCount'],
  });
  const counts = received.body.Messages.map(
    // biome-ignore lint/suspicious/noExplicitAny: an answer's member
    (message: any) => message.Attributes.ApproximateReceiveCount,
  );
  assert.deepEqual(counts, ['1', '1']);
});

test('explaining an id gives the original, the source, the age and what differed', async (t) => {
  const server = await withQueue(t);
  const original = await send(server, 'price', 'g', {
    market: { DataType: 'String', StringValue: 'wholesale' },
  });
  await server.clock.advance(60);
  const duplicate = await send(server, 'price', 'g', {
    market: { DataType: 'String', StringValue: 'retail' },
  });
  assert.equal(duplicate.headers.get('x-oncemq-duplicate-of'), original.body.MessageId);
  const all = await ask(server, '/_oncemq/queues/jobs.fifo/dedup');
  const { id } = all.body.entries[0];
  const { body } = await ask(server, `/_oncemq/queues/jobs.fifo/dedup?id=${id}`);
  assert.equal(body.entry.source, 'content');
  assert.equal(body.entry.original.messageId, original.body.MessageId);
  assert.equal(body.entry.original.sequenceNumber, original.body.SequenceNumber);
  assert.equal(body.entry.ageSeconds, 60);
  assert.equal(body.entry.expiresInSeconds, 240);
  assert.deepEqual(body.entry.suppressed[0].differed, ['attributes']);
});

test('an id that was suppressed by its body, in the profile yandex, is explained by the entry of that body', async (t) => {
  const server = await open(t, { clock: 'manual' });
  for (const DeduplicationScope of ['queue', 'messageGroup']) {
    const name = `${DeduplicationScope}.fifo`;
    const Attributes = {
      FifoQueue: 'true',
      ContentBasedDeduplication: 'true',
      DeduplicationScope,
      Profile: 'yandex',
    };
    await sqs(server, 'CreateQueue', { QueueName: name, Attributes });
    const send = async (MessageBody: string, MessageDeduplicationId?: string) => {
      const own = MessageDeduplicationId === undefined ? {} : { MessageDeduplicationId };
      const input = { QueueUrl: name, MessageBody, MessageGroupId: 'g', ...own };
      return (await sqs(server, 'SendMessage', input)).body.MessageId as string;
    };
    const original = await send('same', 'first');
    await send('x'.repeat(200_000), 'long');
    assert.equal(await send('same', 'second'), original);
    assert.equal(await send('same'), original);
    const long = await send('x'.repeat(200_000), 'long-again');
    const explained = async (id: string, group = '') =>
      (await ask(server, `/_oncemq/queues/${name}/dedup?id=${id}${group}`)).body;
    const { entry } = await explained('second');
    assert.equal(entry.id, 'first');
    assert.equal(entry.original.messageId, original);
    const hash = createHash('sha256').update('same').digest('hex');
    assert.deepEqual(
      entry.suppressed.map(({ id, matchedBy }: Record<string, string>) => [id, matchedBy]),
      [
        ['second', 'body'],
        [hash, 'body'],
      ],
    );
    assert.equal((await explained(hash, '&group=g')).entry.id, 'first');
    assert.equal((await explained('second', '&group=g')).entry.id, 'first');
    assert.equal((await explained('second', '&group=other')).error.code, 'NotInWindow');
    assert.equal((await explained('long-again')).entry.original.messageId, long);
    await server.clock.advance(301);
    assert.equal((await explained('second', '&group=g')).error.code, 'NotInWindow');
  }
});

test('an id that is not in the window is reported as new', async (t) => {
  const server = await withQueue(t);
  const { status, body } = await ask(server, '/_oncemq/queues/jobs.fifo/dedup?id=unseen');
  assert.equal(status, 404);
  assert.match(body.error.message, /unseen/);
});

test('forgetting the window lets an id be sent again', async (t) => {
  const server = await withQueue(t);
  const first = await send(server, 'same');
  const init = { method: 'DELETE' };
  const forgotten = await ask(server, '/_oncemq/queues/jobs.fifo/dedup', init);
  assert.deepEqual(forgotten.body, { forgotten: 1 });
  const second = await send(server, 'same');
  assert.notEqual(second.body.MessageId, first.body.MessageId);
});

test('an unknown path or queue, a wrong method and an invalid limit are refused', async (t) => {
  const server = await open(t);
  assert.equal((await ask(server, '/_oncemq/nothing')).status, 404);
  assert.equal((await ask(server, '/_oncemq/queues/none')).status, 404);
  assert.equal((await ask(server, '/_oncemq/queues/%E0%A4%A')).status, 404);
  const wrong = await ask(server, '/_oncemq/health', { method: 'DELETE' });
  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers.get('allow'), 'GET, HEAD');
  for (const limit of ['0', '1001', 'x', '-1', '1.5']) {
    const path = `/_oncemq/queues/none/messages?limit=${limit}`;
    assert.equal((await ask(server, path)).status, 400, limit);
  }
});

test('queue URLs use the host the client used, or the configured one', async (t) => {
  const server = await withQueue(t);
  const localhost = { url: server.url.replace('127.0.0.1', 'localhost') };
  const { body } = await sqs(localhost, 'GetQueueUrl', { QueueName: 'jobs.fifo' });
  assert.equal(body.QueueUrl, `${localhost.url}/000000000000/jobs.fifo`);
  const named = await open(t, { publicUrl: 'https://queue.example' });
  const created = await sqs(named, 'CreateQueue', { QueueName: 'a' });
  assert.equal(created.body.QueueUrl, 'https://queue.example/000000000000/a');
});

test('queues of the config file exist when the server is ready', async (t) => {
  const config = join(mkdtempSync(join(tmpdir(), 'oncemq-server-')), 'config.json');
  const attributes = { ContentBasedDeduplication: true };
  writeFileSync(config, JSON.stringify({ queues: [{ name: 'ready.fifo', attributes }] }));
  const server = await open(t, { config });
  const { body } = await ask(server, '/_oncemq/queues');
  assert.equal(body.queues[0].name, 'ready.fifo');
});

test('a queue of the config file that cannot be created stops the start with its reason', async () => {
  const config = join(mkdtempSync(join(tmpdir(), 'oncemq-server-')), 'config.json');
  const misspelled = { name: 'jobs', attributes: { VisibilityTimout: 1 } };
  const cutShort = { name: 'jobs.fifo', attributes: { ContentBasedDedup: true } };
  for (const [queue, reason] of [
    ['no spaces', /no spaces.*alphanumeric/],
    [misspelled, /jobs.*VisibilityTimout.*Did you mean VisibilityTimeout\?/],
    [cutShort, /jobs\.fifo.*Did you mean ContentBasedDeduplication\?/],
  ] as const) {
    writeFileSync(config, JSON.stringify({ queues: [queue] }));
    await assert.rejects(
      startTestServer({ config }),
      (error) => error instanceof ConfigError && reason.test(error.message),
    );
  }
});

test('a queue, topic or subscription that cannot be created is named with its file and position', async () => {
  const config = join(mkdtempSync(join(tmpdir(), 'oncemq-server-')), 'config.json');
  const topic = { name: 'news', subscriptions: ['jobs', 'nowhere'] };
  const unfit = { name: 'news', subscriptions: ['jobs', { queue: 'jobs', attributes: { No: 1 } }] };
  for (const [content, where] of [
    [{ queues: ['jobs', 'no spaces'] }, 'queues[1]: the queue no spaces '],
    [{ topics: ['news', 'no spaces'] }, 'topics[1]: the topic no spaces '],
    [{ queues: ['jobs'], topics: [topic] }, 'topics[0].subscriptions[1]: nowhere cannot '],
    [{ queues: ['jobs'], topics: [unfit] }, 'topics[0].subscriptions[1]: jobs cannot '],
  ] as const) {
    writeFileSync(config, JSON.stringify(content));
    await assert.rejects(
      startTestServer({ config }),
      (error: Error) =>
        error instanceof ConfigError && error.message.startsWith(`${config}: ${where}`),
      where,
    );
  }
});

test('a program gives queues and topics as in the config file, beside those of one', async (t) => {
  const config = join(mkdtempSync(join(tmpdir(), 'oncemq-server-')), 'config.json');
  writeFileSync(config, '{"queues":["of-file"]}');
  const server = await open(t, {
    config,
    queues: ['plain', { name: 'orders.fifo', attributes: { VisibilityTimeout: 7 } }],
    topics: [{ name: 'prices.fifo', subscriptions: ['orders.fifo', { queue: 'plain' }] }],
  });
  const { queues } = (await ask(server, '/_oncemq/queues')).body;
  assert.deepEqual(
    queues.map(({ name }: { name: string }) => name),
    ['of-file', 'orders.fifo', 'plain'],
  );
  const { body } = await sqs(server, 'GetQueueAttributes', {
    QueueUrl: 'orders.fifo',
    AttributeNames: ['All'],
  });
  assert.equal(body.Attributes.VisibilityTimeout, '7');
  assert.equal((await ask(server, '/_oncemq/topics/prices.fifo')).body.subscriptions.length, 2);
  for (const [options, reason] of [
    [{ queues: 'plain' }, /^queues must be a list\.$/],
    [
      { queues: [{ nam: 'plain' }] },
      /^queues\[0\]: there is no setting nam\. Did you mean name\?$/,
    ],
    [{ topics: [{ name: 'a', subscriptions: [{}] }] }, /^topics\[0\]\.subscriptions\[0\] must/],
  ] as const) {
    await assert.rejects(
      startTestServer(options as unknown as TestServerOptions),
      (error) => error instanceof ConfigError && reason.test(error.message),
    );
  }
});

test('a port in use is refused with what to do', async (t) => {
  const server = await startServer({ port: 0, memory: true });
  t.after(() => server.close());
  await assert.rejects(
    startServer({ port: server.port, memory: true }),
    /is already in use\. Choose another with --port/,
  );
});

/** Polls the metrics page until the long poll has reached the server. */
async function untilOneWaits({ url }: TestServer): Promise<void> {
  for (let times = 0; times < 1_000; times += 1) {
    const page = await (await fetch(`${url}/metrics`)).text();
    if (/^oncemq_long_polls(\{.*\})? 1$/m.test(page)) return;
  }
  assert.fail('no receive is waiting');
}

test('stopping answers a waiting long poll at once, empty', async (t) => {
  const server = await withQueue(t);
  const waiting = sqs(server, 'ReceiveMessage', { QueueUrl: 'jobs.fifo', WaitTimeSeconds: 20 });
  await untilOneWaits(server);
  await server.close();
  assert.deepEqual((await waiting).body, {});
});

test('the yandex profile makes equal bodies duplicates although their ids differ', async (t) => {
  const server = await open(t, { profile: 'yandex' });
  const Attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
  await sqs(server, 'CreateQueue', { QueueName: 'jobs.fifo', Attributes });
  const QueueUrl =
    'https://message-queue.example/b1g8ad42m6he1ooql78r/dj600000000000g53305qg/jobs.fifo';
  const message = { QueueUrl, MessageBody: 'same', MessageGroupId: 'g' };
  const one = await sqs(server, 'SendMessage', { ...message, MessageDeduplicationId: '1' });
  const two = await sqs(server, 'SendMessage', { ...message, MessageDeduplicationId: '2' });
  assert.equal(two.body.MessageId, one.body.MessageId);
  const other = { QueueName: 'aws.fifo', Attributes: { ...Attributes, Profile: 'aws' } };
  await sqs(server, 'CreateQueue', other);
  const plain = { ...message, QueueUrl: 'aws.fifo' };
  const three = await sqs(server, 'SendMessage', { ...plain, MessageDeduplicationId: '1' });
  const four = await sqs(server, 'SendMessage', { ...plain, MessageDeduplicationId: '2' });
  assert.notEqual(four.body.MessageId, three.body.MessageId);
});

test('a body over the limit is refused in the wire form of its request', async (t) => {
  const server = await open(t);
  const body = 'x'.repeat(9 * 1024 * 1024);
  const headers = { 'X-Amz-Target': 'AmazonSQS.SendMessage' };
  const json = await fetch(server.url, { method: 'POST', headers, body });
  assert.equal(json.status, 413);
  const { __type } = (await json.json()) as { __type: string };
  assert.equal(__type, 'com.amazon.coral.service#RequestEntityTooLargeException');
  const query = await fetch(server.url, { method: 'POST', body });
  assert.equal(query.status, 413);
  assert.match(await query.text(), /<Code>RequestEntityTooLarge/);
  assert.equal((await ask(server, '/_oncemq/health')).status, 200);
});

for (const [reader, create] of Object.entries({
  'a plain connection': (server: TestServer) => sqs(server, 'CreateQueue', { QueueName: 'q' }),
  'node:http': ({ url }: TestServer) => fetch(`${url}/?Action=CreateQueue&QueueName=q`),
})) {
  test(`stopping answers what has arrived on ${reader}, however long the disk takes`, async (t) => {
    const data = mkdtempSync(join(tmpdir(), 'oncemq-server-'));
    t.after(() => rmSync(data, { recursive: true }));
    const server = await startTestServer({ data, clock: 'manual' });
    const letGo = await holdCommits(data);
    t.after(letGo);
    const arrived = new Promise<unknown>((resolve) => {
      subscribe('oncemq.request', resolve);
      t.after(() => unsubscribe('oncemq.request', resolve));
    });
    const answer = create(server);
    await arrived;
    t.mock.timers.enable({ apis: ['setInterval'] });
    const closed = server.close();
    for (let times = 0; times < 10; times += 1) t.mock.timers.tick(2_000);
    letGo();
    assert.equal((await answer).status, 200);
    await closed;
  });

  test(`stopping waits two seconds for the rest of a request on ${reader}`, async (t) => {
    const server = await startTestServer();
    const { port } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    t.after(() => socket.destroy());
    const head = 'POST / HTTP/1.1\r\nHost: any\r\nContent-Length: 9\r\n';
    const other = reader === 'node:http' ? 'Expect: 100-continue\r\n' : '';
    socket.write(`${head}${other}\r\n1`);
    // An answer to a later connection shows that the server has read the earlier one.
    await ask(server, '/_oncemq/health');
    t.mock.timers.enable({ apis: ['setInterval'] });
    const closed = server.close();
    t.mock.timers.tick(1_999);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(socket.closed, false);
    t.mock.timers.tick(1);
    await closed;
  });
}

test('stopping does not wait for a silent connection', async () => {
  const server = await startTestServer();
  const silent = connect(Number(new URL(server.url).port), '127.0.0.1');
  await once(silent, 'connect');
  const closed = once(silent, 'close');
  // This takes two seconds of real time: the test is about the wait ending by itself.
  await server.close();
  await closed;
});

test('a request target that is a whole URL is understood', async (t) => {
  const server = await open(t);
  const port = Number(new URL(server.url).port);
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `GET ${server.url}/_oncemq/health HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n`,
  );
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  assert.match(Buffer.concat(chunks).toString(), /^HTTP\/1\.1 200 /);
});

test('explaining an id of a queue with scope messageGroup requires the group', async (t) => {
  const server = await open(t);
  const Attributes = { FifoQueue: 'true', DeduplicationScope: 'messageGroup' };
  await sqs(server, 'CreateQueue', { QueueName: 'jobs.fifo', Attributes });
  await sqs(server, 'SendMessage', {
    QueueUrl: 'jobs.fifo',
    MessageBody: 'one',
    MessageGroupId: 'g',
    MessageDeduplicationId: 'd',
  });
  const { status, body } = await ask(server, '/_oncemq/queues/jobs.fifo/dedup?id=d');
  assert.equal(status, 400);
  assert.match(body.error.message, /group=ID/);
  const found = await ask(server, '/_oncemq/queues/jobs.fifo/dedup?id=d&group=g');
  assert.equal(found.body.entry.id, 'd');
});

test('deeply nested policies are refused, not answered with a server error', async (t) => {
  const server = await open(t);
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  for (const [name, value] of [
    ['RedrivePolicy', `{"deadLetterTargetArn":"a","maxReceiveCount":${deep}}`],
    ['Policy', `{"Statement":${deep}}`],
  ]) {
    const input = { QueueName: 'q', Attributes: { [name as string]: value } };
    assert.equal((await sqs(server, 'CreateQueue', input)).status, 400, name);
  }
});

test('a number of a million digits is refused', async (t) => {
  const server = await open(t);
  await sqs(server, 'CreateQueue', { QueueName: 'q' });
  const StringValue = `1${'0'.repeat(1_000_000)}1`;
  const { status, body } = await sqs(server, 'SendMessage', {
    QueueUrl: 'q',
    MessageBody: 'x',
    MessageAttributes: { n: { DataType: 'Number', StringValue } },
  });
  assert.equal(status, 400);
  assert.match(body.message, /to a number/);
});
