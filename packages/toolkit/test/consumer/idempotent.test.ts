/**
 * The idempotent handler wherever messages come from: sqs-consumer, Lambda's batches, a plain loop; on a real server, whose
 * clock is moved past the window.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { Consumer } from 'sqs-consumer';
import { consume } from '../../src/consumer/consume.ts';
import { BusyError, idempotent } from '../../src/consumer/idempotent.ts';
import type { LambdaEvent, SqsMessage } from '../../src/consumer/received.ts';
import { ContractError } from '../../src/contract/refusals.ts';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import type { TelemetryRecord } from '../../src/telemetry/record.ts';
import type { Telemetry } from '../../src/telemetry/telemetry.ts';
import { landsat, type Scene, scene, scenes } from '../support/landsat.ts';
import { type OpenQueue, openQueue } from '../support/server.ts';

const producer = landsat({ groupId: ({ tile }) => tile });

function collector(failing: readonly string[] = []) {
  const effects: string[] = [];
  const handler = idempotent<Scene, undefined>(async ({ payload }) => {
    if (failing.includes(payload.tile)) throw new Error(`${payload.tile} cannot be read`);
    effects.push(payload.tile);
  }, memoryInbox());
  return { effects, handler };
}

function messageOf(event: Scene, index = 0): SqsMessage {
  const { body, groupId } = producer.message(event);
  return { MessageId: `m${index}`, Body: body, Attributes: { MessageGroupId: groupId } };
}

async function receive({ client, queueUrl: QueueUrl }: OpenQueue): Promise<SqsMessage[]> {
  return (await client.receiveMessage({ QueueUrl, MaxNumberOfMessages: 10 })).Messages ?? [];
}

test('an event redelivered after the window is acknowledged and has no second effect', async (t) => {
  const queue = await openQueue(t);
  const { effects, handler } = collector();
  for (let round = 0; round < 3; round += 1) {
    await producer.send(scene, queue);
    const [message] = await receive(queue);
    assert.equal(await handler(message as SqsMessage), message);
    await queue.client.deleteMessage({
      QueueUrl: queue.queueUrl,
      ReceiptHandle: message?.ReceiptHandle,
    });
    await queue.server.clock.advance(300);
  }
  assert.deepEqual(effects, ['p32r29']);
});

test('a message that is not an envelope is refused and has no effect', async () => {
  const { effects, handler } = collector();
  await assert.rejects(handler({ MessageId: 'm', Body: '{}' }), ContractError);
  assert.deepEqual(effects, []);
});

test('the envelope of a topic is unwrapped', async () => {
  const { effects, handler } = collector();
  const { body: Message } = producer.message(scene);
  await handler({ Body: JSON.stringify({ Type: 'Notification', Message, TopicArn: 'arn' }) });
  assert.deepEqual(effects, ['p32r29']);
});

test('a message whose event is being handled elsewhere is rejected as busy', async () => {
  const inbox = memoryInbox();
  const handler = idempotent(async () => {
    await assert.rejects(handler(messageOf(scene)), BusyError);
  }, inbox);
  await handler(messageOf(scene));
});

test('the outcome of each message is reported', async () => {
  const outcomes: string[] = [];
  const onOutcome = (outcome: string): void => void outcomes.push(outcome);
  const handler = idempotent(async () => {}, memoryInbox(), { onOutcome });
  await handler(messageOf(scene));
  await handler(messageOf(scene));
  assert.deepEqual(outcomes, ['done', 'duplicate']);
});

test('a known key with another body fails as key-reused, and is reported', async () => {
  const outcomes: string[] = [];
  const records: TelemetryRecord[] = [];
  const telemetry: Telemetry = {
    report: (record) => void records.push(record),
    carry: (message) => message,
    sending: ({ messages }, send) => send(messages, { setAttribute: () => {} }),
    processing: (_, __, handle) => handle({ setAttribute: () => {} }),
  };
  const effects: string[] = [];
  const handler = idempotent<Scene, undefined>(
    async ({ payload }) => void effects.push(payload.tile),
    memoryInbox(),
    {
      telemetry,
      queueUrl: 'http://localhost/000000000000/events.fifo',
      onOutcome: (outcome) => void outcomes.push(outcome),
    },
  );
  const message = messageOf(scene);
  await handler(message);
  const other = messageOf({ ...scene, cloud: 0.5 });
  await assert.rejects(handler(other), (error: ContractError) => error.code === 'key-reused');
  assert.deepEqual(outcomes, ['done', 'conflict']);
  assert.equal(effects.length, 1);
  assert.deepEqual(
    records.map(({ metric, code, target }) => [metric, code, target]),
    [['sqs_fifo.producer.violations', 'key-reused', 'http://localhost/000000000000/events.fifo']],
  );
  // In a batch it is not among the messages that may be deleted.
  assert.deepEqual(await handler([message, other]), [message]);
});

describe('batches', () => {
  const days = [scene, { ...scene, day: '2025-12-05' }];
  const messages = [...days, ...scenes(2)].map(messageOf);

  test('a list returns the messages that may be deleted, without the rest of a failed group', async () => {
    const { effects, handler } = collector([scene.tile]);
    assert.deepEqual(await handler(messages), messages.slice(2));
    assert.deepEqual(effects, ['p0r29', 'p1r29']);
  });

  test('a list of which nothing may be deleted fails with the first reason', async () => {
    const { handler } = collector([scene.tile]);
    await assert.rejects(handler(messages.slice(0, 2)), /p32r29 cannot be read/);
  });

  test('a Lambda event returns the messages that must be retried', async () => {
    const { handler } = collector([scene.tile]);
    const event: LambdaEvent = {
      Records: messages.map(({ MessageId = '', Body = '', Attributes = {} }) => ({
        messageId: MessageId,
        body: Body,
        attributes: Attributes,
      })),
    };
    assert.deepEqual(await handler(event), {
      batchItemFailures: [{ itemIdentifier: 'm0' }, { itemIdentifier: 'm1' }],
    });
  });
});

for (const isBatch of [false, true]) {
  test(`sqs-consumer accepts it as its handler${isBatch ? ' of batches' : ''}`, async (t) => {
    const queue = await openQueue(t);
    const { effects, handler } = collector();
    await producer.sendBatch(scenes(5), queue);
    const handlers = isBatch
      ? { handleMessageBatch: (messages: SqsMessage[]) => handler(messages) }
      : { handleMessage: (message: SqsMessage) => handler(message) };
    const consumer = Consumer.create({
      sqs: queue.client,
      queueUrl: queue.queueUrl,
      batchSize: 10,
      waitTimeSeconds: 0,
      strictReturn: true,
      suppressFifoWarning: true,
      ...(handlers as { handleMessage: () => Promise<undefined> }),
    });
    consumer.start();
    await once(consumer, 'empty');
    consumer.stop();
    assert.deepEqual(
      effects,
      scenes(5).map(({ tile }) => tile),
    );
    assert.equal(queue.server.events.filter(({ type }) => type === 'deleted').length, 5);
  });
}

test('the plain loop handles and deletes messages, and leaves failed ones for redelivery', async (t) => {
  const queue = await openQueue(t);
  const { client, queueUrl } = queue;
  const failing = ['p1r29'];
  const { effects, handler } = collector(failing);
  const late = { ...scene, tile: 'p1r29' };
  const events = [...scenes(1), { ...scene, tile: 'p2r29' }, late, { ...late, day: '2025-12-05' }];
  await producer.sendBatch(events, queue);
  const ending = new AbortController();
  const errors: unknown[] = [];
  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): unknown => (condition() ? resolve() : setImmediate(look));
      look();
    });
  const deleted = (): number => queue.server.events.filter(({ type }) => type === 'deleted').length;
  const loop = consume({
    client,
    queueUrl,
    handler,
    signal: ending.signal,
    waitSeconds: 0,
    onError: (error) => {
      errors.push(error);
      failing.length = 0;
    },
  });
  // The group that failed is given back before the clock moves, and then comes again.
  await until(
    () => deleted() === 2 && queue.server.events.some(({ type }) => type === 'visibility-changed'),
  );
  await queue.server.clock.advance(30);
  await until(() => deleted() === 4);
  ending.abort();
  await loop;
  assert.equal(errors.length, 1);
  assert.deepEqual(effects, ['p0r29', 'p2r29', 'p1r29', 'p1r29']);
});

test('a plain loop ended by its onError holds no message any longer', async (t) => {
  const queue = await openQueue(t);
  const { client, queueUrl } = queue;
  await producer.sendBatch(scenes(3), queue);
  let beating = 0;
  const every = (): (() => void) => {
    beating += 1;
    let isStopped = false;
    return () => {
      if (!isStopped) beating -= 1;
      isStopped = true;
    };
  };
  const failing = consume({
    client,
    queueUrl,
    handler: () => Promise.reject(new Error('no disk')),
    signal: new AbortController().signal,
    waitSeconds: 0,
    every,
    onError: (error) => {
      throw error;
    },
  });
  await assert.rejects(failing, /no disk/);
  assert.equal(beating, 0);
});

test('the plain loop continues after a failed receive, and ends when told to', async (t) => {
  const queue = await openQueue(t);
  const ending = new AbortController();
  const queueUrl = queue.queueUrl.replace('events', 'none');
  let errors = 0;
  await consume({
    client: queue.client,
    queueUrl,
    handler: async () => assert.fail(),
    signal: ending.signal,
    onError: (_, message) => {
      assert.equal(message, undefined);
      errors += 1;
      if (errors === 2) ending.abort();
    },
  });
  assert.equal(errors, 2);
});
