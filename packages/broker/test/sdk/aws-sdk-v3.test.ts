/**
 * The AWS SDK for JavaScript v3, which speaks JSON: the tests that all clients share, and what this client shows best: its
 * exception classes, the header of duplicates, and the addresses in queue URLs. Its long polls are in v3-long-polls.test.ts.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  BatchEntryIdsNotDistinct,
  BatchRequestTooLong,
  EmptyBatchRequest,
  InvalidAttributeName,
  InvalidAttributeValue,
  InvalidBatchEntryId,
  InvalidMessageContents,
  OverLimit,
  PurgeQueueInProgress,
  QueueDeletedRecently,
  QueueDoesNotExist,
  QueueNameExists,
  ReceiptHandleIsInvalid,
  ResourceNotFoundException,
  type SQS,
  SQSServiceException,
  TooManyEntriesInBatchRequest,
  UnsupportedOperation,
} from '@aws-sdk/client-sqs';
import { everydayLife } from './everyday-life.ts';
import { openServer, testMsMax } from './fixture.ts';
import { v3 } from './v3-client.ts';
import { bodies, openClient, openQueue, receive, send } from './v3-verbs.ts';

const timed = { timeout: testMsMax };

describe('aws-sdk v3', () => {
  everydayLife(v3);

  describe('exceptions', () => {
    type Call = (sqs: SQS, QueueUrl: string) => Promise<unknown>;
    type ExceptionClass = new (...args: never[]) => SQSServiceException;
    const entries = (count: number, MessageBody = 'a') =>
      Array.from({ length: count }, (_, index) => ({ Id: `id-${index}`, MessageBody }));
    const arn = 'arn:aws:sqs:us-east-1:000000000000:missing';
    const modeled: [ExceptionClass, number, Call][] = [
      [QueueDoesNotExist, 400, (sqs) => sqs.getQueueUrl({ QueueName: 'missing' })],
      [
        QueueNameExists,
        400,
        (sqs) => sqs.createQueue({ QueueName: 'jobs', Attributes: { DelaySeconds: '9' } }),
      ],
      [
        QueueDeletedRecently,
        400,
        async (sqs, QueueUrl) => {
          await sqs.deleteQueue({ QueueUrl });
          await sqs.createQueue({ QueueName: 'jobs' });
        },
      ],
      [
        PurgeQueueInProgress,
        403,
        async (sqs, QueueUrl) => {
          await sqs.purgeQueue({ QueueUrl });
          await sqs.purgeQueue({ QueueUrl });
        },
      ],
      [
        InvalidAttributeName,
        400,
        (sqs, QueueUrl) =>
          sqs.setQueueAttributes({ QueueUrl, Attributes: { QueueArn: 'x' } as never }),
      ],
      [
        InvalidAttributeValue,
        400,
        (sqs, QueueUrl) => sqs.setQueueAttributes({ QueueUrl, Attributes: { DelaySeconds: 'x' } }),
      ],
      [
        InvalidMessageContents,
        400,
        (sqs, QueueUrl) => sqs.sendMessage({ QueueUrl, MessageBody: 'a\u0000b' }),
      ],
      [
        UnsupportedOperation,
        400,
        (sqs, QueueUrl) => {
          const list = { DataType: 'String', StringListValues: ['a'] };
          return sqs.sendMessage({ QueueUrl, MessageBody: 'a', MessageAttributes: { list } });
        },
      ],
      [
        ReceiptHandleIsInvalid,
        404,
        (sqs, QueueUrl) => sqs.deleteMessage({ QueueUrl, ReceiptHandle: 'none' }),
      ],
      [
        EmptyBatchRequest,
        400,
        (sqs, QueueUrl) => sqs.sendMessageBatch({ QueueUrl, Entries: entries(0) }),
      ],
      [
        TooManyEntriesInBatchRequest,
        400,
        (sqs, QueueUrl) => sqs.sendMessageBatch({ QueueUrl, Entries: entries(11) }),
      ],
      [
        BatchEntryIdsNotDistinct,
        400,
        (sqs, QueueUrl) =>
          sqs.sendMessageBatch({ QueueUrl, Entries: [...entries(1), ...entries(1)] }),
      ],
      [
        InvalidBatchEntryId,
        400,
        (sqs, QueueUrl) =>
          sqs.sendMessageBatch({ QueueUrl, Entries: [{ Id: 'a.b', MessageBody: 'a' }] }),
      ],
      [
        BatchRequestTooLong,
        400,
        (sqs, QueueUrl) =>
          sqs.sendMessageBatch({ QueueUrl, Entries: entries(2, 'x'.repeat(524_289)) }),
      ],
      [
        OverLimit,
        403,
        (sqs, QueueUrl) =>
          sqs.addPermission({
            QueueUrl,
            Label: 'many',
            AWSAccountIds: ['111111111111'],
            Actions: Array.from({ length: 8 }, () => 'SendMessage'),
          }),
      ],
      [ResourceNotFoundException, 404, (sqs) => sqs.startMessageMoveTask({ SourceArn: arn })],
    ];

    for (const [Exception, status, call] of modeled) {
      const { name } = Exception;
      test(
        `${name} is thrown as an instance of its class, with status ${status}`,
        timed,
        async (t) => {
          const { sqs, QueueUrl } = await openQueue(t, 'jobs');
          await assert.rejects(call(sqs, QueueUrl), (error) => {
            assert.ok(error instanceof Exception, String(error));
            assert.deepEqual([error.name, error.$metadata.httpStatusCode], [name, status]);
            assert.equal(error.$fault, 'client');
            assert.match(error.$metadata.requestId ?? '', /^[0-9a-f-]{36}$/);
            return true;
          });
        },
      );
    }

    test('an error without its own class is named by its code', timed, async (t) => {
      const { sqs, QueueUrl } = await openQueue(t, 'jobs');
      const calls: [string, Promise<unknown>][] = [
        ['InvalidParameterValue', sqs.receiveMessage({ QueueUrl, WaitTimeSeconds: 21 })],
        ['MissingParameter', sqs.sendMessage({ QueueUrl, MessageBody: undefined })],
      ];
      for (const [name, call] of calls) {
        await assert.rejects(call, (error) => {
          assert.ok(error instanceof SQSServiceException, String(error));
          assert.deepEqual([error.name, error.$metadata.httpStatusCode], [name, 400]);
          return true;
        });
      }
    });
  });

  describe('duplicates', () => {
    test('a header names the message that a send was a duplicate of', timed, async (t) => {
      const { sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
      const originals: (string | undefined)[] = [];
      sqs.middlewareStack.add(
        (next) => async (args) => {
          const result = await next(args);
          const { headers } = result.response as { headers: Record<string, string> };
          originals.push(headers['x-oncemq-duplicate-of']);
          return result;
        },
        { step: 'deserialize' },
      );
      const first = await send(sqs, QueueUrl, 'x-1');
      const again = await send(sqs, QueueUrl, 'x-1');
      assert.deepEqual(originals, [undefined, first.MessageId]);
      assert.equal(again.MessageId, first.MessageId);
    });

    test('a duplicate with another body passes the MD5 check', timed, async (t) => {
      const { sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
      const fifo = { QueueUrl, MessageGroupId: 'x', MessageDeduplicationId: 'd' };
      const first = await sqs.sendMessage({ ...fifo, MessageBody: 'a' });
      const again = await sqs.sendMessage({ ...fifo, MessageBody: 'b' });
      assert.equal(again.MessageId, first.MessageId);
      assert.notEqual(again.MD5OfMessageBody, first.MD5OfMessageBody);
    });

    test('a duplicate is suppressed even after its message was deleted', timed, async (t) => {
      const { sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
      const { MessageId } = await send(sqs, QueueUrl, 'x-1');
      const [message] = await receive(sqs, QueueUrl);
      await sqs.deleteMessage({ QueueUrl, ReceiptHandle: message?.ReceiptHandle });
      assert.equal((await send(sqs, QueueUrl, 'x-1')).MessageId, MessageId);
      assert.deepEqual(await receive(sqs, QueueUrl), []);
    });

    test('of many concurrent sends with one id, one becomes a message', timed, async (t) => {
      const { sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
      const sends = Array.from({ length: 20 }, () => send(sqs, QueueUrl, 'x-1'));
      const ids = new Set((await Promise.all(sends)).map(({ MessageId }) => MessageId));
      assert.equal(ids.size, 1);
      assert.equal((await receive(sqs, QueueUrl)).length, 1);
    });

    test('a FIFO batch without a group for each entry sends nothing', timed, async (t) => {
      const { sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
      const Entries = [
        { Id: 'a', MessageBody: 'a', MessageGroupId: 'x', MessageDeduplicationId: 'a' },
        { Id: 'b', MessageBody: 'b', MessageDeduplicationId: 'b' },
      ];
      await assert.rejects(sqs.sendMessageBatch({ QueueUrl, Entries }), {
        name: 'InvalidParameterValue',
        message: 'The request must contain the parameter MessageGroupId.',
      });
      assert.deepEqual(await receive(sqs, QueueUrl), []);
    });

    test('a purge lets an id be used again', timed, async (t) => {
      const { sqs, QueueUrl } = await openQueue(t, 'jobs.fifo');
      const { MessageId } = await send(sqs, QueueUrl, 'x-1');
      await sqs.purgeQueue({ QueueUrl });
      assert.notEqual((await send(sqs, QueueUrl, 'x-1')).MessageId, MessageId);
    });
  });

  describe('queue URLs', () => {
    test('they use the address that the client used', timed, async (t) => {
      const server = await openServer(t);
      const { port } = new URL(server.url);
      for (const host of ['127.0.0.1', 'localhost']) {
        const sqs = openClient(t, `http://${host}:${port}`);
        const { QueueUrl } = await sqs.createQueue({ QueueName: 'jobs' });
        assert.equal(QueueUrl, `http://${host}:${port}/000000000000/jobs`);
        const { QueueUrls } = await sqs.listQueues({});
        assert.deepEqual(QueueUrls, [QueueUrl]);
        await sqs.sendMessage({ QueueUrl, MessageBody: host });
        assert.deepEqual(bodies(await receive(sqs, QueueUrl ?? '')), [host]);
      }
    });

    test('they use the public URL if there is one, and still work', timed, async (t) => {
      const server = await openServer(t, { publicUrl: 'https://queues.example' });
      const sqs = openClient(t, server.url);
      const { QueueUrl = '' } = await sqs.createQueue({ QueueName: 'jobs' });
      assert.equal(QueueUrl, 'https://queues.example/000000000000/jobs');
      await sqs.sendMessage({ QueueUrl, MessageBody: 'a' });
      assert.deepEqual(bodies(await receive(sqs, QueueUrl)), ['a']);
    });

    test('the bare name identifies the queue', timed, async (t) => {
      const { sqs } = await openQueue(t, 'jobs.fifo');
      await send(sqs, 'jobs.fifo', 'x-1');
      assert.deepEqual(bodies(await receive(sqs, 'jobs.fifo')), ['x-1']);
    });

    test('account and region are those of the server', timed, async (t) => {
      const server = await openServer(t, { account: '123456789012', region: 'eu-central-1' });
      const sqs = openClient(t, server.url);
      const { QueueUrl } = await sqs.createQueue({ QueueName: 'jobs' });
      assert.equal(QueueUrl, `${server.url}/123456789012/jobs`);
      const { Attributes } = await sqs.getQueueAttributes({
        QueueUrl,
        AttributeNames: ['QueueArn'],
      });
      assert.equal(Attributes?.QueueArn, 'arn:aws:sqs:eu-central-1:123456789012:jobs');
    });
  });

  test('a message of 1 MiB is accepted, one byte more is not', timed, async (t) => {
    const { sqs, QueueUrl } = await openQueue(t, 'jobs');
    const MessageBody = 'é'.repeat(524_288);
    await sqs.sendMessage({ QueueUrl, MessageBody });
    assert.deepEqual(bodies(await receive(sqs, QueueUrl)), [MessageBody]);
    await assert.rejects(sqs.sendMessage({ QueueUrl, MessageBody: `${MessageBody}a` }), {
      name: 'InvalidParameterValue',
      message: /Message must be shorter than 1048576 bytes/,
    });
  });
});
