/**
 * sqs-producer and sqs-consumer, unmodified, on a FIFO queue: what many applications in Node.js are built with. The
 * consumer polls for as long as it runs; the clock stands still, so its long polls end when there is something for it.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import type { Message, SQS } from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';
import { Producer } from 'sqs-producer';
import type { TestServer } from '../../src/testing.ts';
import { atEnd, nextArrival, openServer, testMsMax } from './fixture.ts';
import { v3Client } from './v3-client.ts';

const timed = { timeout: testMsMax };
const visibility = 30;

describe('sqs-producer and sqs-consumer', () => {
  test('each group is handled in the order in which it was sent', timed, async (t) => {
    const { producer, consume } = await openFifo(t);
    const sent = Array.from({ length: 45 }, (_, index) => `${'xyz'[index % 3]}-${index}`);
    await producer.send(sent.map(toMessage));
    const { handled, until } = consume({ batchSize: 4 });
    await until(sent.length);
    for (const group of ['x', 'y', 'z']) {
      const ofGroup = (body: string): boolean => body.startsWith(group);
      assert.deepEqual(handled.filter(ofGroup), sent.filter(ofGroup));
    }
  });

  test('messages sent while the consumer waits are handled', timed, async (t) => {
    const { server, producer, consume } = await openFifo(t);
    const arrival = nextArrival(server);
    const { handled, until } = consume({});
    await arrival;
    await producer.send(toMessage('x-1'));
    await until(1);
    assert.deepEqual(handled, ['x-1']);
  });

  test('a message sent twice is handled once', timed, async (t) => {
    const { producer, consume } = await openFifo(t);
    const { handled, until } = consume({});
    const [first] = await producer.send(toMessage('x-1'));
    await until(1);
    const [again] = await producer.send(toMessage('x-1'));
    await producer.send(toMessage('x-2'));
    await until(2);
    assert.equal(again?.MessageId, first?.MessageId);
    assert.deepEqual(handled, ['x-1', 'x-2']);
    assert.equal(await producer.queueSize(), 0);
  });

  test('a message that fails is handled again, and its group waits for it', timed, async (t) => {
    const { producer, consume } = await openFifo(t);
    await producer.send(['x-1', 'x-2'].map(toMessage));
    let failures = 2;
    const { handled, until } = consume({
      terminateVisibilityTimeout: true,
      fails: (body) => {
        if (body !== 'x-1' || failures === 0) return false;
        failures -= 1;
        return true;
      },
    });
    await until(4);
    assert.deepEqual(handled, ['x-1', 'x-1', 'x-1', 'x-2']);
  });

  test('repeated failures make a dead letter and unblock its group', timed, async (t) => {
    const { server, sqs, producer, consume, deadUrl } = await openFifo(t);
    await producer.send(['x-1', 'x-2'].map(toMessage));
    const asksAgain: Promise<unknown>[] = [];
    const { handled, until } = consume({
      fails: (body) => {
        // Listens from here on, so that it cannot miss the consumer's next request.
        asksAgain.push(nextArrival(server));
        return body === 'x-1';
      },
    });
    for (let time = 1; time <= 3; time += 1) {
      await until(time);
      // The consumer now waits, and only the visibility timeout returns the message.
      await asksAgain.at(-1);
      await server.clock.advance(visibility);
    }
    await until(4);
    assert.deepEqual(handled, ['x-1', 'x-1', 'x-1', 'x-2']);
    const { Messages } = await sqs.receiveMessage({
      QueueUrl: deadUrl,
      MessageSystemAttributeNames: ['All'],
    });
    assert.equal(Messages?.[0]?.Body, 'x-1');
    assert.equal(Messages?.[0]?.Attributes?.MessageGroupId, 'x');
  });

  test('a partly handled batch leaves the rest in the queue', timed, async (t) => {
    const { server, sqs, QueueUrl, producer } = await openFifo(t);
    await producer.send(['x-1', 'x-2', 'y-1'].map(toMessage));
    const consumer = Consumer.create({
      queueUrl: QueueUrl,
      sqs,
      batchSize: 10,
      suppressFifoWarning: true,
      handleMessageBatch: async (messages) => messages.filter(({ Body }) => Body !== 'x-2'),
    });
    atEnd(t, () => consumer.stop({ abort: true }));
    consumer.start();
    await once(consumer, 'response_processed');
    consumer.stop({ abort: true });
    await server.clock.advance(visibility);
    const { Messages } = await sqs.receiveMessage({ QueueUrl, MaxNumberOfMessages: 10 });
    assert.deepEqual(
      Messages?.map(({ Body }) => Body),
      ['x-2'],
    );
  });

  test('a heartbeat keeps a message away from others', timed, async (t) => {
    const { server, sqs, QueueUrl, producer } = await openFifo(t);
    await producer.send(toMessage('x-1'));
    let finish = (): void => {};
    const consumer = Consumer.create({
      queueUrl: QueueUrl,
      sqs,
      suppressFifoWarning: true,
      visibilityTimeout: visibility,
      // 50 ms of real time, because the consumer's heartbeat uses a timer of its own.
      heartbeatInterval: 0.05,
      handleMessage: (message) =>
        new Promise((resolve) => {
          finish = () => resolve(message);
        }),
    });
    atEnd(t, () => consumer.stop({ abort: true }));
    consumer.start();
    await once(consumer, 'message_received');
    for (let beat = 0; beat < 3; beat += 1) {
      await server.clock.advance(visibility - 1);
      await nextArrival(server);
    }
    const { Messages } = await sqs.receiveMessage({ QueueUrl });
    assert.equal(Messages, undefined);
    const processed = once(consumer, 'message_processed');
    finish();
    await processed;
  });
});

interface ConsumeOptions {
  readonly batchSize?: number;
  readonly terminateVisibilityTimeout?: boolean;
  /** Whether the handler throws at this body; default: it does not. */
  fails?(body: string): boolean;
}

interface Consuming {
  /** Every body that the handler was given, in order. */
  readonly handled: string[];
  /** Resolves once `count` messages have been fully handled: deleted, or failed. */
  until(count: number): Promise<void>;
}

/** A server with `jobs.fifo`, whose messages become dead letters after three receives. */
async function openFifo(t: TestContext): Promise<{
  server: TestServer;
  sqs: SQS;
  QueueUrl: string;
  deadUrl: string;
  producer: Producer;
  consume(options: ConsumeOptions): Consuming;
}> {
  const server = await openServer(t);
  const sqs = v3Client(server.url);
  atEnd(t, () => sqs.destroy());
  const dead = await sqs.createQueue({ QueueName: 'dead.fifo', Attributes: { FifoQueue: 'true' } });
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:dead.fifo';
  const { QueueUrl = '' } = await sqs.createQueue({
    QueueName: 'jobs.fifo',
    Attributes: {
      FifoQueue: 'true',
      VisibilityTimeout: String(visibility),
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 3 }),
    },
  });
  return {
    server,
    sqs,
    QueueUrl,
    deadUrl: dead.QueueUrl ?? '',
    producer: Producer.create({ queueUrl: QueueUrl, sqs }),
    consume: (options) => consume(t, { sqs, queueUrl: QueueUrl, ...options }),
  };
}

function consume(
  t: TestContext,
  { fails = () => false, ...options }: ConsumeOptions & { sqs: SQS; queueUrl: string },
): Consuming {
  const handled: string[] = [];
  const consumer = Consumer.create({
    ...options,
    suppressFifoWarning: true,
    handleMessage: async (message: Message) => {
      const body = message.Body ?? '';
      handled.push(body);
      if (fails(body)) throw new Error(`${body} cannot be handled`);
      return message;
    },
  });
  let settled = 0;
  const tell: (() => void)[] = [];
  const settle = (): void => {
    settled += 1;
    for (const each of tell.splice(0)) each();
  };
  consumer.on('message_processed', settle);
  consumer.on('processing_error', settle);
  const errors: unknown[] = [];
  consumer.on('error', (error) => errors.push(error));
  atEnd(t, () => {
    consumer.stop({ abort: true });
    assert.deepEqual(errors, []);
  });
  consumer.start();
  return {
    handled,
    until: async (count) => {
      while (settled < count) await new Promise<void>((resolve) => tell.push(resolve));
    },
  };
}

function toMessage(body: string): {
  id: string;
  body: string;
  groupId: string;
  deduplicationId: string;
} {
  return { id: body, body, groupId: body.split('-')[0] ?? '', deduplicationId: body };
}
