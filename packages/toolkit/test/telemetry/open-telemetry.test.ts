/**
 * The toolkit's telemetry with a real OpenTelemetry SDK and the real AWS client on a real server: the four metrics, the
 * spans of sends and handlers, and the trace that a message carries.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as api from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { consume } from '../../src/consumer/consume.ts';
import { idempotent } from '../../src/consumer/idempotent.ts';
import type { SqsMessage } from '../../src/consumer/received.ts';
import { ContractError } from '../../src/contract/refusals.ts';
import { dedupeGuard } from '../../src/guard/dedupe-guard.ts';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import { openFileOutbox } from '../../src/outbox/file-outbox.ts';
import { createRelay } from '../../src/outbox/relay.ts';
import { openTelemetry } from '../../src/telemetry/open-telemetry.ts';
import { landsat, type Scene, scene, scenes } from '../support/landsat.ts';
import { openedTelemetry, traceparentOf, within } from '../support/open-telemetry.ts';
import { type OpenQueue, openQueue } from '../support/server.ts';

const { SpanKind, SpanStatusCode } = api;

const producer = landsat();
const traceId = '5b8efff798038103d269b633813fc60c';
const spanId = 'eee19b7ec3c1b174';
const traceparent = `00-${traceId}-${spanId}-01`;

async function receive({ client, queueUrl: QueueUrl }: OpenQueue): Promise<SqsMessage[]> {
  const { Messages = [] } = await client.receiveMessage({
    QueueUrl,
    MaxNumberOfMessages: 10,
    MessageAttributeNames: ['All'],
  });
  return Messages;
}

function traceparentsOf(messages: readonly SqsMessage[]): (string | undefined)[] {
  return messages.map(({ MessageAttributes }) => MessageAttributes?.['traceparent']?.StringValue);
}

function only(spans: readonly ReadableSpan[]): ReadableSpan {
  assert.equal(spans.length, 1);
  return spans[0] as ReadableSpan;
}

describe('the four metrics', () => {
  test('count what the guard sees, by queue, source and reason', async (t) => {
    const { telemetry, points } = openedTelemetry();
    const { client, queueUrl: QueueUrl } = await openQueue(t);
    const { report } = telemetry;
    client.middlewareStack.use(dedupeGuard({ mode: 'observe', report }));
    const { body } = producer.message(scene);
    const kind = { DataType: 'String', StringValue: 'other' };
    const send = (MessageBody: string, rest: object = {}) =>
      client.sendMessage({ QueueUrl, MessageBody, MessageGroupId: 'g', ...rest });
    await send(body);
    await send(body);
    await send(body, { MessageAttributes: { kind } });
    await send('hello', { MessageDeduplicationId: 'd' });
    await send('hello', { MessageDeduplicationId: 'd' });
    await send('world', { MessageDeduplicationId: 'd' });
    const queue = 'events.fifo';
    const about = (source: string) => ({ queue, source });
    const bytes = Buffer.byteLength(body);
    const hits = { name: 'sqs_fifo.dedupe_window_hits', unit: '{send}' };
    const collisions = { name: 'sqs_fifo.dedupe.collisions_detected', unit: '{send}' };
    const reason = 'same-body-other-attributes';
    const lengths = { name: 'sqs_fifo.body_hash.length_bytes', unit: 'By' };
    assert.deepEqual(await points(), [
      { ...collisions, attributes: { ...about('content'), reason }, value: 1 },
      { ...collisions, attributes: about('explicit'), value: 1 },
      {
        name: 'sqs_fifo.producer.violations',
        unit: '{send}',
        attributes: { ...about('explicit'), reason: 'body-not-envelope' },
        value: 3,
      },
      { ...lengths, attributes: about('content'), value: 3 * bytes },
      { ...lengths, attributes: about('explicit'), value: 15 },
      { ...hits, attributes: about('content'), value: 2 },
      { ...hits, attributes: about('explicit'), value: 2 },
    ]);
  });

  test('a send that violates the contract in observe mode has the violation on its span', async (t) => {
    const queue = await openQueue(t);
    const { telemetry, spans } = openedTelemetry();
    queue.client.middlewareStack.use(dedupeGuard({ mode: 'observe', report: telemetry.report }));
    await landsat().send(scene, { ...queue, telemetry });
    await landsat().send({ ...scene, cloud: 0.5 }, { ...queue, telemetry });
    assert.deepEqual(
      spans().map(({ attributes }) => attributes['oncemq.contract.violation']),
      [undefined, 'key-reused'],
    );
  });

  test('count what a producer refuses before it is sent', async (t) => {
    const { telemetry, points, spans } = openedTelemetry();
    const { client, queueUrl } = await openQueue(t);
    const sent = producer.send({ ...scene, day: 'yesterday' }, { client, queueUrl, telemetry });
    await assert.rejects(sent, ContractError);
    const [point, ...others] = await points();
    assert.equal(point?.name, 'sqs_fifo.producer.violations');
    assert.deepEqual(point?.attributes, { queue: 'events.fifo', reason: 'time-invalid' });
    assert.deepEqual(others, []);
    assert.deepEqual(spans(), []);
  });
});

describe('a send', () => {
  test('is a span below the active one, and its message carries it', async (t) => {
    const { telemetry, tracer, spans } = openedTelemetry();
    const queue = await openQueue(t);
    const request = tracer.startSpan('request');
    const { messageId } = await within(request, () =>
      producer.send(scene, { ...queue, telemetry }),
    );
    const [send] = spans() as [ReadableSpan];
    assert.equal(send.name, 'send events.fifo');
    assert.equal(send.kind, SpanKind.PRODUCER);
    assert.equal(send.parentSpanContext?.spanId, request.spanContext().spanId);
    assert.deepEqual(send.attributes, {
      'messaging.system': 'aws_sqs',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'events.fifo',
      'messaging.message.id': messageId,
    });
    assert.deepEqual(traceparentsOf(await receive(queue)), [traceparentOf(send.spanContext())]);
  });

  test('of several is one span per request, carried by all of its messages', async (t) => {
    const { telemetry, spans } = openedTelemetry();
    const queue = await openQueue(t);
    await producer.sendBatch(scenes(12), { ...queue, telemetry });
    assert.deepEqual(
      spans().map(({ attributes }) => attributes['messaging.batch.message_count']),
      [10, 2],
    );
    const [first] = spans() as [ReadableSpan];
    const carried = traceparentsOf(await receive(queue));
    assert.deepEqual(carried, Array(10).fill(traceparentOf(first.spanContext())));
  });

  test('leaves a message with a trace unchanged, and links to it', async (t) => {
    const { telemetry, spans } = openedTelemetry();
    const queue = await openQueue(t);
    const traced = landsat({ attributes: () => ({ traceparent }) });
    await traced.send(scene, { ...queue, telemetry });
    assert.deepEqual(traceparentsOf(await receive(queue)), [traceparent]);
    const { links } = only(spans());
    assert.deepEqual([links[0]?.context.traceId, links[0]?.context.spanId], [traceId, spanId]);
  });

  test('carries no trace where ten attributes, or a mebibyte, leave no room for it', async (t) => {
    const { telemetry, spans } = openedTelemetry();
    const queue = await openQueue(t);
    const ten = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`a${at}`, 'x']));
    await landsat({ attributes: () => ten }).send(scene, { ...queue, telemetry });
    const filled = (filler: string) => landsat({ payload: () => ({ ...scene, filler }) });
    const mebibyte = 1_048_576 - filled('').message(scene).body.length;
    const [roomy, full] = [mebibyte - 100, mebibyte].map((length) => filled('x'.repeat(length)));
    await roomy?.send(scene, { ...queue, telemetry });
    await full?.send(scene, { ...queue, telemetry });
    assert.equal(spans().filter(({ status }) => status.code === SpanStatusCode.ERROR).length, 0);
    const messages = await receive(queue);
    assert.deepEqual(
      traceparentsOf(messages).map((each) => each !== undefined),
      [false, true, false],
    );
  });

  test('carries nothing where no provider is registered', async (t) => {
    const queue = await openQueue(t);
    const telemetry = openTelemetry(api);
    await producer.send(scene, { ...queue, telemetry });
    assert.deepEqual(traceparentsOf(await receive(queue)), [undefined]);
    const message = producer.message(scene);
    assert.equal(telemetry.carry(message), message);
  });

  test('that fails is a failed span', async (t) => {
    const { telemetry, spans } = openedTelemetry();
    const queue = await openQueue(t);
    const queueUrl = queue.queueUrl.replace('events', 'missing');
    await assert.rejects(producer.send(scene, { ...queue, queueUrl, telemetry }));
    const { status, attributes } = only(spans());
    assert.equal(status.code, SpanStatusCode.ERROR);
    assert.equal(attributes['error.type'], 'QueueDoesNotExist');
  });

  test('repeated for the same event is no collision, whatever trace it carries', async (t) => {
    const { telemetry } = openedTelemetry();
    const queue = await openQueue(t);
    for (let round = 0; round < 2; round += 1) await producer.send(scene, { ...queue, telemetry });
    const types = queue.server.events.map(({ type }) => type);
    assert.equal(types.filter((type) => type === 'duplicate').length, 1);
    assert.ok(!types.includes('collision'));
  });
});

test('an outbox keeps the trace with the message, and every send of it carries that trace', async (t) => {
  const { telemetry, tracer, spans } = openedTelemetry();
  const queue = await openQueue(t);
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-outbox-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const outbox = await openFileOutbox(folder);
  t.after(() => outbox.close());
  const request = tracer.startSpan('request');
  await within(request, () => outbox.append(telemetry.carry(producer.message(scene))));
  const relay = createRelay({ outbox, ...queue, telemetry, onPastWindow: () => {} });
  await relay.flush();
  await queue.server.clock.advance(300);
  await relay.replay({ from: 0, to: Date.now() });
  const [, ...sends] = spans();
  const { spanId: carried } = request.spanContext();
  assert.deepEqual(
    sends.map(({ name, links }) => [name, links[0]?.context.spanId]),
    Array(2).fill(['send events.fifo', carried]),
  );
  const expected = traceparentOf(request.spanContext());
  assert.deepEqual(traceparentsOf(await receive(queue)), [expected, expected]);
});

describe('the handling of a message', () => {
  const { body: Body } = producer.message(scene);
  const attributes = { traceparent: { StringValue: traceparent } };
  const parentOf = ({ parentSpanContext }: ReadableSpan): unknown => [
    parentSpanContext?.traceId,
    parentSpanContext?.spanId,
  ];

  test('is a span below the send, in the plain loop', async (t) => {
    const { telemetry, spans } = openedTelemetry();
    const queue = await openQueue(t);
    await producer.send(scene, { ...queue, telemetry });
    const stop = new AbortController();
    const handler = async (): Promise<void> => stop.abort();
    await consume({ ...queue, handler, signal: stop.signal, waitSeconds: 0, telemetry });
    const [send, process] = spans() as [ReadableSpan, ReadableSpan];
    assert.equal(process.name, 'process events.fifo');
    assert.equal(process.kind, SpanKind.CONSUMER);
    assert.deepEqual(parentOf(process), [send.spanContext().traceId, send.spanContext().spanId]);
    assert.equal(
      process.attributes['messaging.message.id'],
      send.attributes['messaging.message.id'],
    );
  });

  test('is below the trace that the message carries, in any supported form', async () => {
    const xray = `Root=1-${traceId.slice(0, 8)}-${traceId.slice(8)};Parent=${spanId};Sampled=1`;
    const wrapped = JSON.stringify({
      Type: 'Notification',
      Message: Body,
      MessageAttributes: { traceparent: { Type: 'String', Value: traceparent } },
    });
    const forms: SqsMessage[] = [
      { Body, MessageAttributes: attributes },
      { Body, Attributes: { AWSTraceHeader: xray } },
      { Body: wrapped },
    ];
    for (const message of forms) {
      const { telemetry, spans } = openedTelemetry();
      await idempotent(async () => {}, memoryInbox(), { telemetry })(message);
      assert.deepEqual(parentOf(only(spans())), [traceId, spanId]);
    }
  });

  test('is below an active span, with a link to the trace of the message', async () => {
    const { telemetry, tracer, spans } = openedTelemetry();
    const invocation = tracer.startSpan('invocation');
    const handler = idempotent(async () => {}, memoryInbox(), { telemetry });
    const record = {
      messageId: 'm',
      body: Body,
      messageAttributes: { traceparent: { stringValue: traceparent } },
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:events.fifo',
    };
    await within(invocation, () => handler({ Records: [record] }));
    const [process] = spans() as [ReadableSpan];
    assert.equal(process.name, 'process events.fifo');
    assert.equal(process.parentSpanContext?.spanId, invocation.spanContext().spanId);
    assert.deepEqual(
      process.links.map(({ context }) => context.spanId),
      [spanId],
    );
  });

  test('starts a trace when the message carries no readable one', async () => {
    const { telemetry, spans } = openedTelemetry();
    const handler = idempotent(async () => {}, memoryInbox(), { telemetry });
    const wrong = [undefined, '', 'hello', '00-0-0-00', `ff-${traceId}-${spanId}-01`];
    for (const StringValue of wrong) {
      await handler({ Body, MessageAttributes: { traceparent: { StringValue } } });
    }
    assert.equal(spans().length, wrong.length);
    assert.ok(spans().every((span) => span.parentSpanContext === undefined));
  });

  test('records the outcome of the inbox, and what failed', async () => {
    const { telemetry, spans } = openedTelemetry();
    const queueUrl = 'http://127.0.0.1/000000000000/events.fifo';
    let isFailing = true;
    const handler = idempotent<Scene, undefined>(
      async () => {
        if (isFailing) throw new RangeError('no room');
      },
      memoryInbox(),
      { telemetry, queueUrl },
    );
    await assert.rejects(handler({ Body }), RangeError);
    isFailing = false;
    await handler({ Body });
    await handler({ Body });
    assert.deepEqual(
      spans().map(({ status, attributes }) => [
        status.code === SpanStatusCode.ERROR,
        attributes['error.type'],
        attributes['oncemq.inbox.outcome'],
      ]),
      [
        [true, 'RangeError', undefined],
        [false, undefined, 'done'],
        [false, undefined, 'duplicate'],
      ],
    );
  });
});

test('the toolkit itself loads nothing of OpenTelemetry', () => {
  const folder = new URL('../../src/', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const scripts = files.filter((file) => file.endsWith('.js'));
  assert.ok(scripts.includes('index.js'));
  for (const file of scripts) {
    const text = readFileSync(new URL(file, folder), 'utf8');
    assert.doesNotMatch(text, /^\s*import .*@opentelemetry|import\(['"]@opentelemetry/m, file);
  }
});
