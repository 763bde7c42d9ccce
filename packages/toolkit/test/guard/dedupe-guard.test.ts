/**
 * The guard in the real AWS clients: SQS against a real server; SNS against a listener that accepts everything, since only
 * what leaves the client matters here.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { SNS } from '@aws-sdk/client-sns';
import { sha256 } from '../../src/contract/canonical.ts';
import { type Binding, defaultContract, type Mode } from '../../src/contract/contract.ts';
import { checkMessage } from '../../src/contract/message.ts';
import { telemetrySchema } from '../../src/contract/published-schemas.ts';
import { ContractError } from '../../src/contract/refusals.ts';
import { compileSchema } from '../../src/contract/schemas.ts';
import { traceContextNames } from '../../src/contract/trace-context.ts';
import { dedupeGuard, type GuardOptions } from '../../src/guard/dedupe-guard.ts';
import type { TelemetryRecord } from '../../src/telemetry/record.ts';
import { landsat, scene, scenes } from '../support/landsat.ts';
import { createQueue, drain, type OpenQueue, openQueue } from '../support/server.ts';

const findRecordError = compileSchema(telemetrySchema);

/** Collects the records, except for body lengths, and checks each against the published schema. */
function recorder(): { report: (record: TelemetryRecord) => void; seen: TelemetryRecord[] } {
  const seen: TelemetryRecord[] = [];
  const report = (record: TelemetryRecord): void => {
    assert.equal(findRecordError(record), undefined);
    if (record.metric !== 'sqs_fifo.body_hash.length_bytes') seen.push(record);
  };
  return { report, seen };
}

function guard(queue: OpenQueue, options: Partial<GuardOptions> = {}): TelemetryRecord[] {
  const { report, seen } = recorder();
  const now = (): number => queue.server.clock.now();
  queue.client.middlewareStack.use(dedupeGuard({ mode: 'reject', report, now, ...options }));
  return seen;
}

const { body } = landsat().message(scene);
const MessageGroupId = 'g';
const unique_key = { DataType: 'String', StringValue: 'landsat-2025-12-04' };

function isRefused(code: string): (error: unknown) => boolean {
  return (error) => error instanceof ContractError && error.code === code;
}

test('reject: a message that follows the contract passes, and any other is never sent', async (t) => {
  const queue = await openQueue(t);
  const seen = guard(queue);
  const { client, queueUrl: QueueUrl } = queue;
  await client.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId });
  await assert.rejects(
    client.sendMessage({
      QueueUrl,
      MessageBody: '{"collection":"landsat"}',
      MessageGroupId,
      MessageAttributes: { unique_key },
    }),
    isRefused('key-only-in-attributes'),
  );
  assert.deepEqual(await drain(queue), [body]);
  assert.deepEqual(
    seen.map(({ metric, code }) => [metric, code]),
    [['sqs_fifo.producer.violations', 'key-only-in-attributes']],
  );
});

test('observe: everything is sent, and violations are reported with code, target and time', async (t) => {
  const queue = await openQueue(t);
  const seen = guard(queue, { mode: 'observe' });
  await queue.client.sendMessage({
    QueueUrl: queue.queueUrl,
    MessageBody: 'hello',
    MessageGroupId,
  });
  assert.deepEqual(await drain(queue), ['hello']);
  const [record] = seen;
  assert.equal(record?.code, 'body-not-envelope');
  assert.equal(record?.target, queue.queueUrl);
  assert.equal(record?.time, new Date(queue.server.clock.now()).toISOString());
});

test('an undefined attribute, which the SDK leaves out, is ignored by the guard', async (t) => {
  const queue = await openQueue(t);
  const seen = guard(queue);
  const MessageAttributes = { unique_key: undefined } as never;
  const { client, queueUrl: QueueUrl } = queue;
  await client.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId, MessageAttributes });
  assert.deepEqual(seen, []);
});

test('a batch with one bad entry is refused as a whole, naming the entry', async (t) => {
  const queue = await openQueue(t);
  guard(queue);
  const Entries = scenes(3).map((event, index) => ({
    Id: `e${index}`,
    MessageBody: index === 1 ? '{}' : landsat().message(event).body,
    MessageGroupId,
  }));
  const { client, queueUrl: QueueUrl } = queue;
  await assert.rejects(
    client.sendMessageBatch({ QueueUrl, Entries }),
    /^ContractError: Entry e1: /,
  );
  assert.deepEqual(await drain(queue), []);
});

describe('a key that is used for a second body', () => {
  const other = landsat().message({ ...scene, cloud: 0.5 }).body;

  test('is refused and reported, until the window is over', async (t) => {
    const queue = await openQueue(t);
    const seen = guard(queue);
    const { client, queueUrl: QueueUrl } = queue;
    await client.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId });
    await assert.rejects(
      client.sendMessage({ QueueUrl, MessageBody: other, MessageGroupId }),
      isRefused('key-reused'),
    );
    assert.deepEqual(
      seen.map(({ metric, code, dedupe_key }) => [metric, code, dedupe_key]),
      [['sqs_fifo.producer.violations', 'key-reused', 'landsat/p32r29/2025-12-04']],
    );
    await queue.server.clock.advance(300);
    await client.sendMessage({ QueueUrl, MessageBody: other, MessageGroupId });
    assert.deepEqual(await drain(queue), [body, other]);
  });

  test('is sent and reported by an observing guard', async (t) => {
    const queue = await openQueue(t);
    const seen = guard(queue, { mode: 'observe' });
    const { client, queueUrl: QueueUrl } = queue;
    for (const MessageBody of [body, other]) {
      await client.sendMessage({ QueueUrl, MessageBody, MessageGroupId });
    }
    assert.deepEqual(
      seen.map(({ code }) => code),
      ['key-reused'],
    );
    assert.deepEqual(await drain(queue), [body, other]);
  });

  test('is refused in the same batch', async (t) => {
    const queue = await openQueue(t);
    guard(queue);
    const Entries = [body, other].map((MessageBody, index) => ({
      Id: `e${index}`,
      MessageBody,
      MessageGroupId,
    }));
    await assert.rejects(
      queue.client.sendMessageBatch({ QueueUrl: queue.queueUrl, Entries }),
      /^ContractError: Entry e1: The dedupe_key .* was used before/,
    );
  });

  test('is allowed from another source, to another queue, and after a send that failed', async (t) => {
    const queue = await openQueue(t);
    guard(queue);
    const { client, queueUrl: QueueUrl } = queue;
    await assert.rejects(
      client.sendMessage({ QueueUrl: `${QueueUrl}x.fifo`, MessageBody: other, MessageGroupId }),
      { name: 'QueueDoesNotExist' },
    );
    await client.sendMessage({ QueueUrl: `${QueueUrl}`, MessageBody: body, MessageGroupId });
    const elsewhere = landsat({ source: 'kfm.remote-sensing.sentinel' }).message(scene).body;
    await client.sendMessage({ QueueUrl, MessageBody: elsewhere, MessageGroupId });
    const second = await createQueue(client, 'second.fifo');
    await client.sendMessage({ QueueUrl: second, MessageBody: other, MessageGroupId });
    await client.deleteQueue({ QueueUrl: second });
    assert.deepEqual(await drain(queue), [body, elsewhere]);
  });
});

test('the modes of queues come from the contract, unless the guard has its own', async (t) => {
  const queue = await openQueue(t);
  const binding = (mode: Mode): Binding => ({
    matches: (name) => name === 'events.fifo',
    mode,
    judge: (message, rules) => checkMessage(message, { ...rules }),
  });
  const { client, queueUrl: QueueUrl } = queue;
  const send = (): Promise<unknown> =>
    client.sendMessage({ QueueUrl, MessageBody: 'hello', MessageGroupId });
  const rejecting = { ...defaultContract, queues: [binding('reject')] };
  const use = (options: GuardOptions): void => client.middlewareStack.use(dedupeGuard(options));
  use({ contract: rejecting });
  await assert.rejects(send(), isRefused('body-not-envelope'));
  use({ contract: rejecting, mode: 'observe' });
  await send();
  use({ contract: { ...defaultContract, topics: [binding('reject')] } });
  await send();
  assert.throws(() => dedupeGuard({}), /mode must be observe or reject, not undefined/);
});

describe('a body that is sent again', () => {
  const other = { MessageAttributes: { region: { DataType: 'String', StringValue: 'kansas' } } };

  test('with other attributes or in another group is a collision, until the window is over', async (t) => {
    const queue = await openQueue(t);
    const seen = guard(queue);
    const { client, queueUrl: QueueUrl } = queue;
    await client.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId });
    const collision = isRefused('same-body-other-attributes');
    await assert.rejects(
      client.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId, ...other }),
      collision,
    );
    await assert.rejects(
      client.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId: 'h' }),
      collision,
    );
    assert.deepEqual(
      seen.map(({ metric, dedupe_key }) => [metric, dedupe_key]),
      Array(2).fill(['sqs_fifo.dedupe.collisions_detected', 'landsat/p32r29/2025-12-04']),
    );
    await queue.server.clock.advance(300);
    await client.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId, ...other });
  });

  test('with another group in the same batch is a collision', async (t) => {
    const queue = await openQueue(t);
    guard(queue);
    const Entries = ['g', 'h'].map((group) => ({
      Id: group,
      MessageBody: body,
      MessageGroupId: group,
    }));
    await assert.rejects(
      queue.client.sendMessageBatch({ QueueUrl: queue.queueUrl, Entries }),
      isRefused('same-body-other-attributes'),
    );
  });

  test('with other attributes while the first is in flight is a collision', async (t) => {
    const queue = await openQueue(t);
    guard(queue);
    const { client, queueUrl: QueueUrl } = queue;
    const outcomes = await Promise.allSettled([
      client.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId }),
      client.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId, ...other }),
    ]);
    const refused = outcomes.find(({ status }) => status === 'rejected');
    assert.ok(refused?.status === 'rejected');
    assert.ok(isRefused('same-body-other-attributes')(refused.reason));
    assert.deepEqual(await drain(queue), [body]);
  });

  for (const order of ['before', 'after'] as const) {
    test(`with other attributes is a collision when the first of two concurrent sends failed ${order} the second was accepted`, async (t) => {
      const queue = await openQueue(t);
      guard(queue);
      const { client, queueUrl: QueueUrl } = queue;
      const message = { QueueUrl, MessageBody: body, MessageGroupId };
      let sends = 0;
      // Below the guard: the first send gets no answer, and one of the two waits for the outcome of the other.
      client.middlewareStack.add(
        (next) => async (args) => {
          sends += 1;
          if (sends === 1) {
            if (order === 'after') await second;
            throw new Error('no answer in time');
          }
          if (sends === 2 && order === 'before') await first;
          return next(args);
        },
        { step: 'build', name: 'noAnswer' },
      );
      const first = assert.rejects(client.sendMessage(message), /no answer in time/);
      const second = client.sendMessage(message);
      await Promise.all([first, second]);
      await assert.rejects(
        client.sendMessage({ ...message, ...other }),
        isRefused('same-body-other-attributes'),
      );
    });
  }

  test('with another group is a collision when the queue accepted one of two from a batch', async (t) => {
    const queue = await openQueue(t);
    guard(queue);
    const { client, queueUrl: QueueUrl } = queue;
    const Entries = ['a', 'b'].map((Id) => ({ Id, MessageBody: body, MessageGroupId }));
    // Reports the first of the two identical entries as failed.
    client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        Object.assign(result.output, { Failed: [{ Id: 'a' }] });
        return result;
      },
      { step: 'build', name: 'firstFails' },
    );
    await client.sendMessageBatch({ QueueUrl, Entries });
    await assert.rejects(
      client.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId: 'h' }),
      isRefused('same-body-other-attributes'),
    );
  });

  for (const name of ['trace_id', ...traceContextNames]) {
    test(`with another ${name} is the same message again`, async (t) => {
      const queue = await openQueue(t);
      const seen = guard(queue);
      for (const StringValue of ['a', 'b']) {
        const { client, queueUrl: QueueUrl } = queue;
        await client.sendMessage({
          QueueUrl,
          MessageBody: body,
          MessageGroupId,
          MessageAttributes: { [name]: { DataType: 'String', StringValue } },
        });
      }
      assert.deepEqual(
        seen.map(({ metric }) => metric),
        ['sqs_fifo.dedupe_window_hits'],
      );
    });
  }

  test('with the same attributes is a window hit', async (t) => {
    const queue = await openQueue(t);
    const seen = guard(queue);
    await landsat().send(scene, queue);
    await landsat().send(scene, queue);
    assert.deepEqual(
      seen.map(({ metric }) => metric),
      ['sqs_fifo.dedupe_window_hits'],
    );
  });

  test('after a failed send counts as the first', async (t) => {
    const queue = await openQueue(t);
    const seen = guard(queue);
    const QueueUrl = queue.queueUrl.replace('events', 'none');
    await assert.rejects(queue.client.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId }));
    await createQueue(queue.client, 'none.fifo');
    await queue.client.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId: 'h' });
    assert.deepEqual(seen, []);
  });

  test('after the queue refused it in a batch counts as the first', async (t) => {
    const queue = await openQueue(t);
    const seen = guard(queue);
    const { client, queueUrl: QueueUrl } = queue;
    const [first, second] = scenes(2).map((event) => landsat().message(event).body);
    const taken = { Id: 'a', MessageBody: first, MessageGroupId };
    const failing = { Id: 'b', MessageBody: second, MessageGroupId: 'no group' };
    const { Failed } = await client.sendMessageBatch({ QueueUrl, Entries: [taken, failing] });
    assert.deepEqual(
      Failed?.map(({ Id }) => Id),
      ['b'],
    );
    const Entries = [taken, { ...failing, MessageGroupId }];
    const { Successful } = await client.sendMessageBatch({ QueueUrl, Entries });
    assert.equal(Successful?.length, 2);
    assert.deepEqual(
      seen.map(({ metric, body_sha256 }) => [metric, body_sha256]),
      [['sqs_fifo.dedupe_window_hits', sha256(String(first))]],
    );
  });
});

test('standard queues and other commands are not checked', async (t) => {
  const queue = await openQueue(t);
  guard(queue);
  const { QueueUrl } = await queue.client.createQueue({ QueueName: 'plain' });
  await queue.client.sendMessage({ QueueUrl, MessageBody: 'anything' });
  await queue.client.listQueues({});
});

test('publishing to a FIFO topic is guarded in the same way', async (t) => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    request.on('data', (chunk) => requests.push(String(chunk)));
    request.on('end', () => response.end('<PublishResponse/>'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const sns = new SNS({ endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', credentials });
  t.after(() => {
    sns.destroy();
    server.close();
  });
  sns.middlewareStack.use(dedupeGuard({ mode: 'reject' }));
  const TopicArn = 'arn:aws:sns:us-east-1:000000000000:scenes.fifo';
  await sns.publish({ TopicArn, Message: body, MessageGroupId });
  await assert.rejects(
    sns.publish({ TopicArn, Message: '{}', MessageGroupId }),
    isRefused('body-not-envelope'),
  );
  // The other name of the parameter in SNS.
  await assert.rejects(
    sns.publish({ TargetArn: TopicArn, Message: '{}', MessageGroupId }),
    isRefused('body-not-envelope'),
  );
  const PublishBatchRequestEntries = [{ Id: 'a', Message: '{}', MessageGroupId }];
  await assert.rejects(sns.publishBatch({ TopicArn, PublishBatchRequestEntries }), /Entry a: /);
  assert.equal(requests.length, 1);
});

test('an unknown mode is refused at once and named', () => {
  const mode = 'rejct' as 'reject';
  assert.throws(() => dedupeGuard({ mode }), /mode must be observe or reject, not rejct/);
});
