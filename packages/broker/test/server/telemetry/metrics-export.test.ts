/**
 * Metrics by OTLP: `oncemq serve` in a separate process, configured by OTEL_* variables as an operator would, and a real
 * collector that reads the bytes (support/otlp-collector.ts).
 */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { metricList } from '../../../src/server/telemetry/metric-list.ts';
import { OtlpCollector, type Received, type ReceivedMetric } from '../../support/otlp-collector.ts';
import { ServerProcess } from '../../support/server-process.ts';

/** A short interval, so that no test waits for a minute. */
const often = { OTEL_METRIC_EXPORT_INTERVAL: '100' };

async function start(t: TestContext, env: Record<string, string>): Promise<ServerProcess> {
  const server = await ServerProcess.start(['--memory'], { env });
  t.after(() => server.kill());
  return server;
}

async function collector(t: TestContext, port?: number): Promise<OtlpCollector> {
  const opened = await OtlpCollector.start(port);
  t.after(() => opened.close().catch(() => {}));
  return opened;
}

function metricIn({ metrics }: Received, name: string): ReceivedMetric {
  const found = metrics.find((metric) => metric.name === name);
  assert.ok(found !== undefined, `${name} did not arrive`);
  return found;
}

test('a collector gets every metric under its exact name, with its value', async (t) => {
  const opened = await collector(t);
  const server = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: opened.url, ...often });
  await server.call('CreateQueue', {
    QueueName: 'orders.fifo',
    Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  });
  const QueueUrl = server.queueUrl('orders.fifo');
  for (const MessageGroupId of ['a', 'b']) {
    await server.call('SendMessage', { QueueUrl, MessageBody: 'hello', MessageGroupId });
  }
  // Two exports: one that was in progress when the sends were answered, and one that began after them.
  await opened.next();
  const received = await opened.next();
  assert.equal(received.path, '/v1/metrics');
  assert.equal(received.headers['content-type'], 'application/x-protobuf');
  for (const { name, unit, kind } of received.metrics) {
    const row = metricList[name as keyof typeof metricList];
    assert.deepEqual([name, unit, kind], [name, row?.unit, row?.kind]);
  }
  const content = { queue: 'orders.fifo', source: 'content' };
  for (const name of ['sqs_fifo.dedupe_window_hits', 'sqs_fifo.dedupe.collisions_detected']) {
    const point = metricIn(received, name).points.find(({ attributes: { source } }) => {
      return source === 'content';
    });
    assert.deepEqual(point, { attributes: content, value: 1, count: undefined });
  }
  const lengths = metricIn(received, 'sqs_fifo.body_hash.length_bytes').points;
  assert.deepEqual(
    lengths.find(({ attributes }) => attributes['source'] === 'content'),
    { attributes: { queue: 'orders.fifo', source: 'content' }, value: 10, count: 2 },
  );
  const visible = metricIn(received, 'oncemq.queue.visible').points;
  assert.deepEqual(
    visible.map(({ attributes, value }) => [attributes, value]),
    [[{ queue: 'orders.fifo' }, 1]],
  );
  assert.ok((metricIn(received, 'process.cpu.time').points[0]?.value ?? 0) > 0);
});

test('the collector receives the resource and headers set in the environment', async (t) => {
  const opened = await collector(t);
  await start(t, {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${opened.url}/custom/path`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=north',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.version=9',
    ...often,
  });
  const { path, headers, resource } = await opened.next();
  assert.equal(path, '/custom/path');
  assert.equal(headers['x-tenant'], 'north');
  assert.equal(resource['service.name'], 'oncemq');
  assert.equal(resource['service.version'], '9');
  assert.equal(resource['deployment.environment.name'], 'test');
  assert.match(resource['service.instance.id'] ?? '', /^[0-9a-f-]{36}$/);

  const named = await collector(t);
  await start(t, {
    OTEL_EXPORTER_OTLP_ENDPOINT: named.url,
    OTEL_SERVICE_NAME: 'queue-of-the-north',
    ...often,
  });
  assert.equal((await named.next()).resource['service.name'], 'queue-of-the-north');
});

test('the last values are sent when the server stops, before the interval is over', async (t) => {
  const opened = await collector(t);
  const server = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: opened.url });
  await server.call('CreateQueue', { QueueName: 'jobs' });
  const QueueUrl = server.queueUrl('jobs');
  await server.call('SendMessage', { QueueUrl, MessageBody: 'x' });
  assert.equal(opened.received.length, 0);
  assert.equal(await server.kill('SIGTERM'), 0);
  assert.equal(opened.received.length, 1);
  const sent = metricIn(opened.received[0] as Received, 'oncemq.messages.sent');
  assert.deepEqual(sent.points[0]?.value, 1);
});

test('an unreachable collector is reported once, disturbs nothing, and gets metrics when it is back', async (t) => {
  const away = await collector(t);
  const { port, url } = away;
  await away.close();
  const server = await start(t, {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    // Prevents repeated retries within one export.
    OTEL_EXPORTER_OTLP_TIMEOUT: '50',
    ...often,
  });
  const complaints = () => server.said().match(/metrics cannot be exported/g)?.length ?? 0;
  const until = async (isSo: () => boolean): Promise<void> => {
    for (let times = 0; times < 10_000 && !isSo(); times += 1) {
      assert.equal((await server.inspect('health')).status, 200);
    }
    assert.ok(isSo(), server.said());
  };
  await until(() => complaints() > 0);
  const back = await collector(t, port);
  await back.next();
  await until(() => server.said().includes('metrics are exported again'));
  assert.equal(complaints(), 1);
});

test('a variable that OpenTelemetry cannot use is reported at the start', async (t) => {
  const { url } = await collector(t);
  const server = await start(t, {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_CERTIFICATE: '/none/such.pem',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'zstd',
  });
  await server.kill();
  assert.match(server.said(), /OpenTelemetry: .*OTEL_EXPORTER_OTLP_COMPRESSION.*'zstd'/);
  assert.match(server.said(), /OpenTelemetry: Failed to read root certificate file/);

  const traced = await start(t, {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url,
    OTEL_BSP_SCHEDULE_DELAY: 'soon',
  });
  await traced.kill();
  assert.match(traced.said(), /OpenTelemetry: .*'soon' for OTEL_BSP_SCHEDULE_DELAY/);
});

test('a server whose collector is unreachable still stops with 0', async (t) => {
  const away = await collector(t);
  await away.close();
  const server = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: away.url });
  assert.equal(await server.kill('SIGTERM'), 0);
});

test('a start that fails closes its export, which sends its last values', async (t) => {
  const opened = await collector(t);
  const first = await start(t, {});
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: opened.url };
  const said = await ServerProcess.refusal(['--memory', '--port', new URL(first.url).port], {
    env,
  });
  assert.match(said, /is already in use/);
  assert.equal(opened.received.length, 1);
});

test('an unsupported protocol is refused at the start, with what to use', async () => {
  const env = { OTEL_METRICS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  const said = await ServerProcess.refusal(['--memory'], { env });
  assert.match(said, /OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not supported\. Use http\/protobuf/);
  assert.doesNotMatch(said, /\n\s+at /);
});
