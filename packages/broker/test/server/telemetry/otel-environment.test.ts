/**
 * Which signals the OTEL_* variables export, and which variables are refused. The environment is an argument; what a
 * collector then receives is tested with a real one (metrics-export.test.ts).
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../../../src/server/config/config-error.ts';
import {
  type Environment,
  exportsOf,
  nothingExported,
} from '../../../src/server/telemetry/otel-environment.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

function refused(environment: Environment, text: RegExp): void {
  assert.throws(
    () => exportsOf(environment),
    (error) => error instanceof ConfigError && text.test(error.message),
  );
}

test('without a variable, or with empty ones, nothing is exported', () => {
  assert.deepEqual(exportsOf({}), nothingExported);
  const empty = { OTEL_METRICS_EXPORTER: '', OTEL_EXPORTER_OTLP_ENDPOINT: ' ' };
  assert.deepEqual(exportsOf(empty), nothingExported);
});

test('an endpoint for all signals exports all, every minute', () => {
  assert.deepEqual(exportsOf(endpoint), {
    metrics: { exporters: ['otlp'], intervalMs: 60_000, timeoutMs: 30_000 },
    traces: { exporters: ['otlp'], propagators: ['tracecontext', 'xray'] },
  });
});

test('an endpoint for one signal exports only that one', () => {
  const url = 'https://collector.example/v1';
  const metrics = exportsOf({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url });
  assert.deepEqual([metrics.metrics?.exporters, metrics.traces], [['otlp'], undefined]);
  const traces = exportsOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url });
  assert.deepEqual([traces.metrics, traces.traces?.exporters], [undefined, ['otlp']]);
});

test('a named exporter needs no endpoint, and none overrides one', () => {
  assert.deepEqual(exportsOf({ OTEL_METRICS_EXPORTER: 'otlp' }).metrics?.exporters, ['otlp']);
  const both = exportsOf({ OTEL_TRACES_EXPORTER: 'console, otlp' });
  assert.deepEqual(both.traces?.exporters, ['otlp', 'console']);
  assert.equal(exportsOf({ ...endpoint, OTEL_METRICS_EXPORTER: 'none' }).metrics, undefined);
  assert.equal(exportsOf({ ...endpoint, OTEL_METRICS_EXPORTER: 'prometheus' }).metrics, undefined);
});

test('a disabled SDK exports nothing, whatever else is set', () => {
  const environment = { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  assert.deepEqual(exportsOf({ ...environment, OTEL_SDK_DISABLED: 'True' }), nothingExported);
});

test('interval and timeout are honored, and the timeout is at most the interval', () => {
  const OTEL_METRIC_EXPORT_INTERVAL = '1000';
  const { metrics } = exportsOf({ ...endpoint, OTEL_METRIC_EXPORT_INTERVAL });
  assert.deepEqual([metrics?.intervalMs, metrics?.timeoutMs], [1000, 1000]);
  const OTEL_METRIC_EXPORT_TIMEOUT = '200';
  const short = exportsOf({ ...endpoint, OTEL_METRIC_EXPORT_INTERVAL, OTEL_METRIC_EXPORT_TIMEOUT });
  assert.equal(short.metrics?.timeoutMs, 200);
});

test('an invalid value is refused with the variable and what to use', () => {
  const grpc = /OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not supported\. Use http\/protobuf/;
  refused({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, grpc);
  const json = /OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: http\/json is not supported/;
  refused({ ...endpoint, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' }, json);
  refused(
    { OTEL_METRICS_EXPORTER: 'oltp' },
    /OTEL_METRICS_EXPORTER: oltp is unknown\. Known exporters are otlp, /,
  );
  refused(
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
    /must be an http:\/\/ or https:\/\/ URL, not collector:4318/,
  );
  refused(
    { ...endpoint, OTEL_METRIC_EXPORT_INTERVAL: '1m' },
    /INTERVAL must be a whole number of milliseconds.*, not 1m/,
  );
  refused(
    { ...endpoint, OTEL_METRIC_EXPORT_INTERVAL: '0' },
    /INTERVAL must be a whole number of milliseconds.*, not 0/,
  );
});

test('samplers and propagators must be those of the specification, and only those SQS supports are used', () => {
  const named = exportsOf({ ...endpoint, OTEL_PROPAGATORS: 'xray, baggage' });
  assert.deepEqual(named.traces?.propagators, ['xray']);
  const sampler = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };
  assert.ok(exportsOf({ ...endpoint, ...sampler }).traces !== undefined);
  refused(
    { ...endpoint, OTEL_TRACES_SAMPLER: 'sometimes' },
    /^OTEL_TRACES_SAMPLER must be one of .*, not sometimes/,
  );
  refused(
    { ...endpoint, ...sampler, OTEL_TRACES_SAMPLER_ARG: 'half' },
    /SAMPLER_ARG must be a number from 0 to 1, not half/,
  );
  refused(
    { ...endpoint, OTEL_PROPAGATORS: 'xray,pigeon' },
    /^OTEL_PROPAGATORS: pigeon is unknown\./,
  );
  const others = { OTEL_METRICS_EXPORTER: 'otlp', OTEL_PROPAGATORS: 'pigeon' };
  assert.equal(exportsOf(others).traces, undefined);
});

test('an unsupported protocol does not matter when nothing is exported by it', () => {
  const environment = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_METRICS_EXPORTER: 'console' };
  assert.deepEqual(exportsOf(environment).metrics?.exporters, ['console']);
});
