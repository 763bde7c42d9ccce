/**
 * The spans of a running server, caused by calls of the real AWS clients, as a real collector receives them.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryDirectory } from '../../storage/backends.ts';
import { ServerProcess } from '../../support/server-process.ts';
import { type CollectedSpan, openCollector } from '../../support/span-collector.ts';
import {
  addHeaders,
  createFifo,
  idsOf,
  named,
  newContext,
  openTraced,
  parentOf,
  setVariables,
} from './fixture.ts';

const message = { MessageBody: 'hello', MessageGroupId: 'g' };
const all = { MessageAttributeNames: ['All'], MessageSystemAttributeNames: ['All' as const] };

function only(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = named(spans, name);
  assert.equal(found.length, 1, `${name} among ${spans.map((span) => span.name)}`);
  return found[0] as CollectedSpan;
}

describe('the life of a message that carries a trace', () => {
  test('is spans of that trace, named by the conventions', async (t) => {
    const { sqs, spans } = await openTraced(t);
    const QueueUrl = await createFifo(sqs);
    const context = newContext();
    const { MessageId } = await sqs.sendMessage({
      QueueUrl,
      ...message,
      MessageAttributes: context.attributes,
    });
    const { Messages = [] } = await sqs.receiveMessage({ QueueUrl, ...all });
    assert.deepEqual(
      Messages[0]?.MessageAttributes?.['traceparent'],
      context.attributes.traceparent,
    );
    await sqs.deleteMessage({ QueueUrl, ReceiptHandle: Messages[0]?.ReceiptHandle });
    const told = await spans();
    assert.deepEqual(
      told.map(({ name, kind, hasFailed }) => [name, kind, hasFailed]),
      ['send', 'receive', 'delete'].map((name) => [`${name} jobs.fifo`, 'server', false]),
    );

    const send = only(told, 'send jobs.fifo');
    assert.equal(parentOf(send), idsOf(context));
    const { 'aws.request_id': requestId, ...attributes } = send.attributes;
    assert.match(String(requestId), /^[0-9a-f-]{36}$/);
    assert.deepEqual(attributes, {
      'messaging.system': 'aws_sqs',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'jobs.fifo',
      'messaging.message.id': MessageId,
      'messaging.message.body.size': 5,
      'oncemq.message.group_id': 'g',
    });
    assert.ok(send.endedAt >= send.startedAt);
    assert.equal(send.resource['service.name'], 'oncemq');

    const receive = only(told, 'receive jobs.fifo');
    assert.equal(receive.attributes['messaging.operation.type'], 'receive');
    assert.equal(receive.attributes['messaging.batch.message_count'], 1);
    assert.deepEqual(receive.links.map(idsOf), [idsOf(context)]);
    assert.equal(receive.links[0]?.attributes['messaging.message.id'], MessageId);

    const settle = only(told, 'delete jobs.fifo');
    assert.equal(settle.attributes['messaging.operation.type'], 'settle');
    assert.equal(settle.attributes['messaging.message.id'], MessageId);
    assert.equal(parentOf(settle), idsOf(context));
  });

  test('is found by AWSTraceHeader when there is no traceparent', async (t) => {
    const { sqs, spans } = await openTraced(t);
    const QueueUrl = await createFifo(sqs);
    const context = newContext();
    const AWSTraceHeader = { DataType: 'String', StringValue: context.xray };
    await sqs.sendMessage({ QueueUrl, ...message, MessageSystemAttributes: { AWSTraceHeader } });
    await sqs.receiveMessage({ QueueUrl });
    const told = await spans();
    assert.equal(parentOf(only(told, 'send jobs.fifo')), idsOf(context));
    assert.deepEqual(only(told, 'receive jobs.fifo').links.map(idsOf), [idsOf(context)]);
  });

  test('is found by the header X-Amzn-Trace-Id, which becomes the AWSTraceHeader', async (t) => {
    const { sqs, spans } = await openTraced(t);
    const QueueUrl = await createFifo(sqs);
    const context = newContext();
    addHeaders(sqs, { 'X-Amzn-Trace-Id': context.xray });
    await sqs.sendMessage({ QueueUrl, ...message });
    const { Messages = [] } = await sqs.receiveMessage({ QueueUrl, ...all });
    assert.equal(Messages[0]?.Attributes?.AWSTraceHeader, context.xray);
    const told = await spans();
    assert.equal(parentOf(only(told, 'send jobs.fifo')), idsOf(context));
    assert.equal(parentOf(only(told, 'receive jobs.fifo')), idsOf(context));
  });

  test("is below the request's own traceparent, with a link to the trace of the message", async (t) => {
    const { sqs, spans } = await openTraced(t);
    const QueueUrl = await createFifo(sqs);
    const [request, carried] = [newContext(), newContext()];
    addHeaders(sqs, { traceparent: request.traceparent });
    await sqs.sendMessage({ QueueUrl, ...message, MessageAttributes: carried.attributes });
    const send = only(await spans(), 'send jobs.fifo');
    assert.equal(parentOf(send), idsOf(request));
    assert.deepEqual(send.links.map(idsOf), [idsOf(carried)]);
  });
});

test('a message without a trace gets none, and its receive links to the span of its send', async (t) => {
  const { sqs, spans } = await openTraced(t);
  const QueueUrl = await createFifo(sqs);
  await sqs.sendMessage({ QueueUrl, ...message });
  const { Messages = [] } = await sqs.receiveMessage({ QueueUrl, ...all });
  assert.equal(Messages[0]?.MessageAttributes, undefined);
  assert.equal(Messages[0]?.Attributes?.AWSTraceHeader, undefined);
  const told = await spans();
  const send = only(told, 'send jobs.fifo');
  assert.equal(send.parentSpanId, '');
  assert.deepEqual(only(told, 'receive jobs.fifo').links.map(idsOf), [idsOf(send)]);
});

test('a traceparent that cannot be parsed is ignored', async (t) => {
  const { sqs, spans } = await openTraced(t);
  const QueueUrl = await createFifo(sqs);
  for (const StringValue of ['hello', '00-0-0-00', '00-'.repeat(1000)]) {
    const traceparent = { DataType: 'String', StringValue };
    const MessageBody = `body ${StringValue}`;
    await sqs.sendMessage({
      QueueUrl,
      ...message,
      MessageBody,
      MessageAttributes: { traceparent },
    });
  }
  const sends = named(await spans(), 'send jobs.fifo');
  assert.deepEqual(
    sends.map(({ parentSpanId }) => parentSpanId),
    ['', '', ''],
  );
});

test('a receive that gets nothing has no span', async (t) => {
  const { sqs, spans } = await openTraced(t);
  const QueueUrl = await createFifo(sqs);
  await sqs.receiveMessage({ QueueUrl });
  assert.deepEqual(await spans(), []);
});

describe("a suppressed duplicate's span", () => {
  test('links to the span of its original, and says what made it one', async (t) => {
    const { sqs, server, spans } = await openTraced(t);
    const QueueUrl = await createFifo(sqs);
    const { MessageId } = await sqs.sendMessage({ QueueUrl, ...message });
    await server.backend.advance(7_000);
    const context = newContext();
    const kind = { DataType: 'String', StringValue: 'other' };
    const MessageAttributes = { ...context.attributes, kind };
    await sqs.sendMessage({ QueueUrl, ...message, MessageAttributes });
    const [original, duplicate] = named(await spans(), 'send jobs.fifo') as [
      CollectedSpan,
      CollectedSpan,
    ];
    assert.equal(original.attributes['oncemq.duplicate'], undefined);
    assert.equal(parentOf(duplicate), idsOf(context));
    assert.deepEqual(duplicate.links, [
      {
        traceId: original.traceId,
        spanId: original.spanId,
        attributes: { 'oncemq.link': 'original', 'messaging.message.id': MessageId },
      },
    ]);
    const { attributes } = duplicate;
    assert.equal(attributes['messaging.message.id'], MessageId);
    assert.equal(attributes['oncemq.duplicate'], true);
    assert.equal(attributes['oncemq.dedupe.source'], 'content');
    assert.equal(attributes['oncemq.dedupe.matched_by'], 'id');
    assert.equal(attributes['oncemq.dedupe.age_ms'], 7_000);
    assert.deepEqual(attributes['oncemq.dedupe.differed'], ['attributes']);
  });

  test('links to the trace of the original after a restart of the server', async (t) => {
    const { path, remove } = temporaryDirectory();
    t.after(remove);
    const first = await openTraced(t, { data: path });
    const QueueUrl = await createFifo(first.sqs);
    const context = newContext();
    await first.sqs.sendMessage({ QueueUrl, ...message, MessageAttributes: context.attributes });
    await first.spans();
    const second = await openTraced(t, { data: path });
    await second.sqs.sendMessage({ QueueUrl, ...message });
    const { Messages = [] } = await second.sqs.receiveMessage({ QueueUrl });
    await second.sqs.deleteMessage({ QueueUrl, ReceiptHandle: Messages[0]?.ReceiptHandle });
    await second.sqs.sendMessage({ QueueUrl, ...message });
    const [duplicate, later] = named(await second.spans(), 'send jobs.fifo');
    assert.deepEqual(duplicate?.links.map(idsOf), [idsOf(context)]);
    assert.deepEqual(later?.links, [], 'the original is gone, and with it what it carried');
  });

  // A timeout, since a server that waits here would wait forever.
  test('delays no answer while its original is looked up, once per batch', {
    timeout: 60_000,
  }, async (t) => {
    const { path, remove } = temporaryDirectory();
    t.after(remove);
    const first = await openTraced(t, { data: path });
    const QueueUrl = await createFifo(first.sqs);
    const contexts = [newContext(), newContext()];
    const Entries = contexts.map((_, at) => ({
      Id: String(at),
      MessageBody: String(at),
      MessageGroupId: 'g',
    }));
    await first.sqs.sendMessageBatch({
      QueueUrl,
      Entries: Entries.map((entry, at) => ({
        ...entry,
        MessageAttributes: contexts[at]?.attributes,
      })),
    });
    await first.spans();
    const second = await openTraced(t, { data: path });
    const { backend } = second.server;
    const contents = backend.contents.bind(backend);
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let lookUps = 0;
    backend.contents = async (queue, sequences) => {
      lookUps += 1;
      await held;
      return contents(queue, sequences);
    };
    await second.sqs.sendMessageBatch({ QueueUrl, Entries });
    assert.equal(lookUps, 1);
    const told = second.spans();
    goOn();
    assert.deepEqual(
      named(await told, 'send jobs.fifo').map(({ links }) => links.map(idsOf)),
      contexts.map((context) => [idsOf(context)]),
    );
  });
});

test('each message of a batch has a span, including a duplicate or refused one', async (t) => {
  const { sqs, spans } = await openTraced(t);
  const QueueUrl = await createFifo(sqs);
  const contexts = [newContext(), newContext(), newContext()];
  const Entries = ['one', 'one', ''].map((MessageBody, at) => ({
    Id: String(at),
    MessageBody,
    MessageGroupId: 'g',
    MessageAttributes: contexts[at]?.attributes,
  }));
  await sqs.sendMessageBatch({ QueueUrl, Entries });
  const sends = named(await spans(), 'send jobs.fifo');
  assert.deepEqual(sends.map(parentOf), contexts.map(idsOf));
  assert.deepEqual(
    sends.map(({ attributes }) => attributes['messaging.batch.message_count']),
    [3, 3, 3],
  );
  const [first, duplicate, refused] = sends as [CollectedSpan, CollectedSpan, CollectedSpan];
  assert.deepEqual(duplicate.links.map(idsOf), [idsOf(first)]);
  assert.equal(refused.hasFailed, true);
  assert.equal(refused.attributes['error.type'], 'MissingParameter');
});

test('a message that breaks its contract says so in its span, whether it is refused or not', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-contract-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const contract = join(folder, 'oncemq.contract.json');
  const queues = [{ queue: 'strict*', mode: 'reject' }, { queue: '*' }];
  const topics = [{ topic: 'strict', mode: 'reject' }, { topic: '*' }];
  writeFileSync(contract, JSON.stringify({ queues, topics }));
  const { sqs, sns, spans } = await openTraced(t, { contract });
  const good =
    '{"dedupe_key":"a","event_id":"019ae6a8-9800-7d5c-b86d-ab6d8b449884","event_source":"kfm.a.b","event_time":"2025-12-04T00:00:00Z","payload":{}}';
  const bodies = [good, 'hello', good.replace('{}', '{"other":1}')];
  const Attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
  for (const QueueName of ['jobs.fifo', 'strict.fifo']) {
    const { QueueUrl } = await sqs.createQueue({ QueueName, Attributes });
    const Entries = bodies.map((MessageBody, at) => ({
      Id: String(at),
      MessageBody,
      MessageGroupId: 'g',
    }));
    await sqs.sendMessageBatch({ QueueUrl, Entries });
  }
  for (const Name of ['news', 'strict']) {
    const { TopicArn } = await sns.createTopic({ Name });
    await Promise.allSettled([sns.publish({ TopicArn, Message: 'hello' })]);
  }
  const told = await spans();
  const violations = (name: string, hasFailed: boolean): unknown[] =>
    named(told, name).map((span) => [
      span.attributes['oncemq.contract.violation'],
      span.hasFailed === hasFailed,
    ]);
  const expected = [
    ['body-not-envelope', true],
    ['key-reused', true],
  ];
  assert.deepEqual(violations('send jobs.fifo', false), [[undefined, true], ...expected]);
  assert.deepEqual(violations('send strict.fifo', true), [[undefined, false], ...expected]);
  assert.deepEqual(violations('publish news', false), expected.slice(0, 1));
  assert.deepEqual(violations('publish strict', true), expected.slice(0, 1));
});

test('a batch of deletes is one span with a link for each message', async (t) => {
  const { sqs, spans } = await openTraced(t);
  const QueueUrl = await createFifo(sqs);
  const contexts = [newContext(), newContext()];
  for (const [at, { attributes }] of contexts.entries()) {
    const MessageBody = String(at);
    await sqs.sendMessage({ QueueUrl, ...message, MessageBody, MessageAttributes: attributes });
  }
  const { Messages = [] } = await sqs.receiveMessage({ QueueUrl, MaxNumberOfMessages: 10 });
  const Entries = Messages.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle }));
  await sqs.deleteMessageBatch({ QueueUrl, Entries });
  const settle = only(await spans(), 'delete jobs.fifo');
  assert.equal(settle.attributes['messaging.batch.message_count'], 2);
  assert.deepEqual(settle.links.map(idsOf), contexts.map(idsOf));
});

test('a request refused as a whole is one failed span with the name of the error', async (t) => {
  const { sqs, server, spans } = await openTraced(t);
  const QueueUrl = `${server.url}/000000000000/missing`;
  const Entries = ['a', 'b'].map((Id) => ({ Id, MessageBody: Id }));
  await assert.rejects(sqs.sendMessageBatch({ QueueUrl, Entries }));
  await assert.rejects(sqs.receiveMessage({ QueueUrl }));
  const told = await spans();
  assert.deepEqual(
    told.map(({ name, hasFailed, attributes }) => [name, hasFailed, attributes['error.type']]),
    ['send', 'receive'].map((name) => [`${name} missing`, true, 'QueueDoesNotExist']),
  );
});

test('a send that cannot be stored is a failed span', async (t) => {
  const collector = await openCollector();
  t.after(() => collector.close());
  setVariables(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const { path, remove } = temporaryDirectory();
  t.after(remove);
  const prefix = ['bash', '-c', 'ulimit -S -f 2000; exec "$0" "$@"'];
  const server = await ServerProcess.start(['--data', path], { prefix });
  await server.call('CreateQueue', { QueueName: 'jobs' });
  const send = { QueueUrl: server.queueUrl('jobs'), MessageBody: 'x'.repeat(200_000) };
  while ((await server.call('SendMessage', send)).status === 200);
  await server.kill('SIGTERM');
  const failed = collector.spans.filter(({ hasFailed }) => hasFailed);
  assert.deepEqual(
    failed.map(({ name, attributes }) => [name, attributes['error.type']]),
    [['send jobs', 'ServiceUnavailable']],
  );
});

describe('a publication', () => {
  test('is one span that names the queues it reached, and their receives link to it', async (t) => {
    const { sqs, sns, spans } = await openTraced(t);
    const queues = ['east.fifo', 'west.fifo'];
    for (const name of queues) await createFifo(sqs, name);
    const { TopicArn } = await sns.createTopic({
      Name: 'prices.fifo',
      Attributes: { FifoTopic: 'true', ContentBasedDeduplication: 'true' },
    });
    for (const name of queues) {
      const Endpoint = `arn:aws:sqs:us-east-1:000000000000:${name}`;
      await sns.subscribe({ TopicArn, Protocol: 'sqs', Endpoint });
    }
    const context = newContext();
    const publication = { TopicArn, Message: 'hello', MessageGroupId: 'g' };
    await sns.publish({ ...publication, MessageAttributes: context.attributes });
    await sns.publish(publication);
    const QueueUrl = (await sqs.getQueueUrl({ QueueName: 'west.fifo' })).QueueUrl;
    const { Messages = [] } = await sqs.receiveMessage({ QueueUrl });
    const told = await spans();
    const [publish, duplicate] = named(told, 'publish prices.fifo') as [
      CollectedSpan,
      CollectedSpan,
    ];
    assert.equal(publish.attributes['messaging.system'], 'aws.sns');
    assert.equal(parentOf(publish), idsOf(context));
    assert.equal(publish.attributes['oncemq.fan_out.queues'], 2);
    assert.deepEqual(
      publish.events.map(({ attributes }) => attributes['messaging.destination.name']),
      queues,
    );
    assert.equal(publish.events[1]?.attributes['messaging.message.id'], Messages[0]?.MessageId);
    assert.deepEqual(only(told, 'receive west.fifo').links.map(idsOf), [idsOf(publish)]);
    assert.deepEqual(duplicate.links.map(idsOf), [idsOf(publish)]);
    assert.equal(duplicate.attributes['oncemq.duplicate'], true);
    assert.deepEqual(duplicate.events, []);
  });
});

describe('the standard variables', () => {
  test('a sampler that samples nothing exports nothing, and sends work', async (t) => {
    const { sqs, spans } = await openTraced(t, {}, { OTEL_TRACES_SAMPLER: 'always_off' });
    const QueueUrl = await createFifo(sqs);
    await sqs.sendMessage({ QueueUrl, ...message });
    assert.deepEqual(await spans(), []);
  });

  test('a trace that its sender does not sample is not exported either', async (t) => {
    const { sqs, spans } = await openTraced(t);
    const QueueUrl = await createFifo(sqs);
    const StringValue = newContext().traceparent.replace(/01$/, '00');
    const traceparent = { DataType: 'String', StringValue };
    await sqs.sendMessage({ QueueUrl, ...message, MessageAttributes: { traceparent } });
    assert.deepEqual(await spans(), []);
  });

  test('propagators that are not named are not used', async (t) => {
    const { sqs, spans } = await openTraced(t, {}, { OTEL_PROPAGATORS: 'xray, baggage' });
    const QueueUrl = await createFifo(sqs);
    await sqs.sendMessage({ QueueUrl, ...message, MessageAttributes: newContext().attributes });
    assert.equal(only(await spans(), 'send jobs.fifo').parentSpanId, '');
  });
});

test('an unreachable collector disturbs no send, and the server still stops with 0', async (t) => {
  const collector = await openCollector();
  await collector.close();
  setVariables(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '1' });
  const server = await ServerProcess.start(['--memory']);
  await server.call('CreateQueue', { QueueName: 'jobs' });
  const QueueUrl = server.queueUrl('jobs');
  for (const MessageBody of ['one', 'two', 'three']) {
    const { status } = await server.call('SendMessage', { QueueUrl, MessageBody });
    assert.equal(status, 200);
  }
  const { body } = await server.call('ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10 });
  assert.equal(body.Messages.length, 3);
  assert.equal(await server.kill('SIGTERM'), 0);
});

test('a server that exports no traces loads nothing of OpenTelemetry', () => {
  const program = `
    import { createRequire } from 'node:module';
    import { startTestServer } from 'oncemq/testing';
    const server = await startTestServer();
    await server.close();
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    console.log(loaded.filter((file) => /opentelemetry.(sdk-trace|exporter-trace|propagator)/.test(file)).length);
  `;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env: { ...env, OTEL_TRACES_EXPORTER: 'otlp' },
  });
  assert.equal(stdout, '0\n', stderr);
});
