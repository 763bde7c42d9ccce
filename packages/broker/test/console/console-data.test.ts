/**
 * What the console asks the server for, without a browser: overview, groups, pages of messages, filters that are tried.
 * Over real HTTP, on a manual clock. The deduplication window is in window-data.test.ts.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, sns, sqs } from './calls.ts';
import { get, open, send } from './data.ts';

test('the overview has every queue with its counts, and rates from when it is first watched', async (t) => {
  const server = await open(t);
  assert.equal((await get(server, 'overview')).queues[0].activity, null);
  await send(server, 'one');
  await send(server, 'one');
  await send(server, 'two', { group: 'h' });
  await sqs(server, 'ReceiveMessage', { QueueUrl: 'jobs.fifo' });
  const { queues, now, clock, next } = await get(server, 'overview');
  const { activity, oldestSentAt, ...counts } = queues[0];
  assert.deepEqual(counts, {
    name: 'jobs.fifo',
    fifo: true,
    visible: 1,
    inFlight: 1,
    delayed: 0,
    groups: 2,
    blockedGroups: 1,
    dedupEntries: 2,
  });
  assert.equal(oldestSentAt, now);
  assert.deepEqual([clock, next], ['manual', null]);
  assert.equal(activity.sent.at(-1), 2);
  assert.equal(activity.suppressed.at(-1), 1);
  assert.ok(activity.sentPerSecond > 0 && activity.deliveredPerSecond > 0);
});

test('counted sends leave the overview after five minutes', async (t) => {
  const server = await open(t);
  await get(server, 'overview');
  await send(server, 'one');
  const sums: number[] = [];
  for (const seconds of [0, 280, 30]) {
    await server.clock.advance(seconds);
    const { queues } = await get(server, 'overview');
    sums.push(queues[0].activity.sent.reduce((sum: number, part: number) => sum + part, 0));
  }
  assert.deepEqual(sums, [1, 1, 0]);
});

test('the overview lists queues in pages, filtered by prefix', async (t) => {
  const server = await open(t);
  for (const QueueName of ['a-1', 'a-2', 'b-1']) await sqs(server, 'CreateQueue', { QueueName });
  const first = await get(server, 'overview?limit=2');
  assert.deepEqual(names(first.queues), ['a-1', 'a-2']);
  const second = await get(server, `overview?limit=2&after=${first.next}`);
  assert.deepEqual(names(second.queues), ['b-1', 'jobs.fifo']);
  assert.deepEqual(names((await get(server, 'overview?prefix=a-')).queues), ['a-1', 'a-2']);
});

test('a group shows how many messages wait, and which message blocks it until when', async (t) => {
  const server = await open(t);
  for (const body of ['1', '2', '3']) await send(server, body, { group: 'busy' });
  const free = await send(server, '4', { group: 'free' });
  const received = await sqs(server, 'ReceiveMessage', {
    QueueUrl: 'jobs.fifo',
    VisibilityTimeout: 40,
  });
  const { groups, now } = await get(server, 'queues/jobs.fifo/groups');
  assert.deepEqual(groups, [
    {
      groupId: 'busy',
      messages: 3,
      inFlight: 1,
      state: 'blocked',
      oldestSentAt: now,
      blockedBy: {
        messageId: received.body.Messages[0].MessageId,
        state: 'in-flight',
        receiveCount: 1,
        until: now + 40_000,
      },
    },
    {
      groupId: 'free',
      messages: 1,
      inFlight: 0,
      state: 'ready',
      oldestSentAt: now,
      blockedBy: null,
    },
  ]);
  assert.equal(free.status, 200);
  const blocked = await get(server, 'queues/jobs.fifo/groups?state=blocked');
  assert.deepEqual(
    blocked.groups.map(({ groupId }: { groupId: string }) => groupId),
    ['busy'],
  );
});

test('groups are listed in pages, each group once, while groups come and go', async (t) => {
  const server = await open(t);
  for (let index = 0; index < 25; index += 1)
    await send(server, `b${index}`, { group: `g${index}` });
  const seen: string[] = [];
  let after = '';
  do {
    const page = await get(server, `queues/jobs.fifo/groups?limit=10&after=${after}`);
    seen.push(...page.groups.map(({ groupId }: { groupId: string }) => groupId));
    after = page.next === null ? '' : String(page.next);
    // The first group that waits goes: what follows keeps its place.
    const { body } = await sqs(server, 'ReceiveMessage', { QueueUrl: 'jobs.fifo' });
    const { ReceiptHandle } = body.Messages[0];
    await sqs(server, 'DeleteMessage', { QueueUrl: 'jobs.fifo', ReceiptHandle });
  } while (after !== '');
  assert.equal(new Set(seen).size, seen.length);
  assert.equal(seen.length, 25);
});

test('messages are listed in pages after a sequence number, even if its message is gone', async (t) => {
  const server = await open(t);
  for (const body of ['1', '2', '3', '4', '5']) await send(server, body);
  const bodies = async (query: string): Promise<string[]> =>
    (await get(server, `queues/jobs.fifo/messages?${query}`)).messages.map(
      ({ body }: { body: string }) => body,
    );
  const { messages, next: after } = await get(server, 'queues/jobs.fifo/messages?limit=2');
  assert.equal(after, messages[1].sequence);
  assert.equal((await get(server, 'queues/jobs.fifo/messages?limit=6')).next, null);
  assert.deepEqual(await bodies(`limit=2&after=${after}`), ['3', '4']);
  assert.deepEqual(await bodies(`limit=2&group=g&after=${after}`), ['3', '4']);
  const { body } = await sqs(server, 'ReceiveMessage', {
    QueueUrl: 'jobs.fifo',
    MaxNumberOfMessages: 2,
  });
  for (const { ReceiptHandle } of body.Messages) {
    await sqs(server, 'DeleteMessage', { QueueUrl: 'jobs.fifo', ReceiptHandle });
  }
  assert.deepEqual(await bodies(`after=${after}`), ['3', '4', '5']);
  assert.deepEqual(await bodies(`group=g&after=${after}`), ['3', '4', '5']);
});

test('a message can be tried against the filters of a topic without being published', async (t) => {
  const server = await open(t);
  const { TopicArn } = await sns(server, 'CreateTopic', { Name: 'events' });
  const Endpoint = 'arn:aws:sqs:us-east-1:000000000000:jobs';
  await sqs(server, 'CreateQueue', { QueueName: 'jobs' });
  const FilterPolicy = '{"kind":["price"]}';
  await sns(server, 'Subscribe', {
    TopicArn,
    Protocol: 'sqs',
    Endpoint,
    'Attributes.entry.1.key': 'FilterPolicy',
    'Attributes.entry.1.value': FilterPolicy,
  });
  const match = async (input: object) =>
    (await ask(server, 'topics/events/match', { method: 'POST', body: JSON.stringify(input) }))
      .body;
  const attributes = (value: string): object => ({ kind: { type: 'String', value } });
  const price = await match({ message: 'm', attributes: attributes('price') });
  assert.equal(price.subscriptions[0].matches, true);
  const stock = await match({ message: 'm', attributes: attributes('stock') });
  assert.equal(stock.subscriptions[0].matches, false);
  const body = await match({ message: '{"n":5}', policy: { n: [5] }, scope: 'MessageBody' });
  assert.deepEqual(body.policy, { matches: true });
  const wrong = await match({ message: 'm', policy: { n: 5 } });
  assert.match(wrong.error.message, /"n" must be an object or an array/);
  assert.equal((await get(server, 'queues/jobs')).visible, 0);
});

test('deliveries of a topic are listed from when it is first watched', async (t) => {
  const server = await open(t);
  const { TopicArn } = await sns(server, 'CreateTopic', { Name: 'events' });
  await sqs(server, 'CreateQueue', { QueueName: 'jobs' });
  const Endpoint = 'arn:aws:sqs:us-east-1:000000000000:jobs';
  await sns(server, 'Subscribe', { TopicArn, Protocol: 'sqs', Endpoint });
  assert.deepEqual((await get(server, 'topics/events/deliveries')).deliveries, []);
  await sns(server, 'Publish', { TopicArn, Message: 'hello' });
  const { deliveries } = await get(server, 'topics/events/deliveries');
  assert.deepEqual([deliveries[0].type, deliveries[0].queue], ['fanned-out', 'jobs']);
});

test('an invalid request is refused', async (t) => {
  const server = await open(t);
  await sqs(server, 'CreateQueue', { QueueName: 'plain' });
  await sns(server, 'CreateTopic', { Name: 'events' });
  for (const [path, status] of [
    ['queues/none/groups', 404],
    ['queues/none/counts', 404],
    ['queues/none/window', 404],
    ['queues/none/window/1', 404],
    ['queues/plain/window', 409],
    ['queues/jobs.fifo/window/x', 400],
    ['queues/jobs.fifo/window/99', 404],
    ['queues/jobs.fifo/groups?after=x', 400],
    ['queues/jobs.fifo/groups?state=odd', 400],
    ['queues/jobs.fifo/messages?after=-1', 400],
    ['overview?limit=0', 400],
    ['topics/none/deliveries', 404],
  ] as const) {
    assert.equal((await ask(server, path)).status, status, path);
  }
  for (const body of ['', '{', '[]', '{"message":1}', '{"message":"m","attributes":{"a":1}}']) {
    const { status } = await ask(server, 'topics/events/match', { method: 'POST', body });
    assert.equal(status, 400, body);
  }
});

test('a page of another server changes nothing, but a program without a page does', async (t) => {
  const server = await open(t);
  const before = server.clock.now();
  const advance = (headers: Record<string, string>) =>
    ask(server, 'clock/advance', { method: 'POST', headers, body: '{"seconds":1}' });
  const { host } = new URL(server.url);
  const foreign = { origin: 'http://elsewhere.example' };
  assert.equal((await advance(foreign)).status, 403);
  assert.equal((await advance({ ...foreign, 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.equal(server.clock.now(), before);
  assert.equal((await advance({ origin: `http://${host}` })).status, 200);
  assert.equal((await advance({})).status, 200);
  assert.equal(server.clock.now(), before + 2_000);
});

test('a page of another server cannot carry out an SQS action', async (t) => {
  const server = await open(t);
  await send(server, 'one');
  const purge = (headers: Record<string, string>) =>
    ask(server, 'sqs', {
      method: 'POST',
      headers: { 'X-Amz-Target': 'AmazonSQS.PurgeQueue', ...headers },
      body: '{"QueueUrl":"jobs.fifo"}',
    });
  assert.equal((await purge({ origin: 'http://elsewhere.example' })).status, 403);
  assert.equal((await get(server, 'queues/jobs.fifo')).visible, 1);
  const own = await ask(server, 'sqs', {
    method: 'POST',
    headers: { 'X-Amz-Target': 'AmazonSQS.ListQueues', origin: server.url },
    body: '{}',
  });
  assert.match(own.body.QueueUrls[0], /jobs\.fifo$/);
});

function names(rows: readonly { name: string }[]): string[] {
  return rows.map(({ name }) => name);
}
