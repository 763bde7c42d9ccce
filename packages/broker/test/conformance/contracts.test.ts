/**
 * Queues and topics with a contract: what is refused and how, what is only reported, and when a key counts as used. Which
 * bodies keep a contract is tested in the toolkit; the file, violations that people read and metrics in server/contract.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Contract, defineProducer, readContract } from '@oncemq/toolkit';
import type { SendEntry } from '../../src/core/commands.ts';
import type { PublishEntry } from '../../src/core/topic/commands.ts';
import { assertJsonError, assertQueryError, urlOf } from '../api/fixture.ts';
import {
  assertRefused,
  type Opener,
  type TestBackend,
  type TestQueue,
  type TestTopic,
  test,
} from './fixture.ts';

const producer = defineProducer<{ order: number; note?: string }>({
  source: 'kfm.parts.orders',
  dedupeKey: ({ order }) => `order-${order}`,
  eventTime: () => '2025-12-04T00:00:00Z',
});

function message(order: number, note?: string): string {
  return producer.message(note === undefined ? { order } : { order, note }).body;
}

const good = message(1);
const bad = '{"order":1}';

function contractOf(content: object): Contract {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-contract-'));
  try {
    const file = join(folder, 'contract.json');
    writeFileSync(file, JSON.stringify(content));
    return readContract(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const rejecting = { queue: 'orders*.fifo', contract: 'envelope', mode: 'reject' };
const observing = { ...rejecting, mode: 'observe' };
const inEnvelope = { queues: [rejecting] };

async function queueUnder(open: Opener, content: object): Promise<TestQueue> {
  return createQueue(await open.home({ contract: contractOf(content) }));
}

const byContent = { ContentBasedDeduplication: 'true' };

function createQueue(home: TestBackend, name = 'orders.fifo'): Promise<TestQueue> {
  return home.createQueue(name, byContent);
}

function createTopic(home: TestBackend): Promise<TestTopic> {
  return home.createTopic('orders.fifo', byContent);
}

/** To be sent: a key says what the deduplication id must be. */
function sending(body: string): SendEntry {
  return { body, deduplicationId: undefined };
}

function publishing(text: string): PublishEntry {
  return { message: text, deduplicationId: undefined };
}

/** The rules that were broken. */
async function rulesIn(home: TestBackend): Promise<readonly string[]> {
  return (await home.events()).flatMap((event) =>
    event.type === 'contract-violation' || event.type === 'publication-violation'
      ? [`${event.type} ${event.mode} ${event.rule}`]
      : [],
  );
}

async function assertKeyReused(queue: TestQueue, body: string): Promise<void> {
  const refused = await queue.trySend(sending(body));
  assertRefused(refused, 'InvalidParameterValue');
  assert.equal(!refused.ok && refused.detail['rule'], 'key-reused');
}

test('reject: a message that breaks the contract is refused in either wire form, and not sent', async (open) => {
  const api = await open.api({ contract: contractOf(inEnvelope) });
  const QueueUrl = await api.createQueue('orders.fifo');
  assert.equal(QueueUrl, urlOf('orders.fifo'));
  const input = { QueueUrl, MessageBody: bad, MessageGroupId: 'g', MessageDeduplicationId: 'd' };
  const broken = { type: 'com.amazon.coral.service#InvalidParameterValueException' };
  const error = { ...broken, code: 'InvalidParameterValue' };
  const asJson = await api.json('SendMessage', input);
  assertJsonError(asJson, error);
  assert.match(asJson.value.message, /contract of its queue \(body-not-envelope\)/);
  assertQueryError(await api.query('SendMessage', input), error);
  assert.deepEqual(await api.called('ReceiveMessage', { QueueUrl }), {});
});

test('reject: an entry of a batch fails alone', async (open) => {
  const queue = await queueUnder(open, inEnvelope);
  const results = await queue.sendBatch([good, bad, message(2)].map(sending));
  assert.deepEqual(
    results.map(({ ok }) => ok),
    [true, false, true],
  );
  assertRefused(results[1], 'InvalidParameterValue');
});

test('errors of the request itself come before the contract', async (open) => {
  const queue = await queueUnder(open, inEnvelope);
  const { home } = queue;
  const entries = [{ body: bad, groupId: 'g', deduplicationId: 'd' }];
  const missing = { type: 'send', queue: 'orders-none.fifo', isBatch: false, entries } as const;
  assertRefused(await home.run(missing), 'QueueDoesNotExist');
  assertRefused(await queue.trySend(sending('')), 'MissingParameter');
  assert.deepEqual(await rulesIn(home), []);
});

test('observe: everything is sent, and what breaks the contract is reported', async (open) => {
  const queue = await queueUnder(open, { queues: [observing] });
  await queue.send(sending(good));
  await queue.send(sending(bad));
  assert.deepEqual(await queue.receiveBodies(), [good, bad]);
  assert.deepEqual(await rulesIn(queue.home), ['contract-violation observe body-not-envelope']);
});

test('a body member that cannot be converted to text breaks the contract', async (open) => {
  const queue = await queueUnder(open, inEnvelope);
  const body = JSON.stringify({ ...JSON.parse(good), event_id: { toString: 1 } });
  assertRefused(await queue.trySend(sending(body)), 'InvalidParameterValue');
  assert.deepEqual(await rulesIn(queue.home), ['contract-violation reject event-id-invalid']);
});

test('a queue without a contract is not checked, and the first matching pattern applies', async (open) => {
  const content = { queues: [{ ...observing, queue: 'orders-?.fifo' }, rejecting] };
  const home = await open.home({ contract: contractOf(content) });
  const sendTo = async (name: string): Promise<{ readonly ok: boolean }> =>
    (await createQueue(home, name)).trySend(sending(bad));
  assert.ok((await sendTo('other.fifo')).ok);
  assert.ok((await sendTo('orders-1.fifo')).ok);
  assertRefused(await sendTo('orders-12.fifo'), 'InvalidParameterValue');
});

test('large messages of a batch are each judged, and keep their order', async (open) => {
  const queue = await queueUnder(open, { queues: [observing] });
  const bodies = [1, 2, 3, 4].map((order) =>
    order % 2 === 0 ? message(order) : `{"order":${order},"text":"${'x'.repeat(20_000)}"}`,
  );
  await queue.sendBatch(bodies.map(sending));
  const reported = (await queue.home.events()).flatMap((event) =>
    event.type === 'contract-violation' ? [event.body.slice(0, 10)] : [],
  );
  assert.deepEqual(reported, ['{"order":1', '{"order":3']);
  assert.deepEqual(await queue.receiveBodies(), bodies);
});

test('a key with a second body is refused until the window of the queue is over', async (open) => {
  const queue = await queueUnder(open, inEnvelope);
  await queue.send(sending(good));
  await queue.send(sending(good));
  await assertKeyReused(queue, message(1, 'other'));
  await queue.advance(299);
  await assertKeyReused(queue, message(1, 'other'));
  await queue.advance(1);
  await queue.send(sending(message(1, 'other')));
  await assertKeyReused(queue, good);
});

test('a key counts for as long as the window of the queue is', async (open) => {
  const queue = await queueUnder(open, inEnvelope);
  await queue.set({ DeduplicationIntervalSeconds: '3600' });
  await queue.send(sending(good));
  await queue.advance(3_599);
  await assertKeyReused(queue, message(1, 'other'));
});

test('a key is refused within a batch and between concurrent sends, and not after a refused send', async (open) => {
  const queue = await queueUnder(open, inEnvelope);
  const results = await queue.sendBatch([good, message(1, 'other')].map(sending));
  assert.deepEqual(
    results.map(({ ok }) => ok),
    [true, false],
  );
  // An invalid group: the queue refuses the message, so its key is not used.
  assertRefused(
    await queue.trySend({ ...sending(message(2)), groupId: 'ä' }),
    'InvalidParameterValue',
  );
  await queue.send(sending(message(2, 'other')));
  const both = await Promise.all(
    ['one', 'two'].map((note) => queue.trySend(sending(message(3, note)))),
  );
  assert.deepEqual(both.map(({ ok }) => ok).sort(), [false, true]);
});

test('a key belongs to its source and queue, and a deleted queue and a reset forget it', async (open) => {
  const queue = await queueUnder(open, inEnvelope);
  const { home } = queue;
  await queue.send(sending(good));
  const elsewhere = message(1, 'other').replace('kfm.parts.orders', 'kfm.parts.others');
  await queue.send(sending(elsewhere));
  const second = await createQueue(home, 'orders-2.fifo');
  await second.send(sending(message(1, 'other')));
  await assertKeyReused(second, good);
  await second.delete();
  await home.advance(60);
  await (await createQueue(home, 'orders-2.fifo')).send(sending(good));
  await home.port.reset();
  await (await createQueue(home)).send(sending(message(1, 'other')));
});

test('observe: a key with a second body is sent and reported', async (open) => {
  const queue = await queueUnder(open, { queues: [observing] });
  await queue.send(sending(good));
  await queue.send(sending(message(1, 'other')));
  assert.deepEqual(await rulesIn(queue.home), ['contract-violation observe key-reused']);
});

test('reject: a publication that breaks the contract is refused, and a batch as a whole', async (open) => {
  const contract = contractOf({ topics: [{ topic: 'orders*', mode: 'reject' }] });
  const home = await open.home({ contract });
  const topic = await createTopic(home);
  await topic.publish(publishing(good));
  assertRefused(await topic.tryPublish(publishing(bad)), 'InvalidParameterException');
  const batch = await topic.tryPublishBatch([message(2), 'x'].map(publishing));
  assertRefused(batch, 'InvalidParameterException');
  assert.equal((await home.told('published')).length, 1);
  const reject = 'publication-violation reject body-not-envelope';
  assert.deepEqual(await rulesIn(home), [reject, reject]);
});

test('observe: a publication that breaks the contract is published and reported', async (open) => {
  const home = await open.home({ contract: contractOf({ topics: [{ topic: 'orders.fifo' }] }) });
  const topic = await createTopic(home);
  await topic.publish(publishing('hello'));
  assert.equal((await home.told('published')).length, 1);
  assert.deepEqual(await rulesIn(home), ['publication-violation observe body-not-envelope']);
});

for (const raw of ['true', 'false']) {
  const attributes = { RawMessageDelivery: raw };

  test(`what a topic brings to a bound queue is judged and reported, raw ${raw}, and never refused`, async (open) => {
    const queue = await queueUnder(open, { queues: [{ queue: 'orders.fifo', mode: 'reject' }] });
    const { home } = queue;
    const topic = await createTopic(home);
    await topic.subscribe(queue, attributes);
    await topic.publish(publishing(good));
    assert.deepEqual(await rulesIn(home), []);
    const unique = [{ name: 'unique_key', type: 'String', stringValue: '1' }];
    await topic.publish({ ...publishing(bad), attributes: unique });
    const rule = 'contract-violation observe key-only-in-attributes';
    assert.deepEqual(await rulesIn(home), [rule]);
    assert.equal((await queue.receive()).length, 2);
  });
}

async function assertKeyBroughtTwice(open: Opener, raw: string): Promise<void> {
  const queue = await queueUnder(open, { queues: [{ queue: 'orders.fifo', mode: 'reject' }] });
  const { home } = queue;
  const topic = await createTopic(home);
  await topic.subscribe(queue, { RawMessageDelivery: raw });
  const other = message(1, 'other');
  await topic.publish(publishing(good));
  await assertKeyReused(queue, other);
  await topic.publish(publishing(other));
  const reported = 'contract-violation observe key-reused';
  assert.deepEqual(await rulesIn(home), ['contract-violation reject key-reused', reported]);
  await home.advance(300);
  await topic.publish(publishing(other));
  await assertKeyReused(queue, good);
  assert.equal((await rulesIn(home)).length, 3);
}

test('a key that a topic brings with another body is reported until the window is over', (open) =>
  assertKeyBroughtTwice(open, 'false'));

test('a key that a topic brings raw with another body is reported until the window is over', (open) =>
  assertKeyBroughtTwice(open, 'true'));
