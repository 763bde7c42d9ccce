/**
 * What every AWS client must be able to do here, whatever its language and wire form: the life of queues and messages
 * from creation to the dead-letter queue and back; what only FIFO queues have is in fifo-life.ts. Each test has its own
 * server, whose clock stands still until the test moves it.
 *
 * What is specific to one client (exception classes, abort signals) is tested in that client's own file.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  attributesOf,
  bodies,
  createQueue,
  nameOf,
  receive,
  refused,
  sendAll,
  visibility,
} from './client-verbs.ts';
import { fifoLife, type Titled } from './fifo-life.ts';
import { nextArrival, open, testMsMax } from './fixture.ts';
import type { ClientKind, Input } from './wire-client.ts';

/** Everything that XML treats specially, and characters of one to four bytes. */
const awkwardText = ' <a href="x">&amp; \'q\' ]]>\ttab\nline\rreturn\r\nboth é 漢字 😀 \u2028 end ';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function everydayLife(kind: ClientKind): void {
  const titled: Titled = (title, body) => {
    test(title, { timeout: testMsMax }, async (t) => body(await open(t, kind), t));
  };

  titled('it uses the wire form it stands for', async ({ server, client }) => {
    const arrival = nextArrival(server);
    await client.call('ListQueues', {});
    const { headers } = await arrival;
    const type = kind.wire === 'json' ? 'application/x-amz-json-1.0' : 'x-www-form-urlencoded';
    assert.match(String(headers['content-type']), new RegExp(type));
  });

  describe('queues', () => {
    titled('a queue is found by its name, and creating it again gives its URL', async (c) => {
      const { QueueUrl } = await c.client.call('CreateQueue', {
        QueueName: 'jobs.fifo',
        Attributes: { FifoQueue: 'true', VisibilityTimeout: '45' },
      });
      assert.equal(QueueUrl, `${c.server.url}/000000000000/jobs.fifo`);
      const again = await c.client.call('CreateQueue', {
        QueueName: 'jobs.fifo',
        Attributes: { FifoQueue: 'true' },
      });
      assert.equal(again.QueueUrl, QueueUrl);
      const found = await c.client.call('GetQueueUrl', { QueueName: 'jobs.fifo' });
      assert.equal(found.QueueUrl, QueueUrl);
      const attributes = await attributesOf(c.client, QueueUrl);
      assert.equal(attributes['QueueArn'], 'arn:aws:sqs:us-east-1:000000000000:jobs.fifo');
      assert.equal(attributes['VisibilityTimeout'], '45');
      assert.equal(attributes['FifoQueue'], 'true');
    });

    titled('a list in pages has every queue with the prefix once, in order', async (c) => {
      for (const name of ['a-1', 'a-2', 'a-3', 'b-1']) await createQueue(c.client, name);
      const pages: string[][] = [];
      let NextToken: string | undefined;
      do {
        const page = await c.client.call('ListQueues', {
          QueueNamePrefix: 'a-',
          MaxResults: 2,
          ...(NextToken === undefined ? {} : { NextToken }),
        });
        pages.push((page.QueueUrls ?? []).map(nameOf));
        NextToken = page.NextToken;
      } while (NextToken !== undefined && pages.length < 4);
      assert.deepEqual(pages, [['a-1', 'a-2'], ['a-3']]);
      const none = await c.client.call('ListQueues', { QueueNamePrefix: 'c' });
      assert.deepEqual(none.QueueUrls ?? [], []);
    });

    titled('attributes are shown as they were set', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      await c.client.call('SetQueueAttributes', {
        QueueUrl,
        Attributes: { DelaySeconds: '7', MessageRetentionPeriod: '600' },
      });
      const { Attributes } = await c.client.call('GetQueueAttributes', {
        QueueUrl,
        AttributeNames: ['DelaySeconds', 'MessageRetentionPeriod'],
      });
      assert.deepEqual(Attributes, { DelaySeconds: '7', MessageRetentionPeriod: '600' });
    });

    titled('tags are stored as given, replaced and removed', async (c) => {
      const { QueueUrl } = await c.client.call('CreateQueue', {
        QueueName: 'jobs',
        tags: { team: 'mail + post', stage: 'test' },
      });
      await c.client.call('TagQueue', { QueueUrl, Tags: { team: 'post', empty: '' } });
      await c.client.call('UntagQueue', { QueueUrl, TagKeys: ['stage', 'unknown'] });
      const { Tags } = await c.client.call('ListQueueTags', { QueueUrl });
      assert.deepEqual(Tags, { team: 'post', empty: '' });
      await c.client.call('UntagQueue', { QueueUrl, TagKeys: ['team', 'empty'] });
      const none = await c.client.call('ListQueueTags', { QueueUrl });
      assert.deepEqual(none.Tags ?? {}, {});
    });

    titled('a permission is a statement of the policy until it is removed', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      await c.client.call('AddPermission', {
        QueueUrl,
        Label: 'partner',
        AWSAccountIds: ['111111111111', '222222222222'],
        Actions: ['SendMessage', 'ReceiveMessage'],
      });
      const policy = JSON.parse((await attributesOf(c.client, QueueUrl))['Policy'] ?? '{}');
      assert.equal(policy.Statement.length, 1);
      assert.equal(policy.Statement[0].Sid, 'partner');
      assert.deepEqual(policy.Statement[0].Principal.AWS, [
        'arn:aws:iam::111111111111:root',
        'arn:aws:iam::222222222222:root',
      ]);
      assert.deepEqual(policy.Statement[0].Action, ['SQS:SendMessage', 'SQS:ReceiveMessage']);
      await c.client.call('RemovePermission', { QueueUrl, Label: 'partner' });
      assert.equal((await attributesOf(c.client, QueueUrl))['Policy'], undefined);
    });

    titled('a policy is returned as the text that was set', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      const Policy = JSON.stringify({
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: '*', Action: 'sqs:SendMessage', Resource: '*' }],
      });
      await c.client.call('SetQueueAttributes', { QueueUrl, Attributes: { Policy } });
      assert.equal((await attributesOf(c.client, QueueUrl))['Policy'], Policy);
    });

    titled('the name of a deleted queue is free again after 60 seconds', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      await c.client.call('DeleteQueue', { QueueUrl });
      await refused(
        c.client.call('CreateQueue', { QueueName: 'jobs' }),
        'AWS.SimpleQueueService.QueueDeletedRecently',
        400,
      );
      await c.server.clock.advance(60);
      await c.client.call('CreateQueue', { QueueName: 'jobs' });
    });

    titled('a purge removes all messages, and the next is allowed after 60 seconds', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      await c.client.call('SendMessage', { QueueUrl, MessageBody: 'a' });
      await c.client.call('PurgeQueue', { QueueUrl });
      assert.deepEqual(await receive(c.client, { QueueUrl }), []);
      await refused(
        c.client.call('PurgeQueue', { QueueUrl }),
        'AWS.SimpleQueueService.PurgeQueueInProgress',
        403,
      );
      await c.server.clock.advance(60);
      await c.client.call('PurgeQueue', { QueueUrl });
    });
  });

  describe('messages', () => {
    titled('a message is returned character for character, with its attributes', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const MessageAttributes = {
        text: { DataType: 'String', StringValue: awkwardText },
        'count.total': { DataType: 'Number.int', StringValue: '-12.50' },
        bytes: { DataType: 'Binary.png', BinaryValue: bytes },
      };
      await c.client.call('SendMessage', {
        QueueUrl,
        MessageBody: awkwardText,
        MessageAttributes,
        MessageSystemAttributes: {
          AWSTraceHeader: { DataType: 'String', StringValue: 'Root=1-5759e988' },
        },
      });
      const [message] = await receive(c.client, {
        QueueUrl,
        AttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      });
      assert.equal(message?.Body, awkwardText);
      assert.equal(message?.Attributes?.AWSTraceHeader, 'Root=1-5759e988');
      assert.equal(message?.Attributes?.ApproximateReceiveCount, '1');
      const { text, bytes: binary, 'count.total': count } = message?.MessageAttributes ?? {};
      assert.deepEqual(
        [text?.DataType, text?.StringValue, count?.DataType, count?.StringValue],
        ['String', awkwardText, 'Number.int', '-12.50'],
      );
      assert.equal(binary?.DataType, 'Binary.png');
      assert.deepEqual(new Uint8Array(binary?.BinaryValue ?? []), bytes);
    });

    titled('digests are those that AWS computes', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      const sent = await c.client.call('SendMessage', {
        QueueUrl,
        MessageBody: 'hello',
        MessageAttributes: {
          color: { DataType: 'String', StringValue: 'blue' },
          count: { DataType: 'Number', StringValue: '3' },
          blob: { DataType: 'Binary', BinaryValue: Uint8Array.of(1, 2, 3) },
        },
      });
      assert.equal(sent.MD5OfMessageBody, '5d41402abc4b2a76b9719d911017c592');
      assert.equal(sent.MD5OfMessageAttributes, 'd838729972a4b70e2d2acd9d59ac847c');
      assert.match(sent.MessageId ?? '', uuid);
      const [message] = await receive(c.client, { QueueUrl, MessageAttributeNames: ['All'] });
      assert.equal(message?.MD5OfBody, '5d41402abc4b2a76b9719d911017c592');
      assert.equal(message?.MD5OfMessageAttributes, 'd838729972a4b70e2d2acd9d59ac847c');
    });

    titled('only the requested attributes are returned', async (c) => {
      // Go's SDK cannot ask for a timeout of 0 when it receives: the queue has it.
      const { QueueUrl } = await c.client.call('CreateQueue', {
        QueueName: 'jobs',
        Attributes: { VisibilityTimeout: '0' },
      });
      const value = { DataType: 'String', StringValue: 'x' };
      await c.client.call('SendMessage', {
        QueueUrl,
        MessageBody: 'a',
        MessageAttributes: { 'trace.a': value, 'trace.b': value, other: value },
      });
      const look = async (input: Omit<Input<'ReceiveMessage'>, 'QueueUrl'>): Promise<unknown> => {
        const [message] = await receive(c.client, { QueueUrl, ...input });
        return [message?.Attributes, message?.MessageAttributes].map((found) =>
          Object.keys(found ?? {}).sort(),
        );
      };
      assert.deepEqual(await look({}), [[], []]);
      assert.deepEqual(await look({ AttributeNames: ['SenderId'] as never }), [['SenderId'], []]);
      assert.deepEqual(await look({ MessageAttributeNames: ['trace.*'] }), [
        [],
        ['trace.a', 'trace.b'],
      ]);
    });

    titled('a batch is sent except for the invalid entry', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      const { Successful, Failed } = await c.client.call('SendMessageBatch', {
        QueueUrl,
        Entries: [
          { Id: 'first', MessageBody: awkwardText },
          { Id: 'late', MessageBody: 'b', DelaySeconds: 901 },
          { Id: 'third', MessageBody: 'c', DelaySeconds: 5 },
        ],
      });
      assert.deepEqual(
        Successful?.map(({ Id }) => Id),
        ['first', 'third'],
      );
      assert.deepEqual(
        Failed?.map(({ Id, Code, SenderFault }) => ({ Id, Code, SenderFault })),
        [{ Id: 'late', Code: 'InvalidParameterValue', SenderFault: true }],
      );
      assert.match(Failed?.[0]?.Message ?? '', /DelaySeconds must be >= 0 and <= 900/);
      assert.deepEqual(await bodies(c.client, { QueueUrl }), [awkwardText]);
      await c.server.clock.advance(5);
      assert.deepEqual(await bodies(c.client, { QueueUrl }), ['c']);
    });

    titled('a batch of deletes succeeds except for the invalid handle', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      await sendAll(c.client, QueueUrl, ['a', 'b']);
      const received = await receive(c.client, { QueueUrl, MaxNumberOfMessages: 10 });
      const { Successful, Failed } = await c.client.call('DeleteMessageBatch', {
        QueueUrl,
        Entries: [
          { Id: 'one', ReceiptHandle: received[0]?.ReceiptHandle },
          { Id: 'two', ReceiptHandle: 'no handle' },
          { Id: 'three', ReceiptHandle: received[1]?.ReceiptHandle },
        ],
      });
      assert.deepEqual(
        Successful?.map(({ Id }) => Id),
        ['one', 'three'],
      );
      assert.deepEqual(
        Failed?.map(({ Id, Code, SenderFault }) => ({ Id, Code, SenderFault })),
        [{ Id: 'two', Code: 'ReceiptHandleIsInvalid', SenderFault: true }],
      );
      await c.server.clock.advance(visibility);
      assert.deepEqual(await bodies(c.client, { QueueUrl }), []);
    });

    titled('a message is hidden for its visibility timeout', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      await sendAll(c.client, QueueUrl, ['a']);
      const [first] = await receive(c.client, { QueueUrl, VisibilityTimeout: 10 });
      await c.client.call('ChangeMessageVisibility', {
        QueueUrl,
        ReceiptHandle: first?.ReceiptHandle,
        VisibilityTimeout: 100,
      });
      await c.server.clock.advance(99);
      assert.deepEqual(await bodies(c.client, { QueueUrl }), []);
      await c.server.clock.advance(1);
      const [again] = await receive(c.client, { QueueUrl, AttributeNames: ['All'] });
      assert.equal(again?.Attributes?.ApproximateReceiveCount, '2');
      await c.client.call('ChangeMessageVisibility', {
        QueueUrl,
        ReceiptHandle: again?.ReceiptHandle,
        VisibilityTimeout: 0,
      });
      assert.deepEqual(await bodies(c.client, { QueueUrl }), ['a']);
    });

    titled('timeouts changed in a batch apply to each message separately', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      await sendAll(c.client, QueueUrl, ['a', 'b', 'c']);
      const received = await receive(c.client, { QueueUrl, MaxNumberOfMessages: 10 });
      const timeouts = [1, 43_201, 200];
      const { Successful, Failed } = await c.client.call('ChangeMessageVisibilityBatch', {
        QueueUrl,
        Entries: received.map(({ Body, ReceiptHandle }, index) => ({
          Id: Body,
          ReceiptHandle,
          VisibilityTimeout: timeouts[index],
        })),
      });
      assert.deepEqual(
        [Successful?.map(({ Id }) => Id), Failed?.map(({ Id }) => Id)],
        [['a', 'c'], ['b']],
      );
      assert.deepEqual(await bodies(c.client, { QueueUrl }), []);
      await c.server.clock.advance(1);
      assert.deepEqual(await bodies(c.client, { QueueUrl }), ['a']);
      await c.server.clock.advance(visibility);
      // A standard queue promises no order.
      assert.deepEqual((await bodies(c.client, { QueueUrl })).sort(), ['a', 'b']);
      await c.server.clock.advance(199 - visibility);
      assert.deepEqual((await bodies(c.client, { QueueUrl })).sort(), ['a', 'b', 'c']);
    });

    titled('a long poll gets a message as soon as one is sent', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      const arrived = nextArrival(c.server);
      const waiting = bodies(c.client, { QueueUrl, WaitTimeSeconds: 20 });
      await arrived;
      await sendAll(c.client, QueueUrl, ['a']);
      assert.deepEqual(await waiting, ['a']);
    });

    titled('a long poll ends empty when its time is over', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      const arrived = nextArrival(c.server);
      const waiting = bodies(c.client, { QueueUrl, WaitTimeSeconds: 20 });
      await arrived;
      await c.server.clock.advance(20);
      assert.deepEqual(await waiting, []);
    });
  });

  fifoLife(titled);

  describe('errors', () => {
    titled('an error keeps its code, its status and its text', async (c) => {
      const QueueUrl = await createQueue(c.client, 'jobs');
      const missing = `${c.server.url}/000000000000/missing`;
      await refused(
        c.client.call('SendMessage', { QueueUrl: missing, MessageBody: 'a' }),
        'AWS.SimpleQueueService.NonExistentQueue',
        400,
        kind.wire === 'json'
          ? /The specified queue does not exist\./
          : /The specified queue does not exist for this wsdl version\./,
      );
      await refused(
        c.client.call('DeleteMessage', { QueueUrl, ReceiptHandle: '<&>' }),
        'ReceiptHandleIsInvalid',
        404,
        /The input receipt handle "<&>" is not a valid receipt handle\./,
      );
      await refused(
        c.client.call('ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 11 }),
        'InvalidParameterValue',
        400,
        /Value 11 for parameter MaxNumberOfMessages is invalid\./,
      );
      await refused(
        c.client.call('SendMessageBatch', {
          QueueUrl,
          Entries: ['a', 'a'].map((Id) => ({ Id, MessageBody: 'x' })),
        }),
        'AWS.SimpleQueueService.BatchEntryIdsNotDistinct',
        400,
        /Id a repeated\./,
      );
      await refused(
        c.client.call('SetQueueAttributes', { QueueUrl, Attributes: { Colour: 'red' } as never }),
        'InvalidAttributeName',
        400,
        /Unknown Attribute Colour\./,
      );
    });
  });
}
