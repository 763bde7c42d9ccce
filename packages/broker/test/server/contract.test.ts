/**
 * A contract on a running server: what AWS's clients see of it, where reports can be read, what is counted, and which mistakes
 * in a contract file are errors. What is refused and reported is in ../conformance/contracts.
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

const producer = defineProducer<{ order: number; note?: string }>({
  source: 'kfm.parts.orders',
  dedupeKey: ({ order }) => `order-${order}`,
  eventTime: () => '2025-12-04T00:00:00Z',
});
const good = producer.message({ order: 1 }).body;
const goodButOther = producer.message({ order: 1, note: 'other' }).body;

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
    // Each level of the body takes several of the schema.
    $defs: {
      list: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/same' }] } },
      same: { allOf: [{ $ref: '#/$defs/again' }] },
      again: { allOf: [{ $ref: '#/$defs/list' }] },
    },
    $ref: '#/$defs/list',
  };
  const { server, client, url } = await open(t, [
    { queue: 'deep', schema, mode: 'reject' },
    envelope,
  ]);
  const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const deepest = nested(9_900);
  await assert.rejects(
    client.sendMessage({ QueueUrl: await url('deep'), MessageBody: deepest }),
    /nested too deeply/,
  );
  const deep = nested(200_000);
  await assert.rejects(
    client.sendMessage({ QueueUrl: await url('deep'), MessageBody: deep }),
    /more than 10000 JSON values/,
  );
  const QueueUrl = await url('orders.fifo');
  await assert.rejects(client.sendMessage({ QueueUrl, MessageBody: deep, MessageGroupId: 'g' }));
  assert.equal((await fetch(`${server.url}/_oncemq/health`)).status, 200);
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

test('a key with a second body is sent in observe mode, and counted', async (t) => {
  const { server, client, url } = await open(t, [{ ...envelope, mode: 'observe' }]);
  const QueueUrl = await url('orders.fifo');
  for (const MessageBody of [good, goodButOther]) {
    await client.sendMessage({ QueueUrl, MessageBody, MessageGroupId: 'g' });
  }
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

test('reject: a publication that breaks the contract gets an error as from AWS, and is counted', async (t) => {
  const contract = file(t, { topics: [{ topic: 'orders*', mode: 'reject' }] });
  const server = await startTestServer({ clock: 'manual', contract });
  const sns = new SNS({ ...server.clientConfig, maxAttempts: 1 });
  t.after(async () => {
    sns.destroy();
    await server.close();
  });
  const Attributes = { FifoTopic: 'true', ContentBasedDeduplication: 'true' };
  const { TopicArn } = await sns.createTopic({ Name: 'orders.fifo', Attributes });
  const publish = (Message: string): Promise<unknown> =>
    sns.publish({ TopicArn, Message, MessageGroupId: 'g' });
  await publish(good);
  await assert.rejects(publish('{}'), (error: Error) => {
    assert.equal(error.name, 'InvalidParameterException');
    assert.match(error.message, /contract of its topic \(body-not-envelope\)/);
    return true;
  });
  await assert.rejects(publish(goodButOther), /contract of its topic \(key-reused\).*order-1/);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  assert.match(metrics, /violations_total\{[^}]*topic="orders\.fifo"[^}]*reason="key-reused"/);
});
