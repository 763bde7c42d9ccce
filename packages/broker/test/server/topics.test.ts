/**
 * Topics on a running server: those of the config file, and the inspect endpoints about them. HTTP endpoints are tested in
 * http-deliveries.test.ts.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ConfigError } from '../../src/index.ts';
import { startTestServer, type TestServer } from '../../src/testing.ts';

// biome-ignore lint/suspicious/noExplicitAny: looked into by member names, as a client would.
type Json = any;

const prices = 'arn:aws:sns:us-east-1:000000000000:prices.fifo';

function configFile(content: object): string {
  const path = join(mkdtempSync(join(tmpdir(), 'oncemq-topics-')), 'config.json');
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** A server with the topic `prices.fifo`, to which the queue `jobs.fifo` is subscribed. */
async function open(t: TestContext, attributes: object = {}): Promise<TestServer> {
  const config = configFile({
    queues: ['jobs.fifo'],
    topics: [{ name: 'prices.fifo', attributes, subscriptions: ['jobs.fifo'] }],
  });
  const server = await startTestServer({ clock: 'manual', config });
  t.after(() => server.close());
  return server;
}

async function publish(server: TestServer, parameters: Record<string, string>): Promise<Response> {
  const body = new URLSearchParams({
    Action: 'Publish',
    TopicArn: prices,
    Message: 'x',
    MessageGroupId: 'g',
    ...parameters,
  });
  const response = await fetch(server.url, { method: 'POST', body });
  assert.equal(response.status, 200);
  return response;
}

async function inspect(server: TestServer, path: string, method = 'GET'): Promise<Json> {
  const response = await fetch(`${server.url}/_oncemq/${path}`, { method });
  return { status: response.status, ...((await response.json()) as object) };
}

test('topics and subscriptions of the config file exist at the start, and bare names are queues', async (t) => {
  const server = await open(t);
  await publish(server, { MessageDeduplicationId: 'd' });
  const { subscriptions } = await inspect(server, 'topics/prices.fifo');
  assert.equal(subscriptions[0].endpoint, 'arn:aws:sqs:us-east-1:000000000000:jobs.fifo');
  assert.equal((await inspect(server, 'queues/jobs.fifo')).visible, 1);
});

test('a topic or subscription that cannot be made stops the start with its reason', async () => {
  const start = (topics: unknown[]) =>
    startTestServer({ config: configFile({ queues: ['jobs.fifo'], topics }) });
  const isTold = (text: RegExp) => (error: unknown) =>
    error instanceof ConfigError && text.test(error.message);
  await assert.rejects(start(['no spaces']), isTold(/no spaces.*Topic Name/));
  const wrong = { name: 'events', subscriptions: ['jobs.fifo'] };
  await assert.rejects(start([wrong]), isTold(/jobs\.fifo.*events.*FIFO SQS Queues/));
  const misspelled = { name: 'prices.fifo', subscriptions: ['jbos.fifo'] };
  await assert.rejects(start([misspelled]), isTold(/jbos\.fifo.*prices\.fifo: there is no such/));
});

test('the list of topics has their counts', async (t) => {
  const server = await open(t, { ArchivePolicy: { MessageRetentionPeriod: '1' } });
  await publish(server, { MessageDeduplicationId: 'd' });
  const { topics } = await inspect(server, 'topics');
  assert.deepEqual(topics, [
    {
      name: 'prices.fifo',
      fifo: true,
      subscriptions: 1,
      dedupEntries: 1,
      archived: 1,
      failedDeliveries: 0,
    },
  ]);
});

test('a topic shows the outcome of publications for each subscription', async (t) => {
  const server = await open(t);
  await publish(server, { MessageDeduplicationId: 'd' });
  const { subscriptions } = await inspect(server, 'topics/prices.fifo');
  const [{ delivered, filteredOut, failed }] = subscriptions;
  assert.deepEqual({ delivered, filteredOut, failed }, { delivered: 1, filteredOut: 0, failed: 0 });
});

test('a suppressed publication is explained: by which id, when, and what differed', async (t) => {
  const server = await open(t, { ContentBasedDeduplication: true });
  await publish(server, {});
  await server.clock.advance(12);
  await publish(server, {
    'MessageAttributes.entry.1.Name': 'business',
    'MessageAttributes.entry.1.Value.DataType': 'String',
    'MessageAttributes.entry.1.Value.StringValue': 'retail',
  });
  const { entries } = await inspect(server, 'topics/prices.fifo/dedup');
  assert.equal(entries.length, 1);
  const [{ id, source, ageSeconds, suppressed }] = entries;
  assert.deepEqual([source, ageSeconds, suppressed[0].differed], ['content', 12, ['attributes']]);
  const { entry } = await inspect(server, `topics/prices.fifo/dedup?id=${id}`);
  assert.equal(entry.original.messageId, entries[0].original.messageId);
  assert.equal((await inspect(server, 'topics/prices.fifo/dedup?id=unseen')).status, 404);
});

test('explaining an id with scope MessageGroup requires the group', async (t) => {
  const server = await open(t, { FifoThroughputScope: 'MessageGroup' });
  await publish(server, { MessageDeduplicationId: 'd' });
  assert.equal((await inspect(server, 'topics/prices.fifo/dedup?id=d')).status, 400);
  const { entry } = await inspect(server, 'topics/prices.fifo/dedup?id=d&group=g');
  assert.equal(entry.groupId, 'g');
});

test('clearing the window lets the same publication through again', async (t) => {
  const server = await open(t);
  await publish(server, { MessageDeduplicationId: 'd' });
  assert.equal((await inspect(server, 'topics/prices.fifo/dedup', 'DELETE')).forgotten, 1);
  const again = await publish(server, { MessageDeduplicationId: 'd' });
  assert.equal(again.headers.get('x-oncemq-duplicate-of'), null);
});

test('an unknown topic is not found', async (t) => {
  const server = await open(t);
  for (const path of ['topics/none', 'topics/none/dedup']) {
    assert.equal((await inspect(server, path)).status, 404, path);
  }
});

test('a delivery from a topic wakes a long poll', async (t) => {
  const server = await open(t);
  const arrived = fetch(
    `${server.url}/000000000000/jobs.fifo?Action=ReceiveMessage&WaitTimeSeconds=20`,
  );
  await publish(server, { MessageDeduplicationId: 'd' });
  assert.match(await (await arrived).text(), /<Body>/);
});

test('a reset forgets topics', async (t) => {
  const server = await open(t);
  await server.reset();
  assert.deepEqual((await inspect(server, 'topics')).topics, []);
});
