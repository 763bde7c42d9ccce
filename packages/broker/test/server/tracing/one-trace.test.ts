/**
 * Producer, queue and consumer in one trace: the toolkit on both sides of a server, each with an OpenTelemetry of its own.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consume, defineProducer, openTelemetry } from '@oncemq/toolkit';
import * as api from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { createFifo, idsOf, named, openTraced, parentOf } from './fixture.ts';

const prices = defineProducer<{ part: string }>({
  source: 'kfm.shop.prices',
  dedupeKey: ({ part }) => part,
  eventTime: () => 0,
});

test('send, queue, handler and delete are one trace, and a retry links to it', async (t) => {
  const { sqs: client, spans } = await openTraced(t);
  const queueUrl = await createFifo(client);
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const telemetry = openTelemetry(api, {
    tracerProvider: new BasicTracerProvider({ spanProcessors }),
  });
  const destination = { client, queueUrl, telemetry };
  await prices.send({ part: 'brake-pad-7' }, destination);
  await prices.send({ part: 'brake-pad-7' }, destination);
  const stop = new AbortController();
  const handler = async (): Promise<void> => stop.abort();
  await consume({ ...destination, handler, signal: stop.signal, waitSeconds: 0 });

  const [first, retry, process] = exporter.getFinishedSpans() as [
    ReadableSpan,
    ReadableSpan,
    ReadableSpan,
  ];
  assert.equal(process.name, 'process jobs.fifo');
  assert.equal(process.parentSpanContext?.spanId, first.spanContext().spanId);
  const told = await spans();
  const [send, duplicate] = named(told, 'send jobs.fifo');
  const [receive] = named(told, 'receive jobs.fifo');
  const [settle] = named(told, 'delete jobs.fifo');
  assert.ok(send !== undefined && duplicate !== undefined);
  assert.ok(receive !== undefined && settle !== undefined);
  assert.equal(parentOf(send), idsOf(first.spanContext()));
  assert.equal(parentOf(settle), idsOf(first.spanContext()));
  assert.deepEqual(receive.links.map(idsOf), [idsOf(first.spanContext())]);
  assert.equal(parentOf(duplicate), idsOf(retry.spanContext()));
  assert.deepEqual(duplicate.links.map(idsOf), [idsOf(send)]);
  assert.deepEqual(duplicate.attributes['oncemq.dedupe.differed'], []);
});
