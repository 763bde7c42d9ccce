/**
 * Long polls of the AWS SDK for JavaScript v3: what wakes them, who is served first, and clients that disconnect.
 *
 * No long poll here can end by itself: the clock stands still, so a poll that nothing wakes runs into the test's timeout.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SQS } from '@aws-sdk/client-sqs';
import type { TestServer } from '../../src/testing.ts';
import { visibility } from './client-verbs.ts';
import { nextArrival, testMsMax } from './fixture.ts';
import { bodies, openQueue, receive, send } from './v3-verbs.ts';

const timed = { timeout: testMsMax };

describe('long polls of aws-sdk v3', () => {
  test('the end of a visibility timeout wakes one', timed, async (t) => {
    const { server, sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
    await send(sqs, QueueUrl, 'x-1');
    await receive(sqs, QueueUrl, { VisibilityTimeout: 15 });
    const { answer } = await longPoll(server, sqs, QueueUrl);
    await server.clock.advance(15);
    assert.deepEqual(await answer, ['x-1']);
  });

  test('a timeout set to zero wakes one', timed, async (t) => {
    const { server, sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
    await send(sqs, QueueUrl, 'x-1');
    const [message] = await receive(sqs, QueueUrl);
    const { answer } = await longPoll(server, sqs, QueueUrl);
    const { ReceiptHandle } = message ?? {};
    await sqs.changeMessageVisibility({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 });
    assert.deepEqual(await answer, ['x-1']);
  });

  test('a delete that unblocks the group wakes one', timed, async (t) => {
    const { server, sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
    await send(sqs, QueueUrl, 'x-1');
    await send(sqs, QueueUrl, 'x-2');
    const [message] = await receive(sqs, QueueUrl, { MaxNumberOfMessages: 1 });
    const { answer } = await longPoll(server, sqs, QueueUrl);
    await sqs.deleteMessage({ QueueUrl, ReceiptHandle: message?.ReceiptHandle });
    assert.deepEqual(await answer, ['x-2']);
  });

  test('the end of a delay wakes one', timed, async (t) => {
    const { server, sqs, QueueUrl } = await openQueue(t, 'jobs');
    await sqs.sendMessage({ QueueUrl, MessageBody: 'a', DelaySeconds: 10 });
    const { answer } = await longPoll(server, sqs, QueueUrl);
    await server.clock.advance(10);
    assert.deepEqual(await answer, ['a']);
  });

  test('a dead letter wakes one at the dead-letter queue', timed, async (t) => {
    const { server, sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
    const dead = await sqs.createQueue({
      QueueName: 'dead.fifo',
      Attributes: { FifoQueue: 'true' },
    });
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:dead.fifo',
      maxReceiveCount: 1,
    });
    await sqs.setQueueAttributes({ QueueUrl, Attributes: { RedrivePolicy } });
    await send(sqs, QueueUrl, 'x-1');
    await receive(sqs, QueueUrl, { VisibilityTimeout: 0 });
    const { answer } = await longPoll(server, sqs, dead.QueueUrl ?? '');
    assert.deepEqual(await receive(sqs, QueueUrl), []);
    assert.deepEqual(await answer, ['x-1']);
  });

  test('the one that has waited longest is served first', timed, async (t) => {
    const { server, sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
    const polls = [
      await longPoll(server, sqs, QueueUrl),
      await longPoll(server, sqs, QueueUrl),
      await longPoll(server, sqs, QueueUrl),
    ];
    for (const body of ['x-1', 'y-1', 'z-1']) await send(sqs, QueueUrl, body);
    assert.deepEqual(await Promise.all(polls.map(({ answer }) => answer)), [
      ['x-1'],
      ['y-1'],
      ['z-1'],
    ]);
  });

  test("the queue's wait time applies if a receive gives none", timed, async (t) => {
    const { server, sqs, QueueUrl } = await openQueue(t, 'jobs', {
      ReceiveMessageWaitTimeSeconds: '20',
    });
    const { answer } = await longPoll(server, sqs, QueueUrl, { WaitTimeSeconds: undefined });
    await sqs.sendMessage({ QueueUrl, MessageBody: 'a' });
    assert.deepEqual(await answer, ['a']);
    assert.deepEqual(await receive(sqs, QueueUrl, { WaitTimeSeconds: 0 }), []);
  });

  test('one that its client aborted takes no message', timed, async (t) => {
    const { server, sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
    const given = new AbortController();
    const arrival = nextArrival(server);
    const poll = sqs.receiveMessage(
      { QueueUrl, WaitTimeSeconds: 20 },
      { abortSignal: given.signal },
    );
    const { ended } = await arrival;
    given.abort();
    await assert.rejects(poll, { name: 'AbortError' });
    await ended;
    await send(sqs, QueueUrl, 'x-1');
    const [message] = await receive(sqs, QueueUrl);
    assert.equal(message?.Body, 'x-1');
    assert.equal(message?.Attributes?.ApproximateReceiveCount, '1');
  });

  test('one aborted at the moment of a send loses no message', timed, async (t) => {
    const { server, sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
    const given = new AbortController();
    const arrival = nextArrival(server);
    const poll = sqs.receiveMessage(
      { QueueUrl, WaitTimeSeconds: 20 },
      { abortSignal: given.signal },
    );
    const { ended } = await arrival;
    const sent = send(sqs, QueueUrl, 'x-1');
    given.abort();
    await assert.rejects(poll, { name: 'AbortError' });
    await Promise.all([sent, ended]);
    // The server may have answered before it noticed; then the message comes back at its timeout.
    await server.clock.advance(visibility);
    assert.deepEqual(bodies(await receive(sqs, QueueUrl)), ['x-1']);
  });

  test('a stopping server ends them empty', timed, async (t) => {
    const { server, sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
    const { answer } = await longPoll(server, sqs, QueueUrl);
    await server.close();
    assert.deepEqual(await answer, []);
  });
});

/** Resolves once the receive is waiting at the server; `answer` resolves to the bodies that it gets. */
async function longPoll(
  server: TestServer,
  sqs: SQS,
  QueueUrl: string,
  input: { WaitTimeSeconds?: number | undefined } = { WaitTimeSeconds: 20 },
): Promise<{ answer: Promise<(string | undefined)[]> }> {
  const arrival = nextArrival(server);
  const answer = receive(sqs, QueueUrl, input).then(bodies);
  await arrival;
  return { answer };
}
