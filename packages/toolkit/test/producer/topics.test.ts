/**
 * FIFO topics as destinations: producers, relays and the guard with the real SNS client against a real server, and a
 * consumer behind the topic, whose queue gets the body in a notification or raw.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SNS } from '@aws-sdk/client-sns';
import { idempotent } from '../../src/consumer/idempotent.ts';
import type { SqsMessage } from '../../src/consumer/received.ts';
import { sha256 } from '../../src/contract/canonical.ts';
import { ContractError } from '../../src/contract/refusals.ts';
import { dedupeGuard } from '../../src/guard/dedupe-guard.ts';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import { openFileOutbox } from '../../src/outbox/file-outbox.ts';
import { createRelay } from '../../src/outbox/relay.ts';
import { landsat, type Scene, scene, scenes } from '../support/landsat.ts';
import { openedTelemetry } from '../support/open-telemetry.ts';
import { drain, type OpenQueue, openQueue } from '../support/server.ts';

interface OpenTopic {
  readonly queue: OpenQueue;
  readonly topic: { readonly client: SNS; readonly topicArn: string };
}

async function openTopic(t: TestContext, raw = 'true', contentBased = 'true'): Promise<OpenTopic> {
  const queue = await openQueue(t);
  const client = new SNS({ ...queue.server.clientConfig, maxAttempts: 1 });
  t.after(() => client.destroy());
  const { TopicArn: topicArn = '' } = await client.createTopic({
    Name: 'events.fifo',
    Attributes: { FifoTopic: 'true', ContentBasedDeduplication: contentBased },
  });
  await client.subscribe({
    TopicArn: topicArn,
    Protocol: 'sqs',
    Endpoint: topicArn.replace(':sns:', ':sqs:'),
    Attributes: { RawMessageDelivery: raw },
  });
  return { queue, topic: { client, topicArn } };
}

const bodies = (events: readonly Scene[]): string[] =>
  events.map((event) => landsat().message(event).body);

test('a producer publishes to a topic: once for an event sent twice, and batches in order', async (t) => {
  const { queue, topic } = await openTopic(t);
  const first = await landsat().send(scene, topic);
  assert.deepEqual(await landsat().send(scene, topic), first);
  assert.match(first.sequenceNumber ?? '', /^\d+$/);
  const sent = await landsat().sendBatch(scenes(12), topic);
  assert.equal(new Set(sent.map(({ messageId }) => messageId)).size, 12);
  assert.deepEqual(await drain(queue), bodies([scene, ...scenes(12)]));
});

test('with deduplicateBy key, the id is the hash of the key, and attributes are published', async (t) => {
  const { queue, topic } = await openTopic(t, 'true', 'false');
  const producer = landsat({ attributes: () => ({ region: 'kansas' }) });
  await producer.send(scene, { ...topic, deduplicateBy: 'key' });
  const [sent] = queue.server.events.filter(({ type }) => type === 'sent');
  assert.equal(sent?.type === 'sent' && sent.deduplicationId, sha256('landsat/p32r29/2025-12-04'));
  const { Messages = [] } = await queue.client.receiveMessage({
    QueueUrl: queue.queueUrl,
    MessageAttributeNames: ['All'],
  });
  assert.equal(Messages[0]?.MessageAttributes?.['region']?.StringValue, 'kansas');
});

test('a relay publishes what an outbox keeps', async (t) => {
  const { queue, topic } = await openTopic(t);
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-outbox-'));
  t.after(() => rmSync(folder, { recursive: true }));
  await using outbox = await openFileOutbox(folder, { now: () => queue.server.clock.now() });
  for (const event of scenes(3)) await outbox.append(landsat().message(event));
  const now = (): number => queue.server.clock.now();
  const relayed = await createRelay({ ...topic, outbox, now }).flush();
  assert.deepEqual(relayed, {
    sent: 3,
    parked: 0,
    pastWindow: 0,
    failures: [],
    isBroken: false,
  });
  assert.deepEqual(await drain(queue), bodies(scenes(3)));
});

test('a guard of the SNS client refuses a reused key, and a span tells of a topic', async (t) => {
  const { topic } = await openTopic(t);
  const { telemetry, spans } = openedTelemetry();
  topic.client.middlewareStack.use(dedupeGuard({ mode: 'reject' }));
  await landsat().send(scene, { ...topic, telemetry });
  await assert.rejects(
    landsat().send({ ...scene, cloud: 0.5 }, topic),
    (error) => error instanceof ContractError && error.code === 'key-reused',
  );
  const [span] = spans();
  assert.equal(span?.name, 'send events.fifo');
  assert.equal(span?.attributes['messaging.system'], 'aws.sns');
});

test('a consumer behind a topic takes a replay for a duplicate, and another body for a conflict', async (t) => {
  const { queue, topic } = await openTopic(t, 'false');
  const outcomes: string[] = [];
  const handler = idempotent(async () => {}, memoryInbox(), {
    onOutcome: (outcome) => void outcomes.push(outcome),
  });
  const handle = async (): Promise<void> => {
    const { Messages = [] } = await queue.client.receiveMessage({ QueueUrl: queue.queueUrl });
    const [message] = Messages as SqsMessage[];
    assert.match(message?.Body ?? '', /"Type" ?: ?"Notification"/);
    await handler(message as SqsMessage);
    const { ReceiptHandle } = message as SqsMessage;
    await queue.client.deleteMessage({ QueueUrl: queue.queueUrl, ReceiptHandle });
  };
  for (let round = 0; round < 2; round += 1) {
    await landsat().send(scene, topic);
    await handle();
    await queue.server.clock.advance(300);
  }
  await landsat().send({ ...scene, cloud: 0.5 }, topic);
  await assert.rejects(handle(), { code: 'key-reused' });
  assert.deepEqual(outcomes, ['done', 'duplicate', 'conflict']);
});
