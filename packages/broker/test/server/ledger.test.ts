/**
 * What the ledger records: the whole life of an event across a topic, its queues, a dead-letter queue and back, on both
 * backends; and that `oncemq trace` finds all of it from any of its ids. Every record is checked against the published
 * schema.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { SNS } from '@aws-sdk/client-sns';
import { SQS } from '@aws-sdk/client-sqs';
import { defineProducer } from '@oncemq/toolkit';
import { storyOf } from '../../src/cli/trace/story.ts';
import { storyMax } from '../../src/cli/trace/telling.ts';
import { type LedgerFields, type LedgerRecord, lineOf } from '../../src/server/ledger/record.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../../src/testing.ts';
import { readLedger, temporaryFolder, trace } from '../support/ledger.ts';

interface Opened {
  readonly server: TestServer;
  readonly sqs: SQS;
  readonly sns: SNS;
  readonly ledger: string;
  queue(name: string, attributes?: Record<string, string>): Promise<string>;
}

async function open(t: TestContext, options: TestServerOptions = {}): Promise<Opened> {
  const ledger = join(temporaryFolder(t), 'ledger');
  const server = await startTestServer({ clock: 'manual', ledger, ...options });
  const sqs = new SQS({ ...server.clientConfig, maxAttempts: 1 });
  const sns = new SNS({ ...server.clientConfig, maxAttempts: 1 });
  t.after(async () => {
    sqs.destroy();
    sns.destroy();
    await server.close();
  });
  const queue = async (QueueName: string, attributes = {}): Promise<string> => {
    const isFifo = QueueName.endsWith('.fifo');
    const fifo = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
    const Attributes = { ...(isFifo && fifo), ...attributes };
    return (await sqs.createQueue({ QueueName, Attributes })).QueueUrl as string;
  };
  return { server, sqs, sns, ledger, queue };
}

const arn = (name: string): string => `arn:aws:sqs:us-east-1:000000000000:${name}`;

const producer = defineProducer<{ order: number }>({
  source: 'kfm.parts.orders',
  dedupeKey: ({ order }) => `order/"${order}"`,
  eventTime: () => '2025-12-04T00:00:00Z',
});

/** Publishes an event and its replay, lets it die in one of two queues, brings it back and deletes it there. */
async function livesThrough({ server, sqs, sns, queue }: Opened): Promise<{
  readonly eventId: string;
  readonly publicationId: string;
  readonly copies: string[];
}> {
  const dead = await queue('dead.fifo');
  const RedrivePolicy = JSON.stringify({
    deadLetterTargetArn: arn('dead.fifo'),
    maxReceiveCount: 2,
  });
  const orders = await queue('orders.fifo', { RedrivePolicy, VisibilityTimeout: '30' });
  await queue('audit.fifo');
  const Attributes = { FifoTopic: 'true', ContentBasedDeduplication: 'true' };
  const { TopicArn } = await sns.createTopic({ Name: 'events.fifo', Attributes });
  for (const name of ['orders.fifo', 'audit.fifo']) {
    const raw = { RawMessageDelivery: 'true' };
    const Subscription = { TopicArn, Protocol: 'sqs', Endpoint: arn(name) };
    await sns.subscribe({ ...Subscription, ...(name === 'orders.fifo' && { Attributes: raw }) });
  }
  const { body: Message } = producer.message({ order: 7 });
  const publication = { TopicArn, Message, MessageGroupId: 'customer-1' };
  const { MessageId } = await sns.publish(publication);
  await server.clock.advance(42);
  await sns.publish(publication);
  for (let receive = 1; receive <= 3; receive += 1) {
    await sqs.receiveMessage({ QueueUrl: orders });
    await server.clock.advance(31);
  }
  await sqs.startMessageMoveTask({ SourceArn: arn('dead.fifo') });
  await server.clock.advance(10);
  const { Messages: [back] = [] } = await sqs.receiveMessage({ QueueUrl: orders });
  await sqs.deleteMessage({ QueueUrl: orders, ReceiptHandle: back?.ReceiptHandle });
  await sqs.receiveMessage({ QueueUrl: dead });
  const sent = server.events.filter((event) => event.type === 'sent');
  const copies = sent.filter((event) => event.queue !== 'others.fifo');
  return {
    eventId: JSON.parse(Message).event_id,
    publicationId: MessageId as string,
    copies: [...copies.map(({ messageId }) => messageId), back?.MessageId as string],
  };
}

const wholeStory = [
  ['published', 'events.fifo', undefined],
  ['accepted', undefined, 'orders.fifo'],
  ['fanned-out', 'events.fifo', 'orders.fifo'],
  ['accepted', undefined, 'audit.fifo'],
  ['fanned-out', 'events.fifo', 'audit.fifo'],
  ['suppressed', 'events.fifo', undefined],
  ['delivered', undefined, 'orders.fifo'],
  ['delivered', undefined, 'orders.fifo'],
  ['dead-lettered', undefined, 'orders.fifo'],
  ['moved', undefined, 'dead.fifo'],
  ['delivered', undefined, 'orders.fifo'],
  ['deleted', undefined, 'orders.fifo'],
];

for (const kind of ['memory', 'lmdb']) {
  test(`the whole story of an event is found from each of its ids (${kind})`, async (t) => {
    const data = temporaryFolder(t);
    const opened = await open(t, kind === 'lmdb' ? { data } : {});
    const others = await opened.queue('others.fifo');
    const other = { QueueUrl: others, MessageGroupId: 'customer-1' };
    await opened.sqs.sendMessage({ ...other, MessageBody: producer.message({ order: 8 }).body });
    const { eventId, publicationId, copies } = await livesThrough(opened);
    await opened.sqs.sendMessage({ ...other, MessageBody: 'no envelope' });
    await opened.server.close();

    const records = readLedger(opened.ledger);
    const asRows = (told: readonly LedgerRecord[]): unknown[] =>
      told.map(({ event, topic, queue }) => [event, topic, queue]);
    assert.deepEqual(asRows(records), [
      ['opened', undefined, undefined],
      ['accepted', undefined, 'others.fifo'],
      ...wholeStory,
      ['accepted', undefined, 'others.fifo'],
      ['closed', undefined, undefined],
    ]);
    assert.equal(copies.length, 3);
    for (const id of [eventId, 'order/"7"', publicationId, ...copies]) {
      const { out, code } = await trace(id, '--ledger', opened.ledger, '--json');
      assert.equal(code, 0);
      assert.deepEqual(asRows(JSON.parse(out).records), wholeStory, id);
    }
  });
}

test("times are those of the server's clock, with the gaps between them", async (t) => {
  const opened = await open(t);
  const start = opened.server.clock.now();
  const { eventId } = await livesThrough(opened);
  await opened.server.close();
  const { out } = await trace(eventId, '--ledger', opened.ledger);
  const [head, key, , , ...lines] = out.split('\n');
  assert.equal(head, `event ${eventId} of kfm.parts.orders`);
  assert.equal(key, 'key   order/"7"');
  const iso = (ms: number): string => new Date(start + ms).toISOString();
  const expected: readonly (readonly [number, string, RegExp])[] = [
    [0, '', /published +events\.fifo +publication \S{36}, group customer-1$/],
    [0, '+0.0 s', /accepted +orders\.fifo +message \S{36}, group customer-1$/],
    [0, '+0.0 s', /fanned-out +events\.fifo → orders\.fifo +as message \S{36}$/],
    [0, '+0.0 s', /accepted +audit\.fifo +message \S{36}, group customer-1$/],
    [0, '+0.0 s', /fanned-out +events\.fifo → audit\.fifo +as message \S{36}$/],
    [
      42_000,
      '+42.0 s',
      /suppressed +events\.fifo +same body \(content hash\); original \S{36}, 42 s/,
    ],
    [42_000, '+0.0 s', /delivered +orders\.fifo +message \S{36}, receive 1$/],
    [73_000, '+31.0 s', /delivered +orders\.fifo +message \S{36}, receive 2$/],
    [
      104_000,
      '+31.0 s',
      /dead-lettered +orders\.fifo → dead\.fifo +message \S{36}, after 2 receives$/,
    ],
  ];
  for (const [at, [ms, after, text]] of expected.entries()) {
    const line = lines[at] as string;
    assert.ok(line.startsWith(`${iso(ms)}  ${after.padEnd(7)}  `), line);
    assert.match(line, text);
  }
});

test('records are joined by the ids of their envelope, and carry the hash of the body and no body', async (t) => {
  const opened = await open(t);
  const { eventId } = await livesThrough(opened);
  await opened.server.close();
  const records = readLedger(opened.ledger);
  const { body } = producer.message({ order: 7 });
  const hash = createHash('sha256').update(body).digest('hex');
  const accepted = records.find(({ event }) => event === 'accepted');
  assert.equal(accepted?.body_sha256, hash);
  for (const event of ['published', 'accepted', 'suppressed', 'delivered', 'deleted', 'moved']) {
    const record = records.find((each) => each.event === event);
    assert.deepEqual(
      [record?.event_id, record?.dedupe_key, record?.event_source],
      [eventId, 'order/"7"', 'kfm.parts.orders'],
      event,
    );
  }
  assert.ok(!JSON.stringify(records).includes('event_time'), 'a part of the body alone');
});

test('PROV-O relations are consistent: generated before used, used before invalidated', async (t) => {
  const opened = await open(t);
  await livesThrough(opened);
  await opened.server.close();
  const generated = new Set<string>();
  const invalidated = new Set<string>();
  for (const record of readLedger(opened.ledger) as unknown as Record<string, unknown>[]) {
    const { 'prov:used': used, 'prov:invalidated': ended, 'prov:generated': made } = record;
    // Only messages are generated here; an event that is used is an object.
    for (const id of [used, ended].flat()) {
      if (typeof id !== 'string') continue;
      assert.ok(generated.has(id) && !invalidated.has(id), JSON.stringify(record));
    }
    if (typeof ended === 'string') invalidated.add(ended);
    if (typeof made === 'string') generated.add(made);
    else if (made !== undefined) {
      const { '@id': id, 'prov:wasDerivedFrom': from } = made as Record<string, string>;
      if (from !== undefined) assert.ok(generated.has(from));
      generated.add(id as string);
    }
  }
  assert.equal(invalidated.size, 2);
});

test('the published context has a form for each relation of the schema', () => {
  const text = readFileSync('packages/broker/schemas/ledger.context.jsonld', 'utf8');
  const context = JSON.parse(text)['@context'];
  const schema = JSON.parse(readFileSync('packages/broker/schemas/ledger.schema.json', 'utf8'));
  const names = Object.keys(schema.properties).filter((name) => name.startsWith('prov:'));
  for (const name of names) assert.ok(name in context, name);
});

test('a suppressed send names its original, its age and what differed', async (t) => {
  const { server, sqs, ledger, queue } = await open(t);
  const QueueUrl = await queue('jobs.fifo');
  const { MessageId } = await sqs.sendMessage({ QueueUrl, MessageBody: 'x', MessageGroupId: 'a' });
  await server.clock.advance(1.5);
  await sqs.sendMessage({ QueueUrl, MessageBody: 'x', MessageGroupId: 'b' });
  await server.close();
  const record = readLedger(ledger).find(({ event }) => event === 'suppressed');
  assert.equal(record?.original_message_id, MessageId);
  assert.equal(record?.age_seconds, 1.5);
  assert.deepEqual(record?.differed, ['group']);
  assert.equal(record?.collision, true);
  const { out } = await trace(MessageId as string, '--ledger', ledger);
  assert.match(out, /\+1\.5 s +suppressed +jobs\.fifo +same body .*group differed: a collision/);
});

test('violations are recorded in both modes, and appear in the story of a message sent anyway', async (t) => {
  const contract = join(temporaryFolder(t), 'contract.json');
  const queues = [
    { queue: 'strict', contract: 'envelope', mode: 'reject' },
    { queue: 'loose', contract: 'envelope', mode: 'observe' },
  ];
  writeFileSync(contract, JSON.stringify({ queues }));
  const { server, sqs, ledger, queue } = await open(t, { contract });
  const strict = await queue('strict');
  const loose = await queue('loose');
  await assert.rejects(sqs.sendMessage({ QueueUrl: strict, MessageBody: '{}' }));
  const { MessageId } = await sqs.sendMessage({ QueueUrl: loose, MessageBody: '{}' });
  await server.close();
  const told = readLedger(ledger).filter(({ event }) => event === 'violation');
  assert.deepEqual(
    told.map(({ queue, mode, rule }) => [queue, mode, rule]),
    [
      ['strict', 'reject', 'body-not-envelope'],
      ['loose', 'observe', 'body-not-envelope'],
    ],
  );
  const { out } = await trace(MessageId as string, '--ledger', ledger);
  assert.match(out, /violation +loose +body-not-envelope, sent anyway: /);
  assert.match(out, /accepted +loose/);
  assert.ok(!out.includes('strict'));
});

test('expired messages, filtered publications, purges and deleted queues are recorded', async (t) => {
  const { server, sqs, sns, ledger, queue } = await open(t);
  const short = await queue('short', { MessageRetentionPeriod: '60' });
  const purged = await queue('purged');
  const gone = await queue('gone');
  const { TopicArn } = await sns.createTopic({ Name: 'news' });
  const Attributes = { FilterPolicy: '{"kind":["none"]}' };
  await sns.subscribe({ TopicArn, Protocol: 'sqs', Endpoint: arn('short'), Attributes });
  await sns.publish({ TopicArn, Message: 'unheard' });
  const ids: string[] = [];
  for (const QueueUrl of [short, purged, gone]) {
    ids.push((await sqs.sendMessage({ QueueUrl, MessageBody: 'x' })).MessageId as string);
  }
  await server.clock.advance(61);
  await sqs.purgeQueue({ QueueUrl: purged });
  await sqs.deleteQueue({ QueueUrl: gone });
  await server.close();
  assert.ok(readLedger(ledger).some(({ event }) => event === 'filtered-out'));
  const ends = ['expired', 'purged', 'queue-deleted'];
  for (const [at, id] of ids.entries()) {
    const { out } = await trace(id, '--ledger', ledger, '--json');
    const events = JSON.parse(out).records.map(({ event }: LedgerRecord) => event);
    assert.deepEqual(events, ['accepted', ends[at]]);
  }
});

test('the story of a resend shows that the window was emptied in between', async (t) => {
  const { server, sqs, sns, ledger, queue } = await open(t);
  const QueueUrl = await queue('jobs.fifo');
  await queue('others.fifo');
  const Attributes = { FifoTopic: 'true', ContentBasedDeduplication: 'true' };
  const { TopicArn } = await sns.createTopic({ Name: 'news.fifo', Attributes });
  const { body } = producer.message({ order: 7 });
  const forget = (path: string): Promise<Response> =>
    fetch(`${server.url}/_oncemq/${path}/dedup`, { method: 'DELETE' });
  const send = async (): Promise<void> => {
    await sqs.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId: 'g' });
    const { Messages: [got] = [] } = await sqs.receiveMessage({ QueueUrl });
    await sqs.deleteMessage({ QueueUrl, ReceiptHandle: got?.ReceiptHandle });
  };
  const publish = (): Promise<unknown> =>
    sns.publish({ TopicArn, Message: body, MessageGroupId: 'g' });
  await send();
  await forget('queues/others.fifo');
  await forget('queues/jobs.fifo');
  await send();
  await sqs.purgeQueue({ QueueUrl });
  await send();
  await publish();
  await forget('topics/news.fifo');
  await publish();
  await forget('queues/jobs.fifo');
  await server.close();
  const { out } = await trace('order/"7"', '--ledger', ledger, '--json');
  const life = ['accepted', 'delivered', 'deleted'];
  assert.deepEqual(
    JSON.parse(out).records.map(({ event }: LedgerRecord) => event),
    [
      ...[...life, 'window-forgotten', ...life, 'purged', ...life],
      ...['published', 'window-forgotten', 'published'],
    ],
  );
  const { out: text } = await trace('order/"7"', '--ledger', ledger);
  assert.match(
    text,
    /window-forgotten +jobs\.fifo +deduplication window emptied; ids removed: 1$/m,
  );
  assert.ok(readLedger(ledger).some(({ queue }) => queue === 'others.fifo'));
});

test('purges of other queues take no space in a story', async (t) => {
  const ledger = temporaryFolder(t);
  const id = '00000000-0000-4000-8000-000000000001';
  const line = (fields: LedgerFields): string => lineOf('r-1', '2025-12-04T00:00:00.000Z', fields);
  const lines = [
    line({ event: 'accepted', queue: 'jobs', message_id: id }),
    line({ event: 'purged', queue: 'others', messages: 0 }).repeat(storyMax),
    line({ event: 'deleted', queue: 'jobs', message_id: id }),
  ];
  writeFileSync(join(ledger, 'ledger-r-1.jsonl'), lines.join(''));
  const { records, isCut } = await storyOf(ledger, id);
  assert.deepEqual([records.map(({ event }) => event), isCut], [['accepted', 'deleted'], false]);
});

test('deliveries to endpoints are recorded, and failures with their reason', async (t) => {
  const { server, sqs, sns, ledger, queue } = await open(t);
  const { TopicArn } = await sns.createTopic({ Name: 'news' });
  let status = 503;
  const endpoint = createServer(async (request, response) => {
    const { Type, SubscribeURL } = JSON.parse(await text(request));
    if (Type === 'SubscriptionConfirmation') await fetch(SubscribeURL);
    response.writeHead(Type === 'Notification' ? status : 200).end();
  });
  endpoint.listen(0, '127.0.0.1');
  await once(endpoint, 'listening');
  t.after(() => endpoint.close());
  const Endpoint = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
  await sns.subscribe({ TopicArn, Protocol: 'http', Endpoint });
  // Advancing the clock waits for the call that confirms the subscription.
  await server.clock.advance(0);
  await queue('dead');
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn('dead') });
  for (const [name, Attributes] of [
    ['gone', {}],
    ['gone-too', { RedrivePolicy }],
  ] as const) {
    const QueueUrl = await queue(name);
    await sns.subscribe({ TopicArn, Protocol: 'sqs', Endpoint: arn(name), Attributes });
    await sqs.deleteQueue({ QueueUrl });
  }
  const { MessageId } = await sns.publish({ TopicArn, Message: 'x' });
  await server.clock.advance(0);
  status = 200;
  await server.clock.advance(60);
  await server.close();
  readLedger(ledger);
  const { out } = await trace(MessageId as string, '--ledger', ledger);
  assert.match(out, /published +news +publication/);
  assert.match(out, /delivery-failed +news +subscription \S+: there is no queue \S+gone; lost/);
  assert.match(
    out,
    /delivery-failed +news → dead +subscription \S+: .*gone-too; dead-lettered as message \S{36}/,
  );
  assert.match(out, /accepted +dead +message/);
  assert.match(out, /post-failed +news +subscription \S+: .*503/);
  assert.match(out, /posted +news +to the endpoint of subscription/);
});

test('the password in the URL of an endpoint is in no record and no event', async (t) => {
  const { server, sns, ledger } = await open(t);
  const { TopicArn } = await sns.createTopic({ Name: 'news' });
  const calls: (string | undefined)[] = [];
  const endpoint = createServer(async (request, response) => {
    calls.push(request.headers.authorization);
    const { Type, SubscribeURL } = JSON.parse(await text(request));
    if (Type === 'SubscriptionConfirmation') await fetch(SubscribeURL);
    response.writeHead(Type === 'Notification' ? 400 : 200).end();
  });
  endpoint.listen(0, '127.0.0.1');
  await once(endpoint, 'listening');
  t.after(() => endpoint.close());
  const place = `127.0.0.1:${(endpoint.address() as AddressInfo).port}/a@b`;
  const Endpoint = `http://user:s3cr@t@${place}`;
  await sns.subscribe({ TopicArn, Protocol: 'http', Endpoint });
  await server.clock.advance(0);
  await sns.publish({ TopicArn, Message: 'x' });
  await server.clock.advance(0);
  const told = JSON.stringify(server.events);
  await server.close();
  const failed = readLedger(ledger).find(({ event }) => event === 'delivery-failed');
  assert.equal(failed?.endpoint, `http://****@${place}`);
  assert.match(`${failed?.reason}`, /^http:\/\/\*{4}@\S+ answered 400/);
  assert.ok(told.includes('subscription-confirmed') && !told.includes('s3cr'));
  const given = `Basic ${Buffer.from('user:s3cr@t').toString('base64')}`;
  assert.deepEqual(calls, [given, given], 'the endpoint itself gets it');
});

test('trace can be limited to one queue, and says when there is nothing', async (t) => {
  const opened = await open(t);
  const { eventId } = await livesThrough(opened);
  await opened.server.close();
  const { ledger } = opened;
  const audit = await trace(eventId, '--ledger', ledger, '--queue', 'audit.fifo', '--json');
  const events = JSON.parse(audit.out).records.map(({ event }: LedgerRecord) => event);
  assert.deepEqual(events, ['accepted', 'fanned-out']);
  const dead = await trace(eventId, '--ledger', ledger, '--queue', 'dead.fifo');
  assert.match(dead.out, /dead-lettered.*\n.*moved/);
  assert.ok(!dead.out.includes('earlier events of this story'));
  const nothing = await trace('nobody', '--ledger', ledger);
  assert.deepEqual([nothing.code, nothing.out], [1, '']);
  assert.match(nothing.error, /Nothing was found for nobody in the ledger \S+\.\n$/);
  const nowhere = await trace(eventId, '--ledger', `${ledger}-2`);
  assert.equal(nowhere.code, 1);
  assert.match(
    nowhere.error,
    /There is no ledger in \S+\. A server writes one .* oncemq serve --ledger/,
  );
  const unnamed = await trace(eventId);
  assert.equal(unnamed.code, 2);
  assert.match(unnamed.error, /No ledger is given/);
});
