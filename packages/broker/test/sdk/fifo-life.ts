/**
 * What every AWS client must be able to do with FIFO queues: deduplication, groups and their order, receive attempts,
 * dead-letter queues and the way back. A part of everyday-life.ts, which opens a server and a client for each test.
 */

import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import {
  bodies,
  createQueue,
  createWithDeadLetters,
  receive,
  refused,
  remove,
  sendAll,
  visibility,
} from './client-verbs.ts';
import type { open } from './fixture.ts';

type Opened = Awaited<ReturnType<typeof open>>;

/** Declares a test that gets a server and a client of its own. */
export type Titled = (
  title: string,
  body: (opened: Opened, t: TestContext) => Promise<void>,
) => void;

const window = 300;

export function fifoLife(titled: Titled): void {
  describe('FIFO queues', () => {
    titled("a duplicate is answered with its original's id and adds no message", async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs.fifo');
      const send = (MessageBody: string, MessageDeduplicationId: string) =>
        c.client.call('SendMessage', {
          QueueUrl,
          MessageBody,
          MessageGroupId: 'g',
          MessageDeduplicationId,
        });
      const first = await send('a', 'd-1');
      const second = await send('b', 'd-2');
      const again = await send('a', 'd-1');
      assert.deepEqual(
        [again.MessageId, again.SequenceNumber],
        [first.MessageId, first.SequenceNumber],
      );
      assert.ok(BigInt(second.SequenceNumber ?? 0) > BigInt(first.SequenceNumber ?? 0));
      assert.equal(first.SequenceNumber?.length, 20);
      assert.deepEqual(await bodies(c.client, { QueueUrl }), ['a', 'b']);
    });

    titled('the same id is a new message once the window has closed', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs.fifo');
      const send = async () => {
        const sent = await c.client.call('SendMessage', {
          QueueUrl,
          MessageBody: 'a',
          MessageGroupId: 'g',
          MessageDeduplicationId: 'd',
        });
        return sent.MessageId;
      };
      const first = await send();
      await c.server.clock.advance(window - 1);
      assert.equal(await send(), first);
      await c.server.clock.advance(1);
      assert.notEqual(await send(), first);
    });

    titled('equal bodies are one message with content-based deduplication', async (c) => {
      const { QueueUrl } = await c.client.call('CreateQueue', {
        QueueName: 'jobs.fifo',
        Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
      });
      const Entries = ['a', 'b', 'a'].map((MessageBody, index) => ({
        Id: String(index),
        MessageBody,
        MessageGroupId: 'g',
      }));
      const { Successful } = await c.client.call('SendMessageBatch', { QueueUrl, Entries });
      assert.equal(Successful?.length, 3);
      assert.equal(Successful?.[2]?.MessageId, Successful?.[0]?.MessageId);
      assert.deepEqual(await bodies(c.client, { QueueUrl }), ['a', 'b']);
    });

    titled('a group waits for its message in flight, other groups do not', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs.fifo');
      await sendAll(c.client, QueueUrl, ['x-1', 'x-2', 'y-1']);
      const [first] = await receive(c.client, { QueueUrl });
      assert.equal(first?.Body, 'x-1');
      assert.deepEqual(await bodies(c.client, { QueueUrl }), ['y-1']);
      await remove(c.client, QueueUrl, first);
      assert.deepEqual(await bodies(c.client, { QueueUrl }), ['x-2']);
    });

    titled('a repeated receive attempt returns the same messages and handles', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs.fifo');
      await sendAll(c.client, QueueUrl, ['x-1', 'x-2', 'x-3']);
      const attempt = async (ReceiveRequestAttemptId: string): Promise<unknown> => {
        const messages = await receive(c.client, {
          QueueUrl,
          ReceiveRequestAttemptId,
          MaxNumberOfMessages: 2,
        });
        return messages.map(({ MessageId, ReceiptHandle, Body }) => ({
          MessageId,
          ReceiptHandle,
          Body,
        }));
      };
      const first = await attempt('attempt-1');
      assert.equal((first as unknown[]).length, 2);
      assert.deepEqual(await attempt('attempt-1'), first);
      assert.deepEqual(await attempt('attempt-2'), []);
    });

    titled('an expired handle deletes nothing', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs.fifo');
      await sendAll(c.client, QueueUrl, ['x-1']);
      const [message] = await receive(c.client, { QueueUrl });
      await c.server.clock.advance(visibility);
      await refused(
        remove(c.client, QueueUrl, message),
        'InvalidParameterValue',
        400,
        /The receipt handle has expired/,
      );
      assert.deepEqual(await bodies(c.client, { QueueUrl }), ['x-1']);
    });

    titled('a message received too often goes to the dead-letter queue', async (c) => {
      const { deadUrl, QueueUrl, arn } = await createWithDeadLetters(c.client, 2);
      const sources = await c.client.call('ListDeadLetterSourceQueues', { QueueUrl: deadUrl });
      assert.deepEqual(sources.queueUrls, [QueueUrl]);
      const sent = await sendAll(c.client, QueueUrl, ['x-1', 'x-2']);
      for (let time = 0; time < 2; time += 1) {
        assert.deepEqual(await bodies(c.client, { QueueUrl }, 1), ['x-1']);
        await c.server.clock.advance(visibility);
      }
      assert.deepEqual(await bodies(c.client, { QueueUrl }, 1), ['x-2']);
      const [dead] = await receive(c.client, { QueueUrl: deadUrl, AttributeNames: ['All'] });
      assert.equal(dead?.MessageId, sent[0]);
      assert.equal(dead?.Attributes?.DeadLetterQueueSourceArn, arn);
      assert.equal(dead?.Attributes?.MessageGroupId, 'x');
    });

    titled('a move task returns dead letters to their source', async (c, t) => {
      if (!c.client.has('StartMessageMoveTask')) {
        t.skip('this client is from before June 2023 and has no move tasks');
        return;
      }
      const { deadUrl, deadArn, QueueUrl } = await createWithDeadLetters(c.client, 1);
      await sendAll(c.client, QueueUrl, ['x-1', 'x-2', 'x-3']);
      await bodies(c.client, { QueueUrl });
      await c.server.clock.advance(visibility);
      assert.deepEqual(await bodies(c.client, { QueueUrl }), []);
      const { TaskHandle } = await c.client.call('StartMessageMoveTask', {
        SourceArn: deadArn,
        MaxNumberOfMessagesPerSecond: 1,
      });
      const task = async () => {
        const { Results } = await c.client.call('ListMessageMoveTasks', { SourceArn: deadArn });
        return Results?.[0];
      };
      const running = await task();
      assert.deepEqual(
        [running?.Status, running?.TaskHandle, running?.ApproximateNumberOfMessagesToMove],
        ['RUNNING', TaskHandle, 3],
      );
      await c.server.clock.advance(1);
      const { ApproximateNumberOfMessagesMoved } = await c.client.call('CancelMessageMoveTask', {
        TaskHandle,
      });
      assert.equal(ApproximateNumberOfMessagesMoved, 2);
      await c.server.clock.advance(5);
      assert.equal((await task())?.Status, 'CANCELLED');
      assert.deepEqual(await bodies(c.client, { QueueUrl }), ['x-1', 'x-2']);
      await c.client.call('StartMessageMoveTask', { SourceArn: deadArn });
      await c.server.clock.advance(5);
      assert.equal((await task())?.Status, 'COMPLETED');
      assert.deepEqual(await bodies(c.client, { QueueUrl: deadUrl }), []);
      await c.server.clock.advance(visibility);
      assert.deepEqual(await bodies(c.client, { QueueUrl }), ['x-3']);
    });
  });
}
