/**
 * The loop itself: how much it receives and when, what runs side by side, what a lost answer costs, and how it ends. On a
 * real server whose clock stands still, so nothing here depends on time.
 */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type ConsumeOptions, consume } from '../../src/consumer/consume.ts';
import { BusyError } from '../../src/consumer/idempotent.ts';
import type { SqsMessage } from '../../src/consumer/received.ts';
import { createQueue, drain, type OpenQueue, openQueue } from '../support/server.ts';

type Client = ConsumeOptions['client'];

async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turns(1);
}

/** Sends messages whose group is the first part of their name, as in `a 1`. */
async function sendAll({ client, queueUrl }: OpenQueue, names: readonly string[]): Promise<void> {
  for (const MessageBody of names) {
    const MessageGroupId = MessageBody.split(' ')[0];
    await client.sendMessage({ QueueUrl: queueUrl, MessageBody, MessageGroupId });
  }
}

async function withDeadLetters(t: TestContext, maxReceiveCount: number): Promise<OpenQueue> {
  const queue = await openQueue(t);
  await createQueue(queue.client, 'dead.fifo');
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:dead.fifo';
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount });
  return { ...queue, queueUrl: await createQueue(queue.client, 'work.fifo', { RedrivePolicy }) };
}

function countOf({ server }: OpenQueue, type: string): number {
  return server.events.filter((event) => event.type === type).length;
}

/** Starts the loop; `end` ends it and waits for it. */
function start(queue: OpenQueue, options: Partial<ConsumeOptions>) {
  const ending = new AbortController();
  const errors: unknown[] = [];
  const loop = consume({
    ...queue,
    waitSeconds: 0,
    signal: ending.signal,
    onError: (error) => void errors.push(error),
    ...options,
  });
  const end = async (): Promise<void> => {
    ending.abort();
    await loop;
  };
  return { errors, ending, loop, end };
}

/** A handler that waits until the test lets it go on. */
function gate() {
  const started: string[] = [];
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const handler = async ({ Body = '' }: SqsMessage): Promise<void> => {
    started.push(Body);
    await opened;
  };
  return { started, handler, open: () => open() };
}

describe('groups', () => {
  test('run side by side, each in order', async (t) => {
    const queue = await openQueue(t);
    const groups = Array.from({ length: 20 }, (_, index) => `g${index}`);
    await sendAll(queue, [
      ...groups.map((group) => `${group} 1`),
      ...groups.map((group) => `${group} 2`),
    ]);
    const handled: string[] = [];
    let running = 0;
    let runningMax = 0;
    const { errors, end } = start(queue, {
      concurrency: 20,
      handler: async ({ Body = '' }) => {
        running += 1;
        runningMax = Math.max(runningMax, running);
        // All twenty first messages have to run at once for any of them to end.
        if (Body.endsWith(' 1')) await until(() => runningMax === 20);
        handled.push(Body);
        running -= 1;
      },
    });
    await until(() => countOf(queue, 'deleted') === 40);
    await end();
    assert.deepEqual(errors, []);
    for (const group of groups) {
      const own = handled.filter((name) => name.startsWith(`${group} `));
      assert.deepEqual(own, [`${group} 1`, `${group} 2`]);
    }
  });

  test('no more of them run than `concurrency` allows, and no more is received than can run', async (t) => {
    const queue = await openQueue(t);
    await sendAll(
      queue,
      Array.from({ length: 30 }, (_, index) => `g${index} 1`),
    );
    const { started, handler, open } = gate();
    const { end } = start(queue, { concurrency: 3, handler });
    await until(() => started.length === 3);
    await turns();
    assert.equal(started.length, 3);
    assert.equal(countOf(queue, 'delivered'), 10);
    open();
    await until(() => countOf(queue, 'deleted') === 30);
    await end();
  });
});

describe('a lost answer of a receive', () => {
  test('costs one more request, and neither a receive nor the visibility timeout', async (t) => {
    const queue = await openQueue(t);
    await sendAll(queue, ['a 1']);
    let lost = 0;
    const send = async (command: unknown, ...rest: unknown[]): Promise<unknown> => {
      const call = queue.client.send.bind(queue.client) as (...all: unknown[]) => Promise<unknown>;
      const answer = (await call(command, ...rest)) as { Messages?: unknown[] };
      if (answer.Messages !== undefined && lost === 0) {
        lost += 1;
        throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
      }
      return answer;
    };
    const counts: (string | undefined)[] = [];
    const { errors, end } = start(queue, {
      client: { send } as unknown as Client,
      handler: async ({ Attributes }) => void counts.push(Attributes?.['ApproximateReceiveCount']),
    });
    await until(() => countOf(queue, 'deleted') === 1);
    await end();
    assert.deepEqual(counts, ['1']);
    assert.match(String(errors), /socket hang up/);
    assert.equal(countOf(queue, 'attempt-replayed'), 1);
  });
});

describe('at the end', () => {
  test('running handlers finish, and what has not begun is given back at once', async (t) => {
    const queue = await openQueue(t);
    await sendAll(queue, ['a 1', 'a 2', 'b 1', 'c 1']);
    const { started, handler, open } = gate();
    const { errors, ending, loop } = start(queue, { concurrency: 2, handler });
    await until(() => started.length === 2);
    ending.abort();
    await turns();
    open();
    await loop;
    assert.deepEqual(started, ['a 1', 'b 1']);
    assert.deepEqual(errors, []);
    // The clock has not moved, so only what was given back can be received.
    assert.deepEqual((await drain(queue)).sort(), ['a 2', 'c 1']);
  });

  test('a message at its first and last receive is handled, not given back to be dead-lettered', async (t) => {
    const queue = await withDeadLetters(t, 1);
    await sendAll(queue, ['a 1', 'a 2', 'b 1']);
    const { started, handler, open } = gate();
    let time = 0;
    const now = (): number => {
      time += 30_000;
      return time;
    };
    const { errors, ending, loop } = start(queue, { concurrency: 1, handler, now });
    await until(() => started.length === 1);
    ending.abort();
    open();
    await loop;
    assert.deepEqual(errors, []);
    assert.deepEqual(started.sort(), ['a 1', 'a 2', 'b 1']);
    assert.equal(countOf(queue, 'deleted'), 3);
  });

  test('so is one that waits to run alone', async (t) => {
    const queue = await withDeadLetters(t, 2);
    const { client, queueUrl: QueueUrl } = queue;
    await sendAll(queue, ['a 1']);
    const { Messages = [] } = await client.receiveMessage({ QueueUrl });
    await sendAll(queue, ['b 1']);
    const { started, handler, open } = gate();
    const { errors, ending, loop } = start(queue, { handler });
    await until(() => started.length === 1);
    const ReceiptHandle = Messages[0]?.ReceiptHandle;
    await client.changeMessageVisibility({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 });
    await until(() => countOf(queue, 'delivered') === 3);
    await turns();
    ending.abort();
    open();
    await loop;
    assert.deepEqual(errors, []);
    assert.deepEqual(started, ['b 1', 'a 1']);
    assert.equal(countOf(queue, 'deleted'), 2);
  });
});

describe('with a dead-letter queue', () => {
  test('a consumer that has just started receives one message at a time', async (t) => {
    const queue = await withDeadLetters(t, 2);
    await sendAll(queue, ['a 1', 'a 2', 'a 3', 'a 4']);
    const { started, handler, open } = gate();
    const { end } = start(queue, { handler });
    await until(() => started.length === 1);
    await turns();
    assert.equal(countOf(queue, 'delivered'), 1);
    open();
    await until(() => countOf(queue, 'deleted') === 4);
    await end();
  });

  test('and ten once a visibility timeout has passed', async (t) => {
    const queue = await withDeadLetters(t, 2);
    await sendAll(queue, ['a 1', 'a 2', 'a 3', 'a 4']);
    let time = 0;
    const { started, handler, open } = gate();
    const { end } = start(queue, {
      handler,
      now: () => {
        time += 30_000;
        return time;
      },
    });
    await until(() => started.length === 1);
    await turns();
    assert.equal(countOf(queue, 'delivered'), 4);
    open();
    await until(() => countOf(queue, 'deleted') === 4);
    await end();
  });

  test('a message at its last receive runs alone', async (t) => {
    const queue = await withDeadLetters(t, 2);
    await sendAll(queue, ['a 1']);
    // A consumer that was killed had received it.
    await queue.client.receiveMessage({ QueueUrl: queue.queueUrl, VisibilityTimeout: 0 });
    const order: string[] = [];
    let running = 0;
    const { errors, end } = start(queue, {
      handler: async ({ Body = '' }) => {
        order.push(Body);
        running += 1;
        if (Body === 'a 1') {
          await sendAll(queue, ['c 1']);
          await turns(50);
          assert.equal(running, 1);
          assert.equal(countOf(queue, 'delivered'), 2);
        }
        running -= 1;
      },
    });
    await until(() => countOf(queue, 'deleted') === 2);
    await end();
    assert.deepEqual(errors, []);
    assert.deepEqual(order, ['a 1', 'c 1']);
  });

  test('and waits for those that run already', async (t) => {
    const queue = await withDeadLetters(t, 2);
    const { client, queueUrl: QueueUrl } = queue;
    await sendAll(queue, ['a 1']);
    const { Messages = [] } = await client.receiveMessage({ QueueUrl });
    await sendAll(queue, ['b 1']);
    const { started, handler, open } = gate();
    const { errors, end } = start(queue, { handler });
    await until(() => started.length === 1);
    const ReceiptHandle = Messages[0]?.ReceiptHandle;
    await client.changeMessageVisibility({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 });
    await until(() => countOf(queue, 'delivered') === 3);
    await turns();
    assert.deepEqual(started, ['b 1']);
    open();
    await until(() => countOf(queue, 'deleted') === 2);
    await end();
    assert.deepEqual(errors, []);
    assert.deepEqual(started, ['b 1', 'a 1']);
  });
});

describe('a message whose event another consumer is handling', () => {
  /** Pauses end when the test says so; heartbeats, which come each 15 seconds, never beat. */
  function pauses() {
    const waiting: { readonly milliseconds: number; readonly end: () => void }[] = [];
    const every: ConsumeOptions['every'] = (milliseconds, end) => {
      if (milliseconds < 15_000) waiting.push({ milliseconds, end });
      return () => {};
    };
    return { waiting, every };
  }

  for (const isBatch of [false, true]) {
    test(`is tried again without another receive${isBatch ? ', also in a batch' : ''}`, async (t) => {
      const queue = await withDeadLetters(t, 1);
      await sendAll(queue, ['a 1']);
      const { waiting, every } = pauses();
      let calls = 0;
      const tryOnce = (): void => {
        calls += 1;
        if (calls < 4) throw new BusyError('Another consumer is handling a 1.');
      };
      const { errors, end } = start(queue, {
        every,
        ...(isBatch
          ? {
              batchHandler: async (batch) => {
                tryOnce();
                return batch;
              },
            }
          : { handler: async () => tryOnce() }),
      });
      for (const count of [1, 2, 3]) {
        await until(() => waiting.length === count);
        waiting[count - 1]?.end();
      }
      await until(() => countOf(queue, 'deleted') === 1);
      await end();
      assert.deepEqual(
        waiting.map(({ milliseconds }) => milliseconds),
        [1_000, 2_000, 4_000],
      );
      assert.equal(countOf(queue, 'delivered'), 1);
      assert.deepEqual(errors, []);
    });
  }

  test('leaves its place to others, and keeps its group waiting', async (t) => {
    const queue = await withDeadLetters(t, 2);
    await sendAll(queue, ['a 1', 'a 2']);
    // At its last receive it would run alone.
    const { queueUrl: QueueUrl } = queue;
    await queue.client.receiveMessage({ QueueUrl, MaxNumberOfMessages: 1, VisibilityTimeout: 0 });
    const { waiting, every } = pauses();
    const order: string[] = [];
    const { errors, end } = start(queue, {
      every,
      concurrency: 1,
      handler: async ({ Body = '' }) => {
        order.push(Body);
        if (Body === 'a 1' && order.length === 1) throw new BusyError(Body);
      },
    });
    await until(() => waiting.length === 1);
    await sendAll(queue, ['b 1', 'c 1']);
    await until(() => countOf(queue, 'deleted') === 2);
    assert.deepEqual(order, ['a 1', 'b 1', 'c 1']);
    waiting[0]?.end();
    await until(() => countOf(queue, 'deleted') === 4);
    await end();
    assert.deepEqual(order.slice(3), ['a 1', 'a 2']);
    assert.deepEqual(errors, []);
  });

  test('is given back when the consumer is stopped', async (t) => {
    const queue = await openQueue(t);
    await sendAll(queue, ['a 1']);
    const { waiting, every } = pauses();
    const handler = async () => {
      throw new BusyError('a 1');
    };
    const { errors, end } = start(queue, { every, handler });
    await until(() => waiting.length === 1);
    await end();
    assert.deepEqual(errors, []);
    assert.deepEqual(await drain(queue), ['a 1']);
  });
});

describe('a batch handler', () => {
  test('gets the messages of a receive, and what it returns is deleted', async (t) => {
    const queue = await openQueue(t);
    await sendAll(queue, ['a 1', 'b 1', 'a 2', 'b 2']);
    const batches: string[][] = [];
    const { errors, end } = start(queue, {
      batchHandler: async (messages) => {
        batches.push(messages.map(({ Body = '' }) => Body));
        return messages.filter(({ Body }) => Body?.startsWith('a'));
      },
    });
    await until(() => countOf(queue, 'deleted') === 2);
    await until(() => countOf(queue, 'visibility-changed') === 1);
    await end();
    assert.deepEqual(batches, [['a 1', 'a 2', 'b 1', 'b 2']]);
    assert.match(String(errors), /did not return the message/);
    await queue.server.clock.advance(30);
    assert.deepEqual(await drain(queue), ['b 1', 'b 2']);
  });
});

test('settings that cannot work are refused', async (t) => {
  const queue = await openQueue(t);
  const signal = AbortSignal.abort();
  const handler = async (): Promise<void> => {};
  await assert.rejects(consume({ ...queue, signal }), /either a handler or a batchHandler/);
  for (const concurrency of [0, 1.5, 1_001, Number.NaN]) {
    const wrong = consume({ ...queue, signal, handler, concurrency });
    await assert.rejects(wrong, /concurrency must be a whole number from 1 to 1000/);
  }
});
