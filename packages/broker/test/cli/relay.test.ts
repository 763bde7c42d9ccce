/**
 * `oncemq relay` and `oncemq outbox` as processes: what a producer put into its outbox arrives, what the queue refuses is
 * listed with its reason, and is retried or given up.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SNS } from '@aws-sdk/client-sns';
import { SQS } from '@aws-sdk/client-sqs';
import { defineProducer, openFileOutbox } from '@oncemq/toolkit';
import { OtlpCollector } from '../support/otlp-collector.ts';
import { openDaysQueue } from './days-queue.ts';

const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

function start(...args: string[]) {
  return startWith({}, ...args);
}

function startWith(variables: Readonly<Record<string, string>>, ...args: string[]) {
  const { DATABASE_URL: _, ...rest } = process.env;
  const env = {
    ...rest,
    ...variables,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
  const child = spawn(process.execPath, [main, ...args], { env });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += String(chunk);
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number, said }));
  return { child, ended };
}

function oncemq(...args: string[]): Promise<{ code: number; said: string }> {
  return start(...args).ended;
}

/** A queue, and an outbox with a message that the queue refuses before one that it accepts. */
async function setUp(t: TestContext) {
  const { server, queueUrl, folder } = await openDaysQueue(t);
  const producer = defineProducer<{ day: string }>({
    source: 'kfm.calendar.days',
    dedupeKey: ({ day }) => day,
    eventTime: ({ day }) => `${day}T12:00:00Z`,
  });
  const [bad, good] = ['2025-12-01', '2025-12-02'].map((day) => producer.message({ day }));
  const outbox = await openFileOutbox(folder);
  await outbox.append({ ...(bad as typeof good & object), attributes: { region: '\u0001' } });
  await outbox.append(good as typeof good & object);
  await outbox.close();
  const sent = (): number => server.events.filter(({ type }) => type === 'sent').length;
  return { server, folder, queueUrl, sent };
}

test('a relay sends what is there, and sets aside what is refused', async (t) => {
  const { folder, queueUrl, sent } = await setUp(t);
  const { code, said } = await oncemq('relay', '--outbox', folder, '--queue', queueUrl, '--once');
  assert.match(said, /^1 sent, 1 set aside\.\n/);
  assert.match(said, /InvalidParameterValue/);
  assert.equal(code, 1);
  assert.equal(sent(), 1);

  const list = await oncemq('outbox', 'list', '--outbox', folder);
  assert.match(list.said, /^1 {2}\d{4}-.*Z {2}\S+ {2}InvalidParameterValue: /);
  const json = await oncemq('outbox', 'list', '--outbox', folder, '--json');
  const { id, reason, body } = JSON.parse(json.said) as Record<string, string>;
  assert.deepEqual([id, reason?.split(':')[0]], [1, 'InvalidParameterValue']);
  assert.match(body ?? '', /2025-12-01/);

  const wrong = await oncemq('outbox', 'skip', '2', '--outbox', folder);
  assert.deepEqual([wrong.code, wrong.said], [1, 'oncemq: Not set aside: 2.\n']);
  assert.equal((await oncemq('outbox', 'retry', '1', '--outbox', folder)).code, 0);
  await oncemq('relay', '--outbox', folder, '--queue', queueUrl, '--once');
  assert.equal((await oncemq('outbox', 'skip', '1', '--outbox', folder)).code, 0);
  const nothing = await oncemq('outbox', 'list', '--outbox', folder);
  assert.equal(nothing.said, 'No message is set aside.\n');
});

test('a relay runs until it is told to stop, and holds a group if asked to', async (t) => {
  const { folder, queueUrl, sent } = await setUp(t);
  const { child, ended } = start('relay', '--outbox', folder, '--queue', queueUrl, '--hold');
  const line = String((await once(child.stdout, 'data'))[0]);
  assert.match(line, /^0 sent, 1 unsent, the oldest for \d+ s, 1 set aside\n/);
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0);
  assert.equal(sent(), 0);
});

test('a relay and a replay publish to a topic', async (t) => {
  const { server, folder } = await setUp(t);
  const topics = new SNS(server.clientConfig);
  t.after(() => topics.destroy());
  const { TopicArn: topicArn = '' } = await topics.createTopic({
    Name: 'days.fifo',
    Attributes: { FifoTopic: 'true', ContentBasedDeduplication: 'true' },
  });
  const target = ['--outbox', folder, '--topic', topicArn];
  const at = { AWS_ENDPOINT_URL: server.url };
  const relayed = await startWith(at, 'relay', ...target, '--once').ended;
  // SNS has no rule about the characters that the queue refuses.
  assert.match(relayed.said, /^2 sent, 0 set aside\.\n/);
  const range = ['--from', '2025-12-02', '--to', '2025-12-03'];
  const replayed = await startWith(at, 'replay', ...target, ...range).ended;
  assert.match(replayed.said, /^1 message sent, /);
  const types = server.events.map(({ type }) => type).filter((type) => type.includes('publi'));
  assert.deepEqual(types, ['published', 'published', 'duplicate-publication']);
});

test('a relay exports its lag and failures to the collector that the environment names', async (t) => {
  const { folder, queueUrl } = await setUp(t);
  const collector = await OtlpCollector.start();
  t.after(() => collector.close());
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRIC_EXPORT_INTERVAL: '100',
  };
  const target = ['--outbox', folder, '--queue', queueUrl, '--hold'];
  const { child, ended } = startWith(environment, 'relay', ...target);
  t.after(() => child.kill('SIGKILL'));
  let metrics = (await collector.next()).metrics;
  while (!metrics.some(({ name }) => name === 'oncemq.outbox.lag'))
    metrics = (await collector.next()).metrics;
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0);
  const read = (name: string): readonly [kind?: string, value?: number] => {
    const found = metrics.find((metric) => metric.name === name);
    assert.deepEqual(found?.points[0]?.attributes, { queue: 'days.fifo' });
    return [found?.kind, found?.points[0]?.value];
  };
  const [kind, lag = 0] = read('oncemq.outbox.lag');
  assert.equal(kind, 'gauge');
  assert.ok(lag > 0);
  assert.deepEqual(read('oncemq.outbox.unsent'), ['gauge', 1]);
  assert.deepEqual(read('oncemq.outbox.parked'), ['gauge', 1]);
  assert.deepEqual(read('oncemq.relay.sent'), ['counter', 0]);
  assert.deepEqual(read('oncemq.relay.failures'), ['counter', 1]);
});

test('a relay to a queue that hashes no bodies sends an id made of the key', async (t) => {
  const { server, folder } = await setUp(t);
  const client = new SQS(server.clientConfig);
  t.after(() => client.destroy());
  const Attributes = { FifoQueue: 'true' };
  const { QueueUrl = '' } = await client.createQueue({ QueueName: 'plain.fifo', Attributes });
  const target = ['--outbox', folder, '--queue', QueueUrl, '--once'];
  const { said } = await oncemq('relay', ...target, '--deduplicate-by', 'key');
  assert.match(said, /^1 sent, 1 set aside\.\n/);
  const replay = ['replay', ...target.slice(0, 4), '--from', '2025-12-02', '--to', '2025-12-03'];
  assert.equal((await oncemq(...replay, '--deduplicate-by', 'key')).code, 0);
  assert.equal(server.events.filter(({ type }) => type === 'duplicate').length, 1);
  assert.match((await oncemq(...replay)).said, /MessageDeduplicationId/);
});

test('wrong usage is explained', async () => {
  const wrong = [
    [['relay'], /Usage: oncemq relay/],
    [['relay', '--queue', 'http://127.0.0.1/q'], /either --outbox WHERE or --database URL/],
    [['relay', '--queue', 'q', '--outbox', 'x'], /--queue must be the URL of a queue/],
    [['relay', '--topic', 'days.fifo', '--outbox', 'x'], /--topic must be the ARN of a FIFO topic/],
    [['relay', '--topic', 't', '--queue', 'q', '--outbox', 'x'], /Usage: oncemq relay/],
    [
      ['relay', '--queue', 'http://h/q', '--outbox', 'x', '--deduplicate-by', 'body'],
      /--deduplicate-by must be content or key, not body/,
    ],
    [['outbox', 'list', '--outbox', '/no/such'], /There is no outbox in/],
    [['outbox', 'skip'], /Usage: oncemq outbox/],
    [['outbox', 'skip', 'x', '--outbox', 'y'], /x is not the id of a message/],
  ] as const;
  for (const [args, text] of wrong) {
    const { code, said } = await oncemq(...args);
    assert.equal(code, 2, said);
    assert.match(said, text);
  }
});
