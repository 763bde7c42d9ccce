/**
 * The event stream over real HTTP: what a reader gets and does not get, and that no reader, however slow, blocks the queue
 * or keeps the server from stopping.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SNS } from '@aws-sdk/client-sns';
import { SQS } from '@aws-sdk/client-sqs';
import { defineProducer } from '@oncemq/toolkit';
import { turnBytesMax } from '../../src/api/inspect/event-follower.ts';
import { readersMax } from '../../src/api/inspect/event-stream.ts';
import { startTestServer, type TestServer } from '../../src/testing.ts';
import { EventReader } from '../support/event-reader.ts';

interface Opened {
  readonly server: TestServer;
  readonly sqs: SQS;
  follow(query?: string): Promise<EventReader>;
  queue(name: string, attributes?: Record<string, string>): Promise<string>;
}

async function open(t: TestContext, data?: string): Promise<Opened> {
  const server = await startTestServer({ clock: 'manual', ...(data && { data }) });
  const sqs = new SQS({ ...server.clientConfig, maxAttempts: 1 });
  const readers: EventReader[] = [];
  t.after(async () => {
    for (const reader of readers) reader.close();
    sqs.destroy();
    await server.close();
  });
  return {
    server,
    sqs,
    follow: async (query) => {
      const reader = await EventReader.open(server.url, query);
      readers.push(reader);
      return reader;
    },
    queue: async (QueueName, attributes = {}) => {
      const isFifo = QueueName.endsWith('.fifo');
      const fifo = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
      const Attributes = { ...(isFifo && fifo), ...attributes };
      return (await sqs.createQueue({ QueueName, Attributes })).QueueUrl as string;
    },
  };
}

const producer = defineProducer<{ order: number }>({
  source: 'kfm.parts.orders',
  dedupeKey: ({ order }) => `order-${order}`,
  eventTime: () => '2025-12-04T00:00:00Z',
});

for (const kind of ['memory', 'lmdb']) {
  test(`a reader gets events in order, with position and time (${kind})`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'oncemq-stream-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const { server, sqs, queue, follow } = await open(t, kind === 'lmdb' ? folder : undefined);
    const reader = await follow();
    const QueueUrl = await queue('jobs.fifo');
    const message = { QueueUrl, MessageBody: 'one', MessageGroupId: 'g' };
    const { MessageId } = await sqs.sendMessage(message);
    await server.clock.advance(7);
    await sqs.sendMessage(message);
    const { Messages = [] } = await sqs.receiveMessage({ QueueUrl });
    await sqs.deleteMessage({ QueueUrl, ReceiptHandle: Messages[0]?.ReceiptHandle });
    const events = await reader.take(5);
    assert.deepEqual(
      events.map(({ id, type }) => [id, type]),
      [
        [1, 'queue-created'],
        [2, 'sent'],
        [3, 'duplicate'],
        [4, 'delivered'],
        [5, 'deleted'],
      ],
    );
    const [, sent, duplicate] = events;
    assert.equal(sent?.data.messageId, MessageId);
    assert.equal(duplicate?.data.original.messageId, MessageId);
    assert.equal(duplicate?.data.at - sent?.data.at, 7_000);
    assert.ok(events.every(({ type, data }) => data.type === type && data.queue === 'jobs.fifo'));
  });
}

test('bodies are left out, and their sizes and envelope ids are given instead', async (t) => {
  const { sqs, queue, follow } = await open(t);
  const QueueUrl = await queue('orders.fifo');
  const reader = await follow();
  const { body } = producer.message({ order: 1 });
  await sqs.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId: 'g' });
  await sqs.sendMessage({ QueueUrl, MessageBody: 'ä', MessageGroupId: 'g' });
  const [envelope, plain] = (await reader.take(2)).map(({ data }) => data);
  assert.equal(envelope.bodyBytes, Buffer.byteLength(body));
  assert.equal(envelope.eventId, JSON.parse(body).event_id);
  assert.equal(envelope.dedupeKey, 'order-1');
  assert.equal(plain.bodyBytes, 2);
  assert.ok(!('eventId' in plain));
  for (const data of [envelope, plain]) assert.ok(!('body' in data || 'content' in data));
});

test('with bodies enabled a reader gets them and their attributes, cut at 4,096 characters', async (t) => {
  const { sqs, queue, follow } = await open(t);
  const QueueUrl = await queue('jobs');
  const reader = await follow('?bodies=true');
  const MessageAttributes = {
    color: { DataType: 'String', StringValue: 'red' },
    seal: { DataType: 'Binary', BinaryValue: Buffer.from([0, 255]) },
  };
  await sqs.sendMessage({ QueueUrl, MessageBody: 'short', MessageAttributes });
  await sqs.sendMessage({ QueueUrl, MessageBody: 'x'.repeat(5_000) });
  const [short, long] = (await reader.take(2)).map(({ data }) => data);
  assert.equal(short.body, 'short');
  assert.ok(!('bodyCut' in short));
  assert.deepEqual(short.attributes, [
    { name: 'color', type: 'String', value: 'red' },
    { name: 'seal', type: 'Binary', value: 'AP8=' },
  ]);
  assert.equal(long.body.length, 4_096);
  assert.equal(long.bodyCut, true);
  assert.equal(long.bodyBytes, 5_000);
});

test("a publication and its notification carry the envelope's key, without bodies", async (t) => {
  const { server, queue, follow } = await open(t);
  const sns = new SNS({ ...server.clientConfig, maxAttempts: 1 });
  t.after(() => sns.destroy());
  await queue('copy');
  const { TopicArn } = await sns.createTopic({ Name: 'orders' });
  const Endpoint = 'arn:aws:sqs:us-east-1:000000000000:copy';
  await sns.subscribe({ TopicArn, Protocol: 'sqs', Endpoint });
  const reader = await follow();
  const { body } = producer.message({ order: 1 });
  await sns.publish({ TopicArn, Message: body });
  const events = await reader.take(3);
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.dedupeKey]),
    [
      ['published', 'order-1'],
      ['sent', 'order-1'],
      ['fanned-out', undefined],
    ],
  );
  assert.ok(!JSON.stringify(events).includes('event_time'));
});

test('a filter passes only what it names', async (t) => {
  const { sqs, queue, follow } = await open(t);
  const a = await queue('a.fifo');
  const b = await queue('b.fifo');
  const c = await queue('c.fifo');
  const byQueue = await follow('?queue=a.fifo&queue=b.fifo');
  const byType = await follow('?type=duplicate&type=deleted');
  const byGroup = await follow('?group=two&queue=a.fifo');
  for (const [QueueUrl, MessageGroupId] of [
    [c, 'one'],
    [a, 'one'],
    [a, 'one'],
    [b, 'two'],
    [a, 'two'],
  ]) {
    await sqs.sendMessage({ QueueUrl, MessageGroupId, MessageBody: `${MessageGroupId}` });
  }
  const queuesTold = (await byQueue.take(4)).map(({ type, data }) => [
    type,
    data.queue,
    data.groupId,
  ]);
  assert.deepEqual(queuesTold, [
    ['sent', 'a.fifo', 'one'],
    ['duplicate', 'a.fifo', 'one'],
    ['sent', 'b.fifo', 'two'],
    ['sent', 'a.fifo', 'two'],
  ]);
  const ofType = await byType.next();
  assert.deepEqual([ofType?.id, ofType?.type], [3, 'duplicate']);
  const ofGroup = await byGroup.next();
  assert.deepEqual([ofGroup?.id, ofGroup?.data.queue], [5, 'a.fifo']);
});

test('a dead letter is reported to readers of the dead-letter queue', async (t) => {
  const { sqs, server, queue, follow } = await open(t);
  await queue('dead');
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:dead';
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
  const QueueUrl = await queue('jobs', { RedrivePolicy, VisibilityTimeout: '1' });
  const reader = await follow('?queue=dead');
  await sqs.sendMessage({ QueueUrl, MessageBody: 'poison' });
  await sqs.receiveMessage({ QueueUrl });
  await server.clock.advance(1);
  await sqs.receiveMessage({ QueueUrl });
  assert.equal((await reader.next())?.type, 'dead-lettered');
});

test('an invalid filter is refused with the nearest name', async (t) => {
  const { server } = await open(t);
  for (const [query, text] of [
    ['type=duplicated', /no event type duplicated\. Did you mean duplicate\?/],
    ['type=hasOwnProperty', /Choose from queue-created/],
    ['queu=a', /no parameter queu\. Did you mean queue\?/],
    ['bodies=yes', /bodies must be true or false/],
    [Array.from({ length: 101 }, (_, at) => `queue=q${at}`).join('&'), /At most 100/],
  ] as const) {
    const response = await fetch(`${server.url}/_oncemq/events?${query}`);
    assert.equal(response.status, 400);
    assert.match(((await response.json()) as { error: { message: string } }).error.message, text);
  }
  const posted = await fetch(`${server.url}/_oncemq/events`, { method: 'POST' });
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET']);
});

/** A client that requests the events and reads none of them. */
async function openSlowReader(t: TestContext, { url }: TestServer): Promise<Socket> {
  const { port, hostname } = new URL(url);
  const slow = connect(Number(port), hostname);
  t.after(() => slow.destroy());
  slow.on('error', () => {});
  slow.write('GET /_oncemq/events?bodies=true HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(slow, 'readable');
  return slow;
}

/** Sends until more is written for a reader than the server and the kernel may buffer; returns how many messages. */
async function sendMuch(sqs: SQS, QueueUrl: string): Promise<number> {
  const kernelBytes = 12 * 1024 * 1024;
  // In the stream, each text has 4,096 characters of three bytes.
  const text = '€'.repeat(4_096);
  const names = Array.from({ length: 10 }, (_, at) => `a${at}`);
  const attribute = { DataType: 'String', StringValue: text };
  const MessageAttributes = Object.fromEntries(names.map((name) => [name, attribute]));
  const messageBytes = (names.length + 1) * Buffer.byteLength(text);
  let sent = 0;
  while (sent * messageBytes < turnBytesMax + kernelBytes) {
    await sqs.sendMessage({ QueueUrl, MessageBody: text, MessageAttributes });
    sent += 1;
  }
  return sent;
}

test('a quiet stream has a heartbeat', async (t) => {
  const { server } = await open(t);
  t.mock.timers.enable({ apis: ['setInterval'] });
  const response = await fetch(`${server.url}/_oncemq/events`);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const text = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
  assert.match(await text(), /^retry: 2000\n: /);
  t.mock.timers.tick(15_000);
  assert.equal(await text(), ':\n\n');
  await reader.cancel();
});

test('a reader that reads gets the whole of a publication to many queues', async (t) => {
  const { server, queue, follow } = await open(t);
  const sns = new SNS({ ...server.clientConfig, maxAttempts: 1 });
  t.after(() => sns.destroy());
  const { TopicArn } = await sns.createTopic({ Name: 'news' });
  const queues = Array.from({ length: 100 }, (_, at) => `copy-${at}`);
  for (const name of queues) {
    await queue(name);
    const Endpoint = `arn:aws:sqs:us-east-1:000000000000:${name}`;
    const Attributes = { RawMessageDelivery: 'true' };
    await sns.subscribe({ TopicArn, Protocol: 'sqs', Endpoint, Attributes });
  }
  const reader = await follow('?bodies=true&type=sent');
  const attribute = { DataType: 'String', StringValue: 'x'.repeat(4_096) };
  const names = Array.from({ length: 10 }, (_, at) => `a${at}`);
  const MessageAttributes = Object.fromEntries(names.map((name) => [name, attribute]));
  await sns.publish({ TopicArn, Message: 'all at once', MessageAttributes });
  const queuesTold = (await reader.take(queues.length)).map(({ data }) => data.queue);
  assert.deepEqual(new Set(queuesTold), new Set(queues));
});

test('a reader that does not read is dropped with a reason, and the queue continues', async (t) => {
  const { server, sqs, queue, follow } = await open(t);
  const QueueUrl = await queue('jobs');
  const slow = await openSlowReader(t, server);
  const quick = await follow('?type=queue-purged');
  const sent = await sendMuch(sqs, QueueUrl);
  await sqs.purgeQueue({ QueueUrl });
  assert.equal(
    (await quick.next())?.data.messages,
    sent,
    'nothing was lost, nobody else disturbed',
  );
  let text = '';
  slow.setEncoding('utf8').on('data', (part: string) => {
    text = `${text.slice(-1_000)}${part.slice(-1_000)}`;
  });
  await once(slow, 'end');
  assert.match(
    text,
    /event: dropped\ndata: {"reason":".* more than 1048576 bytes waited to be read/,
  );
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  assert.match(metrics, /oncemq_connections_closed_total\{.*cause="event-reader".*\} 1$/m);
});

test('one reader too many is refused until another one leaves', async (t) => {
  const { server, sqs, queue, follow } = await open(t);
  await queue('jobs');
  const readers = await Promise.all(Array.from({ length: readersMax }, () => follow()));
  const refused = await fetch(`${server.url}/_oncemq/events`);
  assert.equal(refused.status, 503);
  assert.match(await refused.text(), /TooManyReaders.*100 readers/);
  readers[0]?.close();
  let reader: EventReader | undefined;
  // The server notices the reader that left when its socket closes, which is soon but not immediately.
  while (reader === undefined) reader = await follow().catch(() => undefined);
  await sqs.sendMessage({ QueueUrl: `${server.url}/000000000000/jobs`, MessageBody: 'x' });
  for (const each of [...readers.slice(1), reader]) assert.equal((await each.next())?.type, 'sent');
});

test('stopping ends every stream without waiting for slow readers', async (t) => {
  const { server, sqs, queue, follow } = await open(t);
  const QueueUrl = await queue('jobs');
  const slow = await openSlowReader(t, server);
  await sendMuch(sqs, QueueUrl);
  const reader = await follow();
  await sqs.sendMessage({ QueueUrl, MessageBody: 'last' });
  // Stopping gives up waiting by a timer; without it, stopping ends only if nothing blocks it.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await server.close();
  t.mock.timers.reset();
  assert.equal((await reader.next())?.type, 'sent');
  assert.equal(await reader.next(), undefined);
  slow.resume();
  await once(slow, 'close');
});
