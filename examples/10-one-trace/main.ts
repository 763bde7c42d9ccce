/**
 * Producer, queue and consumer in one trace, and a retry that is suppressed: the spans of the program and of the server
 * go to one collector over OTLP and are printed as trees. The collector is a small one in this process; it stands in for
 * Jaeger, Tempo or whatever you use.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import {
  consume,
  defineProducer,
  idempotent,
  key,
  memoryInbox,
  openTelemetry,
} from '@oncemq/toolkit';
import * as api from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { type CollectedSpan, openCollector } from '#broker-test/support/span-collector.js';

const collector = await openCollector();

// The server needs only the standard variables. This collector accepts traces but no metrics.
const server = spawn(
  process.execPath,
  ['packages/broker/dist/src/cli/main.js', 'serve', '--memory', '--port', '0'],
  {
    env: {
      ...process.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_METRICS_EXPORTER: 'none',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const [ready] = await once(createInterface({ input: server.stdout }), 'line');
const sqs = new SQSClient({
  endpoint: /http:\S+/.exec(ready)?.[0] ?? '',
  region: 'us-east-1',
  credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
});
const { QueueUrl: queueUrl = '' } = await sqs.send(
  new CreateQueueCommand({
    QueueName: 'scenes.fifo',
    Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  }),
);

// The program has its own OpenTelemetry provider, which its other parts could use too.
const tracerProvider = new BasicTracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'pipeline' }),
  spanProcessors: [
    new BatchSpanProcessor(new OTLPTraceExporter({ url: `${collector.url}/v1/traces` })),
  ],
});
const telemetry = openTelemetry(api, { tracerProvider });

const refresh = defineProducer<{ tile: string; day: string }>({
  source: 'kfm.remote-sensing.landsat-refresh',
  dedupeKey: ({ tile, day }) => key('landsat', tile, day),
  eventTime: ({ day }) => `${day}T00:00:00Z`,
});
const scene = { tile: 'p32r29', day: '2025-12-04' };
await refresh.send(scene, { client: sqs, queueUrl, telemetry });
await refresh.send(scene, { client: sqs, queueUrl, telemetry }); // as after a timeout

const done = new AbortController();
const handler = idempotent(async () => done.abort(), memoryInbox(), { telemetry, queueUrl });
await consume({ client: sqs, queueUrl, handler, signal: done.signal });

sqs.destroy();
await tracerProvider.shutdown();
server.kill('SIGTERM');
await once(server, 'exit');
for (const root of collector.spans.filter(({ parentSpanId }) => parentSpanId === ''))
  print(root, '');
await collector.close();

function print(span: CollectedSpan, indent: string): void {
  const { name, resource, attributes, links, spanId } = span;
  const isDuplicate = attributes['oncemq.duplicate'] === true ? ', suppressed' : '';
  const linked = links.map((link) => ` -> ${link.spanId}`).join('');
  console.log(`${indent}${name} (${resource['service.name']}${isDuplicate}) ${spanId}${linked}`);
  const children = collector.spans
    .filter(({ parentSpanId }) => parentSpanId === spanId)
    .sort((one, other) => (one.startedAt < other.startedAt ? -1 : 1));
  for (const child of children) print(child, `${indent}  `);
}
