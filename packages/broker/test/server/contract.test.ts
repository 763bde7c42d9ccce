/**
 * Queues with a contract, on a running server: what is refused and how, what is only reported, where reports can be read,
 * and which mistakes in a contract file are errors.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { SNS } from '@aws-sdk/client-sns';
import { SQS } from '@aws-sdk/client-sqs';
import { defineProducer } from '@oncemq/toolkit';
import { ConfigError } from '../../src/server/config/config.ts';
import { contractIn } from '../../src/server/contract/contract-file.ts';
import { startTestServer, type TestServer } from '../../src/testing.ts';

const producer = defineProducer<{ order: number }>({
  source: 'kfm.parts.orders',
  dedupeKey: ({ order }) => `order-${order}`,
  eventTime: () => '2025-12-04T00:00:00Z',
});
const good = producer.message({ order: 1 }).body;

function file(t: TestContext, content: unknown, name = 'contract.json'): string {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-contract-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function open(
  t: TestContext,
  queues: readonly object[],
): Promise<{ server: TestServer; client: SQS; url: (name: string) => Promise<string> }> {
  const contract = file(t, { queues });
  const server = await startTestServer({ clock: 'manual', contract });
  const client = new SQS({ ...server.clientConfig, maxAttempts: 1 });
  t.after(async () => {
    client.destroy();
    await server.close();
  });
  const url = async (QueueName: string): Promise<string> => {
    const Attributes = QueueName.endsWith('.fifo')
      ? { FifoQueue: 'true', ContentBasedDeduplication: 'true' }
      : {};
    return (await client.createQueue({ QueueName, Attributes })).QueueUrl as string;
  };
  return { server, client, url };
}

const envelope = { queue: 'orders*.fifo', contract: 'envelope', mode: 'reject' };

test('reject: a message that breaks the contract gets an error as from AWS and is not sent', async (t) => {
  const { server, client, url } = await open(t, [envelope]);
  const QueueUrl = await url('orders-1.fifo');
  await client.sendMessage({ QueueUrl, MessageBody: good, MessageGroupId: 'g' });
  await assert.rejects(
    client.sendMessage({ QueueUrl, MessageBody: '{"order":1}', MessageGroupId: 'g' }),
    (error: { name: string; message: string; $metadata: { httpStatusCode: number } }) => {
      assert.equal(error.name, 'InvalidParameterValue');
      assert.match(error.message, /contract of its queue \(body-not-envelope\)/);
      assert.equal(error.$metadata.httpStatusCode, 400);
      return true;
    },
  );
  const query = new URLSearchParams({ MessageBody: '{}', MessageGroupId: 'g' });
  const response = await fetch(`${QueueUrl}?Action=SendMessage&${query}`);
  assert.equal(response.status, 400);
  assert.match(await response.text(), /<Code>InvalidParameterValue<\/Code>/);
  assert.deepEqual(
    server.events.map(({ type }) => type),
    ['queue-created', 'sent', 'contract-violation', 'contract-violation'],
  );
});

test('a body member that cannot be converted to text breaks the contract, not the server', async (t) => {
  const { server, client, url } = await open(t, [
    envelope,
    { ...envelope, queue: '*', mode: 'observe' },
  ]);
  const MessageBody = JSON.stringify({ ...JSON.parse(good), event_id: { toString: 1 } });
  await assert.rejects(
    client.sendMessage({ QueueUrl: await url('orders.fifo'), MessageBody, MessageGroupId: 'g' }),
    /contract of its queue \(event-id-invalid\)/,
  );
  await client.sendMessage({
    QueueUrl: await url('others.fifo'),
    MessageBody,
    MessageGroupId: 'g',
  });
  assert.equal(server.events.filter(({ type }) => type === 'contract-violation').length, 2);
});

test('reject: an entry of a batch fails alone', async (t) => {
  const { client, url } = await open(t, [envelope]);
  const bodies = [good, '{}', producer.message({ order: 2 }).body];
  const Entries = bodies.map((MessageBody, index) => ({
    Id: `e${index}`,
    MessageBody,
    MessageGroupId: 'g',
  }));
  const { Successful, Failed } = await client.sendMessageBatch({
    QueueUrl: await url('orders.fifo'),
    Entries,
  });
  assert.deepEqual(
    Successful?.map(({ Id }) => Id),
    ['e0', 'e2'],
  );
  assert.deepEqual(
    Failed?.map(({ Id, Code, SenderFault }) => [Id, Code, SenderFault]),
    [['e1', 'InvalidParameterValue', true]],
  );
});

test('errors of the request itself are reported before the contract', async (t) => {
  const { client, url } = await open(t, [envelope]);
  const QueueUrl = await url('orders.fifo');
  const missing = QueueUrl.replace('orders', 'orders-none');
  const send = (input: object): Promise<unknown> =>
    client.sendMessage({ QueueUrl, MessageBody: '{}', MessageGroupId: 'g', ...input });
  await assert.rejects(send({ QueueUrl: missing }), { name: 'QueueDoesNotExist' });
  await assert.rejects(send({ MessageBody: 'x'.repeat(1_048_577) }), /1048576/);
  await assert.rejects(send({ MessageBody: '' }), { name: 'MissingParameter' });
});

test('observe: everything is sent, and violations can be read with their reasons', async (t) => {
  const { server, client, url } = await open(t, [{ ...envelope, mode: 'observe' }]);
  const QueueUrl = await url('orders.fifo');
  const unique_key = { DataType: 'String', StringValue: '1' };
  const message = { QueueUrl, MessageBody: '{"order":1}', MessageGroupId: 'g' };
  await client.sendMessage({ ...message, MessageAttributes: { unique_key } });
  // The forbidden pattern in action: another event with the same body.
  await client.sendMessage({
    ...message,
    MessageAttributes: { unique_key: { ...unique_key, StringValue: '2' } },
  });
  const answer = await fetch(`${server.url}/_oncemq/queues/orders.fifo/violations`);
  const { violations } = (await answer.json()) as { violations: Record<string, unknown>[] };
  assert.deepEqual(
    violations.map(({ type, rule, mode, differed }) => [type, rule ?? differed, mode]),
    [
      ['contract-violation', 'key-only-in-attributes', 'observe'],
      ['contract-violation', 'key-only-in-attributes', 'observe'],
      ['collision', ['attributes'], undefined],
    ],
  );
  assert.match(String(violations[0]?.['reason']), /attribute unique_key and not in the body/);
  const { Messages } = await client.receiveMessage({ QueueUrl });
  assert.equal(Messages?.[0]?.Body, '{"order":1}');
});

test('only the beginning of a large body that broke the contract is kept', async (t) => {
  const { server, client, url } = await open(t, [{ ...envelope, mode: 'observe' }]);
  const QueueUrl = await url('orders.fifo');
  const MessageBody = `{"order":"${'x'.repeat(1_000_000)}"}`;
  await client.sendMessage({ QueueUrl, MessageBody, MessageGroupId: 'g' });
  const answer = await fetch(`${server.url}/_oncemq/queues/orders.fifo/violations`);
  const { violations } = (await answer.json()) as { violations: { body: string }[] };
  assert.equal(violations[0]?.body, `${MessageBody.slice(0, 4_096)}…`);
});

test('a reset forgets violations', async (t) => {
  const { server, client, url } = await open(t, [{ ...envelope, mode: 'observe' }]);
  const QueueUrl = await url('orders.fifo');
  await client.sendMessage({ QueueUrl, MessageBody: '{"order":1}', MessageGroupId: 'g' });
  await server.reset();
  await url('orders.fifo');
  const answer = await fetch(`${server.url}/_oncemq/queues/orders.fifo/violations`);
  assert.deepEqual(await answer.json(), { violations: [] });
});

test('a queue without a contract is not checked, and the first matching pattern applies', async (t) => {
  const { client, url } = await open(t, [
    { ...envelope, queue: 'orders-?.fifo', mode: 'observe' },
    envelope,
  ]);
  const send = async (name: string): Promise<unknown> =>
    client.sendMessage({ QueueUrl: await url(name), MessageBody: '{}', MessageGroupId: 'g' });
  await send('other.fifo');
  await send('orders-1.fifo');
  await assert.rejects(send('orders-12.fifo'), /contract of its queue/);
});

test('a queue can be bound to any JSON Schema, in the file or beside it', async (t) => {
  const schema = { type: 'object', required: ['part'], properties: { part: { type: 'string' } } };
  const { client, url } = await open(t, [{ queue: 'prices', schema, mode: 'reject' }]);
  const QueueUrl = await url('prices');
  await client.sendMessage({ QueueUrl, MessageBody: '{"part":"brake pad"}' });
  await assert.rejects(
    client.sendMessage({ QueueUrl, MessageBody: '{"part":7}' }),
    /\/part must be string/,
  );
  await assert.rejects(client.sendMessage({ QueueUrl, MessageBody: 'part' }), /it is not JSON/);
  const beside = file(t, schema, 'prices.schema.json');
  const { queues } = contractIn(file(t, { queues: [{ queue: 'prices', schema: beside }] }));
  const judged = queues[0]?.judge({ body: '{}' });
  assert.equal(judged?.ok === false && judged.code, 'schema-violated');
});

test('a body nested as deeply as it is long is refused, and the server keeps running', async (t) => {
  const schema = {
    $defs: { list: { type: 'array', items: { $ref: '#/$defs/list' } } },
    $ref: '#/$defs/list',
  };
  const { server, client, url } = await open(t, [
    { queue: 'deep', schema, mode: 'reject' },
    envelope,
  ]);
  const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const deepest = nested(19_000);
  await assert.rejects(
    client.sendMessage({ QueueUrl: await url('deep'), MessageBody: deepest }),
    /nested too deeply/,
  );
  const deep = nested(200_000);
  await assert.rejects(
    client.sendMessage({ QueueUrl: await url('deep'), MessageBody: deep }),
    /more than 20000 JSON values/,
  );
  const QueueUrl = await url('orders.fifo');
  await assert.rejects(client.sendMessage({ QueueUrl, MessageBody: deep, MessageGroupId: 'g' }));
  assert.equal((await fetch(`${server.url}/_oncemq/health`)).status, 200);
});

test('large messages of a batch are each judged, and keep their order', async (t) => {
  const { server, client, url } = await open(t, [{ ...envelope, mode: 'observe' }]);
  const QueueUrl = await url('orders.fifo');
  const bodies = [1, 2, 3, 4].map((order) => {
    const { body } = producer.message({ order });
    return order % 2 === 0 ? body : `{"order":${order},"text":"${'x'.repeat(20_000)}"}`;
  });
  await client.sendMessageBatch({
    QueueUrl,
    Entries: bodies.map((MessageBody, at) => ({ Id: `m${at}`, MessageBody, MessageGroupId: 'g' })),
  });
  const told = server.events.flatMap((event) =>
    event.type === 'contract-violation' ? [event.body.slice(0, 10)] : [],
  );
  assert.deepEqual(told, ['{"order":1', '{"order":3']);
  const { Messages = [] } = await client.receiveMessage({ QueueUrl, MaxNumberOfMessages: 10 });
  assert.deepEqual(
    Messages.map(({ Body }) => Body),
    bodies,
  );
});

test('violations can be read only for an existing queue, on a server with a contract', async (t) => {
  const { server } = await open(t, [envelope]);
  const missing = await fetch(`${server.url}/_oncemq/queues/none/violations`);
  assert.equal(missing.status, 404);
  const plain = await startTestServer({ clock: 'manual' });
  t.after(() => plain.close());
  await fetch(`${plain.url}/?Action=CreateQueue&QueueName=jobs`);
  const without = await fetch(`${plain.url}/_oncemq/queues/jobs/violations`);
  assert.equal(without.status, 409);
});

describe('a contract file that is wrong is refused with its place', () => {
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    ['{', /is not JSON/],
    ['[]', /must contain a JSON object/],
    [{ queues: {} }, /queues must be array/],
    [{ queue: [] }, /no setting queue\. Did you mean queues\?/],
    [{ namespace: 'K F', queues: [] }, /namespace must match pattern .*lower-case letters/],
    [{ queues: ['orders'] }, /queues\[0\] must be object/],
    [
      { queues: [{ queue: 'a', contract: 'envelope', mod: 'reject' }] },
      /no setting mod\. Did you mean mode\?/,
    ],
    [
      { queues: [{ queue: 'a b', contract: 'envelope' }] },
      /queues\[0\]\.queue must match pattern .*A queue name, or a pattern/,
    ],
    [{ queues: [{ queue: 'a', contract: 'evelope' }] }, /contract must be envelope or keyed/],
    [{ queues: [{ queue: 'a', contract: 'envelope', schema: {} }] }, /only one can apply/],
    [{ queues: [{ contract: 'envelope' }] }, /queues\[0\]: queue is missing/],
    [{ queues: [{ queue: 'a', contract: 'envelope', mode: 'warn' }] }, /observe or reject/],
    [
      { queues: [{ queue: 'a', schema: { type: 'text' } }] },
      /queues\[0\]: the schema is not valid/,
    ],
    [{ queues: [{ queue: 'a', schema: { $async: true } }] }, /\$async is not supported/],
    [
      { queues: [{ queue: 'a', schema: 'nowhere.json' }] },
      /: queues\[0\]: the schema file .*nowhere\.json cannot be read/,
    ],
    [{ queues: [{ queue: 'a', schema: 7 }] }, /schema must be object,string\. .*a JSON Schema/],
  ];
  for (const [content, text] of wrong) {
    test(String(text), (t) => {
      const path = file(t, content);
      assert.throws(
        () => contractIn(path),
        (error) => error instanceof ConfigError && text.test(error.message),
      );
    });
  }
});

describe('a key that is used for a second body', () => {
  const message = (order: number, note?: string): string =>
    producer.message({ order, ...(note && { note }) } as { order: number }).body;
  const rejected = /contract of its queue \(key-reused\).*order-1/;

  test('is refused, until the window of the queue is over', async (t) => {
    const { server, client, url } = await open(t, [envelope]);
    const QueueUrl = await url('orders.fifo');
    const send = (MessageBody: string): Promise<unknown> =>
      client.sendMessage({ QueueUrl, MessageBody, MessageGroupId: 'g' });
    await send(message(1));
    await send(message(1));
    await assert.rejects(send(message(1, 'other')), rejected);
    await server.clock.advance(299);
    await assert.rejects(send(message(1, 'other')), rejected);
    await server.clock.advance(1);
    await send(message(1, 'other'));
    await assert.rejects(send(message(1)), rejected);
  });

  test('counts for as long as the window of the queue is', async (t) => {
    const { server, client, url } = await open(t, [envelope]);
    const QueueUrl = await url('orders.fifo');
    await client.setQueueAttributes({
      QueueUrl,
      Attributes: { DeduplicationIntervalSeconds: '3600' } as never,
    });
    const send = (MessageBody: string): Promise<unknown> =>
      client.sendMessage({ QueueUrl, MessageBody, MessageGroupId: 'g' });
    await send(message(1));
    await server.clock.advance(3_599);
    await assert.rejects(send(message(1, 'other')), rejected);
  });

  test('is refused within a batch and between concurrent sends, and not after a refused send', async (t) => {
    const { client, url } = await open(t, [envelope]);
    const QueueUrl = await url('orders.fifo');
    const entry = (MessageBody: string, Id: string, MessageGroupId = 'g'): object => ({
      Id,
      MessageBody,
      MessageGroupId,
    });
    const { Failed } = await client.sendMessageBatch({
      QueueUrl,
      Entries: [entry(message(1), 'a'), entry(message(1, 'other'), 'b')] as never,
    });
    assert.deepEqual(
      Failed?.map(({ Id }) => Id),
      ['b'],
    );
    // An invalid group: the queue refuses the message, so its key is not used.
    await assert.rejects(
      client.sendMessage({ QueueUrl, MessageBody: message(2), MessageGroupId: 'ä' }),
    );
    await client.sendMessage({ QueueUrl, MessageBody: message(2, 'other'), MessageGroupId: 'g' });
    const both = await Promise.allSettled(
      ['one', 'two'].map((note) =>
        client.sendMessage({ QueueUrl, MessageBody: message(3, note), MessageGroupId: 'g' }),
      ),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });

  test('belongs to its source and queue, and a deleted queue and a reset forget it', async (t) => {
    const { server, client, url } = await open(t, [envelope]);
    const send = async (name: string, MessageBody: string): Promise<unknown> =>
      client.sendMessage({ QueueUrl: await url(name), MessageBody, MessageGroupId: 'g' });
    await send('orders.fifo', message(1));
    await send('orders.fifo', message(1, 'other').replace('kfm.parts.orders', 'kfm.parts.others'));
    await send('orders-2.fifo', message(1, 'other'));
    await assert.rejects(send('orders-2.fifo', message(1)), rejected);
    await client.deleteQueue({ QueueUrl: await url('orders-2.fifo') });
    await server.clock.advance(60);
    await send('orders-2.fifo', message(1));
    await server.reset();
    await send('orders.fifo', message(1, 'other'));
  });

  test('is sent and reported in observe mode', async (t) => {
    const { server, client, url } = await open(t, [{ ...envelope, mode: 'observe' }]);
    const QueueUrl = await url('orders.fifo');
    for (const MessageBody of [message(1), message(1, 'other')]) {
      await client.sendMessage({ QueueUrl, MessageBody, MessageGroupId: 'g' });
    }
    assert.deepEqual(
      server.events.flatMap((event) => (event.type === 'contract-violation' ? [event.rule] : [])),
      ['key-reused'],
    );
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(
      metrics,
      /sqs_fifo_producer_violations_total\{[^}]*queue="orders\.fifo"[^}]*reason="key-reused"[^}]*\} 1/,
    );
    assert.match(
      metrics,
      /sqs_fifo_body_hash_length_bytes_count\{[^}]*queue="orders\.fifo"[^}]*\} 2/,
    );
  });
});

describe('topics', () => {
  const openTopics = async (t: TestContext, content: object) => {
    const server = await startTestServer({ clock: 'manual', contract: file(t, content) });
    const sns = new SNS({ ...server.clientConfig, maxAttempts: 1 });
    const sqs = new SQS({ ...server.clientConfig, maxAttempts: 1 });
    t.after(async () => {
      sns.destroy();
      sqs.destroy();
      await server.close();
    });
    const Attributes = { ContentBasedDeduplication: 'true' };
    const { TopicArn = '' } = await sns.createTopic({
      Name: 'orders.fifo',
      Attributes: { ...Attributes, FifoTopic: 'true' },
    });
    const { QueueUrl = '' } = await sqs.createQueue({
      QueueName: 'orders.fifo',
      Attributes: { ...Attributes, FifoQueue: 'true' },
    });
    const subscribe = (raw: string): Promise<unknown> =>
      sns.subscribe({
        TopicArn,
        Protocol: 'sqs',
        Endpoint: TopicArn.replace(':sns:', ':sqs:'),
        Attributes: { RawMessageDelivery: raw },
      });
    const rules = (): string[] =>
      server.events.flatMap((event) =>
        event.type === 'contract-violation' || event.type === 'publication-violation'
          ? [`${event.type} ${event.mode} ${event.rule}`]
          : [],
      );
    return { server, sns, sqs, TopicArn, QueueUrl, subscribe, rules };
  };
  const MessageGroupId = 'g';

  test('reject: a publication that breaks the contract is refused, and a batch as a whole', async (t) => {
    const { server, sns, TopicArn, rules } = await openTopics(t, {
      topics: [{ topic: 'orders*', mode: 'reject' }],
    });
    await sns.publish({ TopicArn, Message: good, MessageGroupId });
    await assert.rejects(
      sns.publish({ TopicArn, Message: '{}', MessageGroupId }),
      (error: Error) => {
        assert.equal(error.name, 'InvalidParameterException');
        assert.match(error.message, /contract of its topic \(key-missing\)|\(body-not-envelope\)/);
        return true;
      },
    );
    const entries = [producer.message({ order: 2 }).body, 'x'].map((Message, index) => ({
      Id: `e${index}`,
      Message,
      MessageGroupId,
    }));
    await assert.rejects(sns.publishBatch({ TopicArn, PublishBatchRequestEntries: entries }));
    const reused = producer.message({ order: 1, note: 'other' } as { order: number }).body;
    await assert.rejects(sns.publish({ TopicArn, Message: reused, MessageGroupId }), /key-reused/);
    assert.equal(server.events.filter(({ type }) => type === 'published').length, 1);
    assert.equal(rules().length, 3);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(metrics, /violations_total\{[^}]*topic="orders\.fifo"[^}]*reason="key-reused"/);
  });

  test('observe: it is published and reported', async (t) => {
    const { sns, TopicArn, rules } = await openTopics(t, { topics: [{ topic: 'orders.fifo' }] });
    await sns.publish({ TopicArn, Message: 'hello', MessageGroupId });
    assert.deepEqual(rules(), ['publication-violation observe body-not-envelope']);
  });

  for (const raw of ['true', 'false']) {
    test(`what a topic brings to a bound queue is judged and reported, raw ${raw}, and never refused`, async (t) => {
      const { sns, sqs, TopicArn, QueueUrl, subscribe, rules } = await openTopics(t, {
        queues: [{ queue: 'orders.fifo', mode: 'reject' }],
      });
      await subscribe(raw);
      await sns.publish({ TopicArn, Message: good, MessageGroupId });
      assert.deepEqual(rules(), []);
      const unique_key = { DataType: 'String', StringValue: '1' };
      const MessageAttributes = { unique_key };
      await sns.publish({ TopicArn, Message: '{"order":1}', MessageGroupId, MessageAttributes });
      assert.deepEqual(rules(), ['contract-violation observe key-only-in-attributes']);
      const { Messages } = await sqs.receiveMessage({ QueueUrl, MaxNumberOfMessages: 10 });
      assert.equal(Messages?.length, 2);
    });

    test(`a key that a topic brings with another body is reported until the window is over, raw ${raw}`, async (t) => {
      const { server, sns, sqs, TopicArn, QueueUrl, subscribe, rules } = await openTopics(t, {
        queues: [{ queue: 'orders.fifo', mode: 'reject' }],
      });
      await subscribe(raw);
      const other = producer.message({ order: 1, note: 'other' } as { order: number }).body;
      const sending = { QueueUrl, MessageGroupId };
      await sns.publish({ TopicArn, Message: good, MessageGroupId });
      await assert.rejects(sqs.sendMessage({ ...sending, MessageBody: other }), /key-reused/);
      await sns.publish({ TopicArn, Message: other, MessageGroupId });
      const reported = 'contract-violation observe key-reused';
      assert.deepEqual(rules(), ['contract-violation reject key-reused', reported]);
      await server.clock.advance(300);
      await sns.publish({ TopicArn, Message: other, MessageGroupId });
      await assert.rejects(sqs.sendMessage({ ...sending, MessageBody: good }), /key-reused/);
      assert.equal(rules().length, 3);
    });
  }
});
