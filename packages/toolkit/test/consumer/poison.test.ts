/**
 * A message that always fails reaches the dead-letter queue alone: everything behind it and beside it is handled, in
 * order. On a real server with a dead-letter queue; its clock moves on by a visibility timeout whenever the consumer has
 * nothing left to do. The consumers that are killed are in test/crash.
 */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type ConsumeOptions, consume } from '../../src/consumer/consume.ts';
import { createQueue, drain, type OpenQueue, openQueue } from '../support/server.ts';

type Client = ConsumeOptions['client'];

interface Setting {
  readonly maxReceiveCount: number;
  /** In order of sending: the group, and a name; names with a ! fail. */
  readonly messages: readonly string[];
  readonly consumers?: number;
  readonly batchHandler?: ConsumeOptions['batchHandler'];
  /** Default true. */
  readonly mayReadAttributes?: boolean;
  /** Whether the consumers have been running for long; default true. */
  readonly isCalm?: boolean;
}

/** Runs consumers until everything is handled or dead-lettered. */
async function outcome(t: TestContext, setting: Setting) {
  const { maxReceiveCount, messages, consumers = 1, batchHandler } = setting;
  const { mayReadAttributes = true, isCalm = true } = setting;
  const queue = await openQueue(t);
  const deadUrl = await createQueue(queue.client, 'dead.fifo');
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:dead.fifo';
  const queueUrl = await createQueue(queue.client, 'work.fifo', {
    VisibilityTimeout: '30',
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount }),
  });
  for (const name of messages) {
    await queue.client.sendMessage({
      QueueUrl: queueUrl,
      MessageBody: name,
      MessageGroupId: name.slice(0, 1),
    });
  }
  const handled: string[] = [];
  const ending = new AbortController();
  const activity: Activity = { underWay: 0, count: 0 };
  const client = idleClient(queue, mayReadAttributes, activity, () => {
    const gone = queue.server.events.filter(
      ({ type }) => type === 'dead-lettered' || type === 'deleted',
    );
    if (gone.length === messages.length) ending.abort();
  });
  const handler: ConsumeOptions['handler'] = async ({ Body = '' }) => {
    activity.underWay += 1;
    await new Promise((resolve) => setImmediate(resolve));
    activity.underWay -= 1;
    if (Body.includes('!')) throw new Error(Body);
    handled.push(Body);
  };
  const loops = Array.from({ length: consumers }, () => {
    let calls = 0;
    return consume({
      client,
      queueUrl,
      waitSeconds: 0,
      signal: ending.signal,
      now: () => (calls++ === 0 || !isCalm ? 0 : 3_600_000),
      ...(batchHandler === undefined ? { handler } : { batchHandler }),
    });
  });
  await Promise.all(loops);
  return { handled, dead: await drain({ ...queue, queueUrl: deadUrl }), queue };
}

interface Activity {
  /** Requests and handlers under way. */
  underWay: number;
  /** Rises with everything but empty receives. */
  count: number;
}

/** Moves the server's clock when a receive finds nothing and nothing else is under way or about to be. */
function idleClient(
  { client, server }: OpenQueue,
  mayReadAttributes: boolean,
  activity: Activity,
  onIdle: () => void,
): Client {
  const call = client.send.bind(client) as unknown as (
    ...all: unknown[]
  ) => Promise<{ Messages?: unknown[] }>;
  const send = async (command: { constructor: { name: string } }, ...rest: unknown[]) => {
    const { name } = command.constructor;
    if (name === 'GetQueueAttributesCommand' && !mayReadAttributes) throw new Error('AccessDenied');
    activity.underWay += 1;
    const answer = await call(command, ...rest).finally(() => {
      activity.underWay -= 1;
    });
    const isEmpty = name === 'ReceiveMessageCommand' && answer.Messages === undefined;
    if (!isEmpty) {
      activity.count += 1;
      return answer;
    }
    const { count } = activity;
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    if (activity.count === count && activity.underWay === 0) {
      onIdle();
      await server.clock.advance(30);
    }
    return answer;
  };
  return { send } as unknown as Client;
}

const poisoned = ['a0!', 'a1', 'a2', 'a3'];

describe('a message that always fails', () => {
  for (const maxReceiveCount of [1, 2, 3, 4, 5]) {
    test(`is dead-lettered alone at maxReceiveCount ${maxReceiveCount}`, async (t) => {
      const { handled, dead } = await outcome(t, { maxReceiveCount, messages: poisoned });
      assert.deepEqual(dead, ['a0!']);
      assert.deepEqual(handled, ['a1', 'a2', 'a3']);
    });
  }

  for (const maxReceiveCount of [2, 3, 4, 5]) {
    test(`is dead-lettered alone if the consumer may not know maxReceiveCount, at ${maxReceiveCount}`, async (t) => {
      const setting = { maxReceiveCount, messages: poisoned, mayReadAttributes: false };
      const { handled, dead } = await outcome(t, setting);
      assert.deepEqual(dead, ['a0!']);
      assert.deepEqual(handled, ['a1', 'a2', 'a3']);
    });

    test(`is dead-lettered alone by several consumers at ${maxReceiveCount}`, async (t) => {
      const setting = { maxReceiveCount, messages: poisoned, consumers: 3 };
      const { handled, dead } = await outcome(t, setting);
      assert.deepEqual(dead, ['a0!']);
      assert.deepEqual(handled, ['a1', 'a2', 'a3']);
    });
  }

  test('several of them, in several groups, leave everything else in order', async (t) => {
    const messages = ['a0', 'a1!', 'b0!', 'a2', 'a3!', 'a4!', 'b1', 'c0', 'a5', 'b2!', 'c1', 'b3'];
    for (const mayReadAttributes of [true, false]) {
      const setting = { maxReceiveCount: 2, messages, mayReadAttributes };
      const { handled, dead } = await outcome(t, setting);
      assert.deepEqual(dead.sort(), ['a1!', 'a3!', 'a4!', 'b0!', 'b2!']);
      const of = (group: string): string[] => handled.filter((name) => name.startsWith(group));
      assert.deepEqual(
        [of('a'), of('b'), of('c')],
        [
          ['a0', 'a2', 'a5'],
          ['b1', 'b3'],
          ['c0', 'c1'],
        ],
      );
    }
  });

  test('in a batch is dead-lettered alone', async (t) => {
    for (const maxReceiveCount of [1, 2, 5]) {
      const handled: string[] = [];
      const { dead } = await outcome(t, {
        maxReceiveCount,
        messages: [...poisoned, 'b0'],
        batchHandler: async (batch) => {
          const failed = batch.findIndex(({ Body }) => Body?.includes('!'));
          const group = batch[failed]?.Attributes?.['MessageGroupId'];
          const done = batch.filter(
            ({ Attributes }, index) =>
              failed === -1 || index < failed || Attributes?.['MessageGroupId'] !== group,
          );
          handled.push(...done.map(({ Body = '' }) => Body));
          return done;
        },
      });
      assert.deepEqual(dead, ['a0!']);
      assert.deepEqual(handled.sort(), ['a1', 'a2', 'a3', 'b0']);
    }
  });
});
