/**
 * The contract file: where it is found, which mistakes in it are errors and how they read, and that what it says holds for
 * producers, checks and consumers, unless code says otherwise. The server's side is in the broker's contract.test.ts.
 */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { idempotent } from '../../src/consumer/idempotent.ts';
import { bindingOf, defaultContract } from '../../src/contract/contract.ts';
import { ContractFileError, findContract, loadContract } from '../../src/contract/contract-file.ts';
import type { Envelope } from '../../src/contract/envelope.ts';
import { checkMessage } from '../../src/contract/message.ts';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import { defineProducer } from '../../src/producer/define-producer.ts';

function folderWith(t: TestContext, content?: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-contract-'));
  t.after(() => rmSync(folder, { recursive: true }));
  if (content !== undefined) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(join(folder, 'oncemq.contract.json'), text);
  }
  return folder;
}

const producer = {
  name: 'orders',
  command: 'python3 orders.py',
  queue: 'orders.fifo',
  paths: ['*'],
};

test('the file is found in the folder or above it, and the nearest one counts', (t) => {
  const folder = folderWith(t, { namespace: 'outer' });
  const inner = join(folder, 'a', 'b');
  mkdirSync(inner, { recursive: true });
  assert.equal(findContract(inner), join(folder, 'oncemq.contract.json'));
  assert.equal(loadContract(inner).namespace, 'outer');
  writeFileSync(join(folder, 'a', 'oncemq.contract.json'), '{ "namespace": "inner" }');
  assert.equal(loadContract(inner).namespace, 'inner');
});

test('a program that asks for a contract where there is none gets an error', (t) => {
  const folder = folderWith(t);
  assert.equal(findContract(folder), undefined);
  assert.throws(
    () => loadContract(folder),
    /There is no oncemq\.contract\.json in .* or a folder above/,
  );
});

test('what the file does not say is the default', (t) => {
  const contract = loadContract(folderWith(t, {}));
  assert.deepEqual(contract, {
    namespace: 'kfm',
    form: 'envelope',
    strict: false,
    critical: [],
    harmless: [],
    queues: [],
    topics: [],
    producers: [],
  });
});

test('a whole file is read', (t) => {
  const contract = loadContract(
    folderWith(t, {
      $schema: './node_modules/@oncemq/toolkit/schemas/contract.schema.json',
      namespace: 'shop',
      form: 'keyed',
      strict: true,
      critical: ['order_ref'],
      harmless: ['batch_id'],
      queues: [{ queue: 'orders*.fifo', mode: 'reject' }],
      topics: [{ topic: 'prices.fifo', contract: 'envelope' }],
      producers: [{ ...producer, input: 'orders.jsonl' }],
    }),
  );
  assert.equal(bindingOf(contract.queues, 'orders-1.fifo')?.mode, 'reject');
  assert.equal(bindingOf(contract.queues, 'orders-1.fifox'), undefined);
  const flat = { body: '{"dedupe_key":"a"}' };
  assert.equal(bindingOf(contract.queues, 'orders.fifo')?.judge(flat).ok, true);
  assert.equal(bindingOf(contract.topics, 'prices.fifo')?.judge(flat).ok, false);
  assert.deepEqual(contract.producers, [{ ...producer, input: 'orders.jsonl' }]);
});

describe('a file that is wrong is refused with its place and the probable name', () => {
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    ['{', /contract\.json is not JSON/],
    ['[]', /must contain a JSON object/],
    ['{"form":"keyed","form":"envelope"}', /has the member form twice/],
    [{ namspace: 'a' }, /there is no setting namspace\. Did you mean namespace\?/],
    [{ form: 'keyd' }, /form must be envelope or keyed/],
    [{ strict: 'yes' }, /strict must be boolean/],
    [{ queues: Array(1_001).fill({ queue: 'a' }) }, /queues must NOT have more than 1000 items/],
    [{ critical: ['--'] }, /critical\[0\] must match pattern/],
    [{ critical: ['batchId'], harmless: ['batch_id'] }, /batchId is in critical and in harmless/],
    [{ topics: [{ topic: 'a', moed: 'reject' }] }, /topics\[0\]: .* Did you mean mode\?/],
    [{ topics: [{ queue: 'a' }] }, /topics\[0\]: topic is missing/],
    [
      { producers: [{ ...producer, topic: 'a.fifo' }] },
      /producers\[0\] needs either a queue or a topic/,
    ],
    [{ producers: [{ ...producer, queue: undefined }] }, /needs either a queue or a topic/],
    [{ producers: [{ ...producer, queue: 'orders' }] }, /producers\[0\]\.queue must match pattern/],
    [{ producers: [{ ...producer, paths: [] }] }, /paths must NOT have fewer than 1 items/],
    [{ producers: [{ ...producer, comand: 'x' }] }, /no setting comand\. Did you mean command\?/],
    [{ producers: [producer, producer] }, /producers\[1\]: there is another producer orders/],
  ];
  for (const [content, text] of wrong) {
    test(String(text), (t) => {
      assert.throws(
        () => loadContract(folderWith(t, content)),
        (error) => error instanceof ContractFileError && text.test(error.message),
      );
    });
  }
});

test('a producer keeps the contract it is given, and its own options win', (t) => {
  const contract = loadContract(folderWith(t, { namespace: 'shop', critical: ['shelf'] }));
  const options = { dedupeKey: () => 'a', eventTime: () => 0, contract };
  const ordered = defineProducer<{ order: number }>({ ...options, source: 'shop.web.orders' });
  assert.equal(ordered.envelope({ order: 1 }).event_source, 'shop.web.orders');
  assert.throws(() => defineProducer({ ...options, source: 'kfm.web.orders' }), /source-invalid/);
  assert.doesNotThrow(() =>
    defineProducer({ ...options, namespace: 'kfm', source: 'kfm.web.orders' }),
  );
  const attributes = () => ({ shelf: 'A7' });
  const shelved = { ...options, source: 'shop.web.orders', attributes };
  const checked = defineProducer<{ order: number }>(shelved).check({ order: 1 });
  assert.equal(checked.ok === false && checked.code, 'value-only-in-attributes');
  const own = defineProducer<{ order: number }>({ ...shelved, critical: [] }).check({ order: 1 });
  assert.equal(own.ok, true);
});

test('a consumer reads messages by the contract it is given', async (t) => {
  const contract = loadContract(folderWith(t, { form: 'keyed' }));
  const read: Envelope[] = [];
  const handler = idempotent(async (envelope) => void read.push(envelope), memoryInbox(), {
    contract,
  });
  const Body = '{"dedupe_key":"landsat-2025-12-04T00:00Z","collection":"landsat","tile":"p32r29"}';
  await handler({ MessageId: 'm', Body });
  assert.deepEqual(read, [
    {
      event_id: '',
      event_source: '',
      event_time: '',
      dedupe_key: 'landsat-2025-12-04T00:00Z',
      payload: JSON.parse(Body),
    },
  ]);
  await handler({ MessageId: 'n', Body });
  assert.equal(read.length, 1);
});

test('a consumer reads messages by the form of their queue', async (t) => {
  const queues = [{ queue: 'legacy.fifo', contract: 'keyed' }];
  const contract = loadContract(folderWith(t, { queues }));
  const seen: unknown[] = [];
  const flat = { MessageId: 'm', Body: '{"dedupe_key":"a","n":1}' };
  const handlerWith = (queueUrl?: string) =>
    idempotent(
      async ({ payload }) => void seen.push(payload),
      memoryInbox(),
      queueUrl === undefined ? { contract } : { contract, queueUrl },
    );
  const legacy = 'http://localhost/000000000000/legacy.fifo';
  await handlerWith(legacy)(flat);
  // As `consume` calls it.
  await handlerWith()(flat, { signal: new AbortController().signal, queueUrl: legacy });
  assert.deepEqual(seen, [JSON.parse(flat.Body), JSON.parse(flat.Body)]);
  await assert.rejects(handlerWith()(flat), /not an envelope/);
  await assert.rejects(handlerWith('http://localhost/0/new.fifo')(flat), /not an envelope/);
});

describe('the keyed form', () => {
  const contract = { ...defaultContract, form: 'keyed' as const };
  const code = (body: string, attributes = {}): string | undefined => {
    const checked = checkMessage({ body, attributes }, { contract });
    return checked.ok ? undefined : checked.code;
  };

  test('takes a flat body with its key, and an envelope', () => {
    assert.equal(code('{"dedupe_key":"a","tile":"p32r29"}'), undefined);
    const own = defineProducer({ source: 'kfm.a.b', dedupeKey: () => 'a', eventTime: () => 0 });
    assert.equal(code(own.message({}).body), undefined);
  });

  test('refuses a body without a key, and the forbidden pattern', () => {
    assert.equal(code('{"tile":"p32r29"}'), 'key-missing');
    assert.equal(code('{"tile":"p32r29"}', { unique_key: 'a' }), 'key-only-in-attributes');
    assert.equal(code('["a"]'), 'body-not-envelope');
    assert.equal(
      code('{"dedupe_key":"a","scene":"x"}', { scene_id: 'y' }),
      'value-only-in-attributes',
    );
  });

  test('holds the members of an envelope to their rules where they are present', () => {
    assert.equal(code('{"dedupe_key":"a","event_id":"7"}'), 'event-id-invalid');
    assert.equal(code('{"dedupe_key":"a","event_time":"today"}'), 'time-invalid');
    assert.equal(code('{"dedupe_key":"a","event_source":"x.y.z"}'), 'source-invalid');
  });
});
