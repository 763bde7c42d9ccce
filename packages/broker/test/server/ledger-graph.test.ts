/**
 * The ledger as linked data: its records, and the envelopes of messages, become triples by the published contexts, conform
 * to the published SHACL shapes and join in one PROV-O graph. Records and envelopes with something missing or ill-formed
 * do not conform, so the shapes see something.
 *
 * The contexts come from the files; nothing is fetched.
 */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SNS } from '@aws-sdk/client-sns';
import { SQS } from '@aws-sdk/client-sqs';
import { defineProducer, type Envelope } from '@oncemq/toolkit';
import jsonld from 'jsonld';
import { Parser, Store } from 'n3';
import ShaclValidator from 'rdf-validate-shacl';
import { contextId, type LedgerFields, lineOf } from '../../src/server/ledger/record.ts';
import { startTestServer } from '../../src/testing.ts';
import { readLedger, temporaryFolder } from '../support/ledger.ts';

type Json = Record<string, unknown>;

const schemas = {
  ledger: new URL('../../../schemas/', import.meta.url),
  envelope: new URL('../../../../toolkit/schemas/', import.meta.url),
};
const published = (kind: keyof typeof schemas, suffix: string): string =>
  readFileSync(new URL(`${kind}.${suffix}`, schemas[kind]), 'utf8');

const contexts = {
  ledger: JSON.parse(published('ledger', 'context.jsonld')) as Json,
  envelope: JSON.parse(published('envelope', 'context.jsonld')) as Json,
};
const validators = {
  ledger: new ShaclValidator(new Store(new Parser().parse(published('ledger', 'shapes.ttl')))),
  envelope: new ShaclValidator(new Store(new Parser().parse(published('envelope', 'shapes.ttl')))),
};

const prov = (name: string): string => `http://www.w3.org/ns/prov#${name}`;
const ledgerName = (name: string): string => `urn:oncemq:ledger:${name}`;

/** The triples of records, each of which names the ledger's context. */
function recordTriples(records: readonly object[]): Promise<Store> {
  return triplesOf(records, {
    documentLoader: async (url: string) => {
      assert.equal(url, contextId, 'nothing else is asked for');
      return { documentUrl: url, document: contexts.ledger };
    },
  });
}

/** The triples of envelopes, which name no context: theirs is given. */
function envelopeTriples(envelopes: readonly object[]): Promise<Store> {
  return triplesOf(envelopes, { expandContext: contexts.envelope });
}

async function triplesOf(documents: readonly object[], options: object): Promise<Store> {
  // `safe` (which the types do not know): what gives no triple is an error instead of being left out.
  const settings: object = { format: 'application/n-quads', safe: true, ...options };
  const text = await jsonld.toRDF(documents as unknown as jsonld.JsonLdDocument, settings);
  return new Store(new Parser({ format: 'N-Quads' }).parse(text as unknown as string));
}

/** What does not conform: node and path, or node and constraint. */
async function complaints(kind: keyof typeof validators, triples: Store): Promise<string[]> {
  const report = await validators[kind].validate(triples);
  assert.equal(report.conforms, report.results.length === 0);
  return report.results.map(({ focusNode, path, sourceConstraintComponent }) => {
    const about = path ?? sourceConstraintComponent;
    return `${focusNode?.value} ${about?.value}`;
  });
}

const producer = defineProducer<{ order: number }>({
  source: 'kfm.parts.orders',
  dedupeKey: ({ order }) => `order/${order}`,
  eventTime: () => '2025-12-04T00:00:00Z',
});
const arn = (name: string): string => `arn:aws:sqs:us-east-1:000000000000:${name}`;

/** A real ledger: an event published twice, filtered out, received until it is dead, moved back, deleted; a violation; text. */
async function lived(t: TestContext): Promise<Json[]> {
  const folder = temporaryFolder(t);
  const contract = join(folder, 'contract.json');
  const bound = { contract: 'envelope', mode: 'reject' };
  const bindings = [{ queue: 'strict.fifo', ...bound }];
  writeFileSync(
    contract,
    JSON.stringify({ queues: bindings, topics: [{ topic: 'strict', ...bound }] }),
  );
  const ledger = join(folder, 'ledger');
  const server = await startTestServer({ clock: 'manual', ledger, contract });
  const sqs = new SQS({ ...server.clientConfig, maxAttempts: 1 });
  const sns = new SNS({ ...server.clientConfig, maxAttempts: 1 });
  try {
    const fifo = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
    const queue = async (QueueName: string, attributes = {}): Promise<string> => {
      const Attributes = { ...fifo, ...attributes };
      return (await sqs.createQueue({ QueueName, Attributes })).QueueUrl as string;
    };
    await queue('dead.fifo');
    const redrive = { deadLetterTargetArn: arn('dead.fifo'), maxReceiveCount: 1 };
    const orders = await queue('orders.fifo', { RedrivePolicy: JSON.stringify(redrive) });
    await queue('audit.fifo');
    const { TopicArn } = await sns.createTopic({
      Name: 'events.fifo',
      Attributes: { FifoTopic: 'true', ContentBasedDeduplication: 'true' },
    });
    for (const [name, attributes] of Object.entries({
      orders: { RawMessageDelivery: 'true' },
      audit: { FilterPolicy: '{"kind":["none"]}' },
    })) {
      const Endpoint = arn(`${name}.fifo`);
      await sns.subscribe({ TopicArn, Protocol: 'sqs', Endpoint, Attributes: attributes });
    }
    const { body } = producer.message({ order: 7 });
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await sns.publish({ TopicArn, Message: body, MessageGroupId: 'a' });
    }
    for (let receive = 1; receive <= 2; receive += 1) {
      await sqs.receiveMessage({ QueueUrl: orders });
      await server.clock.advance(31);
    }
    await sqs.startMessageMoveTask({ SourceArn: arn('dead.fifo') });
    await server.clock.advance(10);
    const { Messages: [back] = [] } = await sqs.receiveMessage({ QueueUrl: orders });
    await sqs.deleteMessage({ QueueUrl: orders, ReceiptHandle: back?.ReceiptHandle });
    const strict = await queue('strict.fifo');
    const { payload: _, ...incomplete } = JSON.parse(body) as Envelope;
    const refused = { MessageBody: JSON.stringify(incomplete), MessageGroupId: 'a' };
    await assert.rejects(sqs.sendMessage({ QueueUrl: strict, ...refused }));
    const topic = await sns.createTopic({ Name: 'strict' });
    await assert.rejects(sns.publish({ TopicArn: topic.TopicArn, Message: 'no envelope' }));
    const odd = { ...incomplete, event_id: 'a b', event_source: '<x>' };
    await sqs.sendMessage({
      QueueUrl: orders,
      MessageBody: JSON.stringify(odd),
      MessageGroupId: 'a',
    });
    await sqs.sendMessage({ QueueUrl: orders, MessageBody: 'text', MessageGroupId: 'a' });
    await sqs.sendMessage({ QueueUrl: orders, MessageBody: 'text', MessageGroupId: 'a' });
    await sqs.purgeQueue({ QueueUrl: orders });
    await sqs.deleteQueue({ QueueUrl: orders });
  } finally {
    sqs.destroy();
    sns.destroy();
    await server.close();
  }
  return readLedger(ledger) as unknown as Json[];
}

test('the records of a server conform, and an envelope joins them in one graph of PROV-O', async (t) => {
  const records = await lived(t);
  const kinds = new Set(records.map(({ event }) => event));
  for (const kind of [
    ...['opened', 'published', 'accepted', 'fanned-out', 'filtered-out', 'suppressed', 'delivered'],
    ...['dead-lettered', 'moved', 'deleted', 'violation', 'purged', 'queue-deleted', 'closed'],
  ]) {
    assert.ok(kinds.has(kind), kind);
  }
  const envelope = producer.envelope({ order: 7 });
  const graph = await recordTriples(records);
  for (const triple of await envelopeTriples([envelope])) graph.addQuad(triple);
  assert.deepEqual(await complaints('ledger', graph), []);
  assert.deepEqual(await complaints('envelope', graph), []);

  const objects = (subject: string, name: string): string[] =>
    graph.getObjects(subject, name, null).map(({ value }) => value);
  const [deleted = ''] = graph
    .getSubjects(ledgerName('event'), '"deleted"', null)
    .map(({ value }) => value);
  const chain = [deleted];
  // From the deleted message to the one it was moved from, to the publication, to the event, to its source.
  for (const name of [
    ...['invalidated', 'wasDerivedFrom', 'wasDerivedFrom'],
    ...['specializationOf', 'wasAttributedTo'],
  ]) {
    chain.push(objects(chain.at(-1) as string, prov(name))[0] ?? `no ${name}`);
  }
  const [event, source] = chain.slice(-2);
  assert.equal(event, `urn:uuid:${envelope.event_id}`);
  assert.equal(source, 'urn:oncemq:source:kfm.parts.orders');
  const reports = graph.getSubjects(prov('specializationOf'), event as string, null);
  assert.equal(
    reports.filter(({ termType }) => termType === 'BlankNode').length,
    1,
    'the envelope',
  );
  const using = graph.getSubjects(prov('used'), event as string, null);
  const usedBy = using.flatMap(({ value }) => objects(value, ledgerName('event'))).sort();
  assert.deepEqual(usedBy, ['suppressed', 'violation'], 'sends of the event that made no message');
});

const messageId = 'c0148741-d27b-4546-b696-085abdcd8d21';
const anotherId = '1c20e3d6-0000-4546-b696-085abdcd8d21';
const about = {
  event_id: '019ae6a8-9800-7d5c-b86d-ab6d8b449884',
  event_source: 'kfm.parts.orders',
  dedupe_key: 'order/7',
};
const body_sha256 = 'c8'.repeat(32);

function record(fields: LedgerFields): Json {
  return JSON.parse(lineOf('2025-12-04T000000.000Z-01a6-3', '2025-12-04T00:00:42.000Z', fields));
}

const topic = 'events';
const publication = { topic, subscription: messageId, message_id: messageId };
const accepted: LedgerFields = {
  event: 'accepted',
  queue: 'orders.fifo',
  message_id: messageId,
  ...about,
  body_sha256,
};
const suppressed: LedgerFields = {
  event: 'suppressed',
  queue: 'orders.fifo',
  original_message_id: messageId,
  deduplication_id: 'x',
  ...about,
  body_sha256,
};

test('records of the rarer kinds conform', async () => {
  for (const fields of [
    accepted,
    suppressed,
    { event: 'posted', ...publication, attempts: 1 },
    { event: 'post-failed', ...publication, attempts: 4, reason: 'refused' },
    { event: 'delivery-failed', ...publication, endpoint: arn('gone'), reason: 'gone' },
    { event: 'expired', queue: 'orders.fifo', message_id: messageId },
    { event: 'window-forgotten', topic, entries: 3 },
    { event: 'gap', lost: 12 },
  ] satisfies LedgerFields[]) {
    const found = await complaints('ledger', await recordTriples([record(fields)]));
    assert.deepEqual(found, [], fields.event);
  }
});

const good = record(accepted);
const generated = good['prov:generated'] as Json;
const event = generated['prov:specializationOf'] as Json;
const withEvent = (changes: Json): Json => ({
  ...good,
  'prov:generated': { ...generated, 'prov:specializationOf': { ...event, ...changes } },
});
const without = (from: Json, ...names: string[]): Json =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));
const agent = event['prov:wasAttributedTo'] as Json;

const badRecords: Readonly<Record<string, Json>> = {
  'no activity': { ...good, '@type': 'prov:Entity' },
  'an id of another form': { ...good, '@id': 'urn:oncemq:record:one' },
  'no event': without(good, 'event'),
  'an unknown event': { ...good, event: 'lost' },
  'no time': without(good, 'prov:startedAtTime'),
  'a time that is none': { ...good, 'prov:startedAtTime': 'yesterday' },
  'two times': { ...good, 'prov:startedAtTime': ['2025-12-04T00:00:42Z', '2025-12-04T00:00:43Z'] },
  'no location': without(good, 'prov:atLocation'),
  'a location that is no queue': { ...good, 'prov:atLocation': 'urn:oncemq:place:orders' },
  'an accepted message that is not generated': without(good, 'prov:generated'),
  'a message of another form': { ...good, 'prov:generated': 'urn:oncemq:message:7' },
  'a hash that is none': { ...good, body_sha256: 'c8' },
  'an event that is no entity': withEvent({ '@type': 'prov:Activity' }),
  'an event without a UUID': withEvent({ '@id': 'urn:uuid:7' }),
  'an event of nobody': withEvent({ 'prov:wasAttributedTo': [] }),
  'a source that is no agent': withEvent({ 'prov:wasAttributedTo': without(agent, '@type') }),
  'a source of another form': withEvent({
    'prov:wasAttributedTo': { ...agent, '@id': 'urn:oncemq:source:orders' },
  }),
  'a duplicate without its original': without(record(suppressed), 'prov:used'),
  'a duplicate of an event alone': { ...record(suppressed), 'prov:used': event },
  'a delivery of nothing': without(
    record({ event: 'delivered', queue: 'orders', message_id: messageId, receive_count: 1 }),
    'prov:used',
  ),
  'a delete of nothing': without(
    record({ event: 'deleted', queue: 'orders', message_id: messageId }),
    'prov:invalidated',
  ),
  'a move to a message that is not derived': {
    ...record({
      event: 'moved',
      queue: 'orders',
      message_id: messageId,
      target: 'other',
      new_message_id: anotherId,
    }),
    'prov:generated': `urn:oncemq:message:${anotherId}`,
  },
};

for (const [title, bad] of Object.entries(badRecords)) {
  test(`a record does not conform: ${title}`, async () => {
    assert.notDeepEqual(await complaints('ledger', await recordTriples([bad])), []);
  });
}

const envelope = { ...producer.envelope({ order: 7 }) } as Json;
const badEnvelopes: Readonly<Record<string, Json>> = {
  ...Object.fromEntries(
    Object.keys(envelope).map((name) => [`no ${name}`, without(envelope, name)]),
  ),
  'an event_id that is no UUID': { ...envelope, event_id: '7' },
  'a source of one part': { ...envelope, event_source: 'orders' },
  'a time that is none': { ...envelope, event_time: 'yesterday' },
  'an empty key': { ...envelope, dedupe_key: '' },
  'a payload that is a list': { ...envelope, payload: [1] },
};

for (const [title, bad] of Object.entries(badEnvelopes)) {
  test(`an envelope does not conform: ${title}`, async () => {
    assert.notDeepEqual(await complaints('envelope', await envelopeTriples([bad])), []);
  });
}
