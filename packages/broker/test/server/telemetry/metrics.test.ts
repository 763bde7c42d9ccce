/**
 * `/metrics` after scenarios with known numbers, played by the real AWS client on real servers. Every page is parsed line
 * by line (support/prometheus-page.ts). What goes to a collector is tested in metrics-export.test.ts.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SNS } from '@aws-sdk/client-sns';
import { SQS } from '@aws-sdk/client-sqs';
import { metricList } from '../../../src/server/telemetry/metric-list.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../../../src/testing.ts';
import { PrometheusPage } from '../../support/prometheus-page.ts';

interface Open {
  readonly server: TestServer;
  readonly client: SQS;
  readonly page: () => Promise<PrometheusPage>;
  readonly queue: (name: string, attributes?: Record<string, string>) => Promise<string>;
}

async function open(t: TestContext, options: TestServerOptions = {}): Promise<Open> {
  const server = await startTestServer({ clock: 'manual', ...options });
  const client = new SQS({ ...server.clientConfig, maxAttempts: 1 });
  t.after(async () => {
    client.destroy();
    await server.close();
  });
  const queue = async (QueueName: string, attributes = {}): Promise<string> => {
    const Attributes = QueueName.endsWith('.fifo')
      ? { FifoQueue: 'true', ContentBasedDeduplication: 'true', ...attributes }
      : attributes;
    return (await client.createQueue({ QueueName, Attributes })).QueueUrl as string;
  };
  return { server, client, queue, page: () => PrometheusPage.of(server) };
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'oncemq-metrics-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

test('suppressed sends are counted by the source of their id, and those that differed as collisions', async (t) => {
  const { client, queue, page } = await open(t);
  const QueueUrl = await queue('orders.fifo');
  const send = (MessageBody: string, MessageGroupId: string, MessageDeduplicationId?: string) =>
    client.sendMessage({ QueueUrl, MessageBody, MessageGroupId, MessageDeduplicationId });
  await send('one', 'a');
  await send('one', 'a');
  await send('one', 'b');
  await send('two', 'a', 'id');
  await send('two', 'a', 'id');
  await send('three', 'a', 'id');
  await send('four', 'a', 'id');
  const found = await page();
  const explicit = { queue: 'orders.fifo', source: 'explicit' };
  const content = { queue: 'orders.fifo', source: 'content' };
  const hits = 'sqs_fifo_dedupe_window_hits_total';
  assert.deepEqual([found.value(hits, content), found.value(hits, explicit)], [2, 3]);
  const collisions = 'sqs_fifo_dedupe_collisions_detected_total';
  assert.deepEqual([found.value(collisions, content), found.value(collisions, explicit)], [1, 2]);
  assert.equal(found.value('oncemq_messages_sent_total', { queue: 'orders.fifo' }), 2);
});

test('body lengths are counted in bytes, for suppressed sends too, and only on FIFO queues', async (t) => {
  const { client, queue, page } = await open(t);
  const QueueUrl = await queue('orders.fifo');
  const plainUrl = await queue('plain');
  await client.sendMessage({ QueueUrl: plainUrl, MessageBody: 'x'.repeat(500) });
  for (const MessageBody of ['é'.repeat(40), 'é'.repeat(40), 'x'.repeat(64)]) {
    await client.sendMessage({ QueueUrl, MessageBody, MessageGroupId: 'g' });
  }
  const found = await page();
  const name = 'sqs_fifo_body_hash_length_bytes';
  assert.equal(found.types.get(name), 'histogram');
  assert.equal(found.value(`${name}_count`, { queue: 'orders.fifo', source: 'content' }), 3);
  assert.equal(
    found.value(`${name}_sum`, { queue: 'orders.fifo', source: 'content' }),
    80 + 80 + 64,
  );
  assert.equal(
    found.value(`${name}_bucket`, { queue: 'orders.fifo', source: 'content', le: '64' }),
    1,
  );
  assert.equal(
    found.value(`${name}_bucket`, { queue: 'orders.fifo', source: 'content', le: '256' }),
    3,
  );
  assert.equal(
    found.value(`${name}_count`, { queue: 'orders.fifo', source: 'explicit' }),
    undefined,
  );
  assert.equal(found.value(`${name}_count`, { queue: 'plain', source: 'content' }), undefined);
});

test('contract violations are counted by rule, refused or not', async (t) => {
  const contract = join(folder(t), 'contract.json');
  const queues = [
    { queue: 'strict.fifo', contract: 'envelope', mode: 'reject' },
    { queue: 'lenient.fifo', contract: 'envelope', mode: 'observe' },
  ];
  writeFileSync(contract, JSON.stringify({ queues }));
  const { client, queue, page } = await open(t, { contract });
  const strict = await queue('strict.fifo');
  const lenient = await queue('lenient.fifo');
  const send = (QueueUrl: string) =>
    client.sendMessage({ QueueUrl, MessageBody: '{}', MessageGroupId: 'g' });
  await assert.rejects(send(strict));
  await assert.rejects(send(strict));
  await send(lenient);
  const found = await page();
  const name = 'sqs_fifo_producer_violations_total';
  const reason = 'body-not-envelope';
  assert.equal(found.value(name, { queue: 'strict.fifo', reason }), 2);
  assert.equal(found.value(name, { queue: 'lenient.fifo', reason }), 1);
  assert.equal(found.value('oncemq_messages_sent_total', { queue: 'strict.fifo' }), 0);
  const requests = { service: 'sqs', action: 'SendMessage' };
  const refused = { ...requests, code: 'InvalidParameterValue' };
  assert.equal(found.value('oncemq_requests_total', refused), 2);
});

test('a message is counted at each step of its life, and gauges show the current state', async (t) => {
  const { server, client, queue, page } = await open(t);
  const deadUrl = await queue('dead.fifo');
  const QueueUrl = await queue('jobs.fifo', {
    VisibilityTimeout: '30',
    MessageRetentionPeriod: '600',
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:dead.fifo',
      maxReceiveCount: 1,
    }),
  });
  for (const name of ['a1', 'a2', 'b1', 'c1']) {
    const MessageGroupId = name.slice(0, 1);
    await client.sendMessage({ QueueUrl, MessageBody: name, MessageGroupId });
  }
  const receive = async () => (await client.receiveMessage({ QueueUrl })).Messages?.[0];
  const first = await receive();
  await client.deleteMessage({ QueueUrl, ReceiptHandle: first?.ReceiptHandle });
  await receive();
  await server.clock.advance(10);

  const jobs = { queue: 'jobs.fifo' };
  const before = await page();
  const now = (name: string) => before.value(`oncemq_queue_${name}`, jobs);
  assert.deepEqual([now('visible'), now('in_flight'), now('delayed')], [2, 1, 0]);
  assert.deepEqual([now('groups'), now('groups_blocked'), now('window_entries')], [3, 1, 4]);
  assert.equal(now('oldest_age_seconds'), 10);
  assert.equal(before.value('oncemq_queues'), 2);

  await server.clock.advance(30);
  // The second message is visible again and has reached its receive limit: it is dead-lettered, and the next one comes.
  for (let times = 0; times < 3; times += 1) await receive();
  await server.clock.advance(700);
  await client.purgeQueue({ QueueUrl: deadUrl });

  const after = await page();
  const counted = (name: string, labels = jobs) =>
    after.value(`oncemq_messages_${name}_total`, labels);
  assert.equal(counted('sent'), 4);
  assert.equal(counted('delivered'), 4);
  assert.equal(counted('deleted'), 1);
  assert.equal(counted('dead_lettered'), 1);
  assert.equal(counted('expired'), 2);
  assert.equal(counted('purged', { queue: 'dead.fifo' }), 1);
  assert.equal(counted('moved', { queue: 'dead.fifo' }), 0);
});

test('requests of both services are counted by action and code; unknown actions share one name', async (t) => {
  const { server, client, queue, page } = await open(t);
  const QueueUrl = await queue('jobs');
  await client.sendMessage({ QueueUrl, MessageBody: 'x' });
  await assert.rejects(client.sendMessage({ QueueUrl: `${QueueUrl}-gone`, MessageBody: 'x' }));
  await assert.rejects(client.sendMessage({ QueueUrl, MessageBody: '' }));
  const sns = new SNS(server.clientConfig);
  t.after(() => sns.destroy());
  await sns.createTopic({ Name: 'news' });
  for (const word of ['Invented', 'AlsoInvented']) await fetch(`${server.url}/?Action=${word}`);
  const headers = { 'X-Amz-Target': 'AmazonSQS.SendMessage' };
  await fetch(server.url, { method: 'POST', headers, body: 'no JSON' });

  const found = await page();
  const requests = (action: string, code: string, service = 'sqs') =>
    found.value('oncemq_requests_total', { service, action, code });
  assert.equal(requests('SendMessage', 'OK'), 1);
  assert.equal(requests('SendMessage', 'QueueDoesNotExist'), 1);
  assert.equal(requests('SendMessage', 'MissingParameter'), 1);
  assert.equal(requests('SendMessage', 'Serialization'), 1);
  assert.equal(requests('CreateQueue', 'OK'), 1);
  assert.equal(requests('CreateTopic', 'OK', 'sns'), 1);
  assert.equal(requests('unknown', 'UnknownOperation', 'unknown'), 2);
  assert.doesNotMatch(found.text, /Invented/);
  const took = 'oncemq_request_duration_seconds';
  assert.equal(found.value(`${took}_count`, { service: 'sqs', action: 'SendMessage' }), 4);
  assert.ok((found.value(`${took}_sum`, { service: 'sqs', action: 'SendMessage' }) ?? 0) > 0);
});

test('publications are counted, and their outcome for each subscription', async (t) => {
  const { server, queue, page } = await open(t);
  await queue('all.fifo');
  await queue('some.fifo');
  const sns = new SNS(server.clientConfig);
  t.after(() => sns.destroy());
  const Attributes = { FifoTopic: 'true', ContentBasedDeduplication: 'true' };
  const { TopicArn } = await sns.createTopic({ Name: 'news.fifo', Attributes });
  const endpoint = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;
  await sns.subscribe({ TopicArn, Protocol: 'sqs', Endpoint: endpoint('all.fifo') });
  await sns.subscribe({
    TopicArn,
    Protocol: 'sqs',
    Endpoint: endpoint('some.fifo'),
    Attributes: { FilterPolicy: '{"kind":["loud"]}' },
  });
  for (const Message of ['a', 'a', 'b']) {
    await sns.publish({ TopicArn, Message, MessageGroupId: 'g' });
  }
  const found = await page();
  const of = (metric: string, outcome: string) =>
    found.value(`oncemq_topic_${metric}_total`, { topic: 'news.fifo', outcome });
  assert.deepEqual([of('publications', 'published'), of('publications', 'duplicate')], [2, 1]);
  assert.deepEqual([of('deliveries', 'queued'), of('deliveries', 'filtered')], [2, 2]);
  assert.equal(found.value('oncemq_messages_sent_total', { queue: 'all.fifo' }), 2);
  await sns.publish({ TopicArn, Message: 'b', MessageGroupId: 'h' });
  const suppressed = (metric: string, after: PrometheusPage) =>
    after.value(`sqs_fifo_${metric}_total`, { topic: 'news.fifo', source: 'content' });
  const later = await page();
  assert.equal(suppressed('dedupe_window_hits', later), 2);
  assert.equal(suppressed('dedupe_collisions_detected', later), 1, 'one was of another group');
  await sns.deleteTopic({ TopicArn: TopicArn as string });
  assert.equal((await page()).all('oncemq_topic_publications_total').length, 0);
});

test('a waiting receive is counted while it waits', async (t) => {
  const { client, queue, page } = await open(t);
  const QueueUrl = await queue('jobs');
  const waiting = client.receiveMessage({ QueueUrl, WaitTimeSeconds: 20 });
  // Polls the page until the long poll has reached the server.
  let seen: number | undefined;
  for (let times = 0; times < 1_000 && seen !== 1; times += 1) {
    seen = (await page()).value('oncemq_long_polls');
  }
  assert.equal(seen, 1);
  await client.sendMessage({ QueueUrl, MessageBody: 'x' });
  assert.equal((await waiting).Messages?.length, 1);
  assert.equal((await page()).value('oncemq_long_polls'), 0);
});

test('a store on disk shows its size and its commits, and the page has every metric but those of PostgreSQL', async (t) => {
  const { client, queue, page } = await open(t, { data: folder(t) });
  const QueueUrl = await queue('jobs.fifo');
  await client.sendMessage({ QueueUrl, MessageBody: 'x'.repeat(5_000), MessageGroupId: 'g' });
  const found = await page();
  assert.ok((found.value('oncemq_store_size_bytes') ?? 0) >= 5_000);
  assert.equal(found.value('oncemq_store_available'), 1);
  const commits = found.value('oncemq_commit_duration_seconds_count') ?? 0;
  assert.ok(commits >= 2);
  assert.equal(found.value('oncemq_commit_records_count'), commits);
  assert.ok((found.value('oncemq_commit_size_bytes_sum') ?? 0) >= 5_000);
  const own = Object.values(metricList).filter(({ doc }) => !doc.endsWith('only with PostgreSQL'));
  assert.equal(found.types.size, own.length);
  const inMemory = await (await open(t)).page();
  assert.equal(inMemory.types.has('oncemq_store_size_bytes'), false);
});

test('the page contains no ids of messages, groups or sends', async (t) => {
  const { client, queue, page } = await open(t);
  const QueueUrl = await queue('orders.fifo');
  const MessageGroupId = 'secret-group';
  const MessageDeduplicationId = 'secret-id';
  const message = { QueueUrl, MessageBody: 'secret-body', MessageGroupId, MessageDeduplicationId };
  const { MessageId = '', SequenceNumber = '' } = await client.sendMessage(message);
  await client.sendMessage({ ...message, MessageBody: 'secret-other' });
  const { Messages = [] } = await client.receiveMessage({ QueueUrl });
  const ReceiptHandle = Messages[0]?.ReceiptHandle ?? '';
  await client.deleteMessage({ QueueUrl, ReceiptHandle });
  await client.deleteMessage({ QueueUrl, ReceiptHandle: 'secret-handle' }).catch(() => {});
  const { text } = await page();
  for (const word of ['secret', MessageId, SequenceNumber, ReceiptHandle]) {
    assert.ok(word !== '' && !text.includes(word), word);
  }
});

test('a deleted queue leaves the page, and a new one of the same name starts at 0', async (t) => {
  const { server, client, queue, page } = await open(t, { limits: 'relaxed' });
  const QueueUrl = await queue('jobs');
  await client.sendMessage({ QueueUrl, MessageBody: 'x' });
  await client.deleteQueue({ QueueUrl });
  assert.doesNotMatch((await page()).text, /queue="jobs"/);
  await server.clock.advance(60);
  await queue('jobs');
  assert.equal((await page()).value('oncemq_messages_sent_total', { queue: 'jobs' }), 0);
});

test('a queue loaded from storage has its counters from the start, at 0', async (t) => {
  const data = folder(t);
  const before = await startTestServer({ data });
  const client = new SQS(before.clientConfig);
  await client.createQueue({ QueueName: 'jobs' });
  client.destroy();
  await before.close();
  const { page } = await open(t, { data });
  const found = await page();
  assert.equal(found.value('oncemq_messages_dead_lettered_total', { queue: 'jobs' }), 0);
  assert.equal(found.value('oncemq_queue_visible', { queue: 'jobs' }), 0);
});

test('a topic has its counters at 0 from its creation, and after a start', async (t) => {
  const data = folder(t);
  const before = await open(t, { data });
  const sns = new SNS(before.server.clientConfig);
  await sns.createTopic({ Name: 'news' });
  sns.destroy();
  const published = { topic: 'news', outcome: 'published' };
  assert.equal((await before.page()).value('oncemq_topic_publications_total', published), 0);
  await before.server.close();
  const { page } = await open(t, { data });
  assert.equal((await page()).value('oncemq_topic_publications_total', published), 0);
});

test('a reset empties queues and keeps counters', async (t) => {
  const { server, client, queue, page } = await open(t);
  await client.sendMessage({ QueueUrl: await queue('jobs'), MessageBody: 'x' });
  await server.reset();
  const found = await page();
  assert.equal(found.value('oncemq_queues'), 0);
  assert.equal(found.value('oncemq_messages_sent_total', { queue: 'jobs' }), 1);
  assert.equal(found.value('oncemq_queue_visible', { queue: 'jobs' }), undefined);
});

test('of 1,003 queues a thousand have their own series, and the others are summed up', async (t) => {
  const config = join(folder(t), 'config.json');
  const names = Array.from({ length: 1_003 }, (_, at) => `q${String(at).padStart(4, '0')}`);
  writeFileSync(config, JSON.stringify({ queues: names }));
  const { server, client, page } = await open(t, { config, limits: 'relaxed' });
  const urlOf = (name: string) => `${server.url}/000000000000/${name}`;
  for (const name of ['q0999', 'q1000', 'q1001', 'q1002']) {
    await client.sendMessage({ QueueUrl: urlOf(name), MessageBody: 'x' });
  }
  const first = await page();
  assert.equal(first.value('oncemq_queues'), 1_003);
  assert.equal(first.all('oncemq_queue_visible').length, 1_001);
  assert.equal(first.value('oncemq_queue_visible', { queue: 'q0999' }), 1);
  assert.equal(first.value('oncemq_queue_visible', { queue: 'q1000' }), undefined);
  assert.equal(first.value('oncemq_queue_visible', { queue: '(other)' }), 3);
  assert.equal(first.value('oncemq_messages_sent_total', { queue: '(other)' }), 3);

  await client.deleteQueue({ QueueUrl: urlOf('q0000') });
  await client.sendMessage({ QueueUrl: urlOf('q1001'), MessageBody: 'x' });
  const second = await page();
  assert.equal(second.value('oncemq_messages_sent_total', { queue: 'q1001' }), 1);
  assert.equal(second.value('oncemq_queue_visible', { queue: 'q1001' }), 2);
  assert.equal(second.value('oncemq_queue_visible', { queue: '(other)' }), 2);
});

test('queue names removed by a reset free their series for new queues', async (t) => {
  const config = join(folder(t), 'config.json');
  const queues = Array.from({ length: 1_000 }, (_, at) => `old${at}`);
  writeFileSync(config, JSON.stringify({ queues }));
  const { server, client, queue, page } = await open(t, { config });
  await server.reset();
  const QueueUrl = await queue('new');
  assert.equal((await page()).value('oncemq_queue_visible', { queue: '(other)' }), 0);
  await client.sendMessage({ QueueUrl, MessageBody: 'x' });
  const found = await page();
  assert.equal(found.value('oncemq_messages_sent_total', { queue: 'new' }), 1);
  assert.doesNotMatch(found.text, /queue="old/);
});

test('topic names removed by a reset free their series for new topics', async (t) => {
  const config = join(folder(t), 'config.json');
  const topics = Array.from({ length: 1_000 }, (_, at) => `old${at}`);
  writeFileSync(config, JSON.stringify({ topics }));
  const { server, page } = await open(t, { config });
  const name = 'oncemq_topic_publications_total';
  assert.equal((await page()).all(name).length, 2_000);
  await server.reset();
  await page();
  const sns = new SNS(server.clientConfig);
  t.after(() => sns.destroy());
  const { TopicArn } = await sns.createTopic({ Name: 'new' });
  await sns.publish({ TopicArn, Message: 'x' });
  const found = await page();
  assert.equal(found.value(name, { topic: 'new', outcome: 'published' }), 1);
  assert.equal(found.all(name).length, 2);
});

test('HEAD has no body; other methods are refused with the allowed ones', async (t) => {
  const { server } = await open(t);
  const head = await fetch(`${server.url}/metrics`, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.ok(Number(head.headers.get('content-length')) > 0);
  assert.equal(await head.text(), '');
  const query = await fetch(`${server.url}/metrics?x=1`);
  assert.equal(query.status, 200);
  const body = new URLSearchParams({ Action: 'ListQueues' });
  for (const init of [{ method: 'POST', body }, { method: 'DELETE' }]) {
    const refused = await fetch(`${server.url}/metrics`, init);
    assert.equal(refused.status, 405);
    assert.equal(refused.headers.get('allow'), 'GET, HEAD');
  }
});

test('a queue named metrics keeps its own path', async (t) => {
  const { client, queue, page } = await open(t);
  const QueueUrl = await queue('metrics');
  const sent = await fetch(`${QueueUrl}?Action=SendMessage&MessageBody=x`);
  assert.equal(sent.status, 200);
  assert.equal((await client.receiveMessage({ QueueUrl })).Messages?.length, 1);
  assert.equal((await page()).value('oncemq_messages_sent_total', { queue: 'metrics' }), 1);
});

test('pages requested at the same time are all answered', async (t) => {
  const { server, queue } = await open(t);
  await queue('jobs');
  const pages = await Promise.all(Array.from({ length: 20 }, () => PrometheusPage.of(server)));
  assert.ok(pages.every((page) => page.value('oncemq_queue_visible', { queue: 'jobs' }) === 0));
});
