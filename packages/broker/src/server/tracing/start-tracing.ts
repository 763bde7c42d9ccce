/**
 * The way of spans out of the process: gathered, sent in batches to an OTLP collector or printed, and dropped when the
 * collector is away for long. OpenTelemetry's own variables say how (`OTEL_EXPORTER_OTLP_*`, `OTEL_BSP_*`,
 * `OTEL_TRACES_SAMPLER`). The provider is this server's own: nothing is registered for the process.
 *
 * This file and what it imports is loaded only when traces are exported.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ConsoleSpanExporter,
  SimpleSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { ActionBackend } from '../../api/actions/action.ts';
import type { ApiRequest } from '../../api/request.ts';
import type { Backend } from '../../storage/backend.ts';
import { ConfigError } from '../config-error.ts';
import type { Log } from '../log.ts';
import type { Environment, Exporters } from '../telemetry/otel-environment.ts';
import { serverResource } from '../telemetry/resource.ts';
import { version } from '../version.ts';
import { RequestSpans } from './request-spans.ts';
import { contextReader } from './trace-context.ts';

export interface TracingOptions {
  readonly backend: Backend;
  readonly exporters: Exporters;
  readonly log: Log;
}

export interface Tracing {
  /** The backend as one request sees it. */
  backendFor(request: ApiRequest): ActionBackend;
  /** Sends what is left, as far as there is somebody who takes it. */
  close(): Promise<void>;
}

/** How long stopping waits for the collector. */
const closeMsMax = 2_000;

/** Reads the environment of the process, as the exporters of OpenTelemetry do. */
export function startTracing(options: TracingOptions): Tracing {
  const { backend, exporters, log } = options;
  checkSampler(process.env);
  const readContext = contextReader(process.env);
  const provider = new BasicTracerProvider({
    resource: serverResource(),
    spanProcessors: exporters.map((exporter) => processorOf(exporter, log)),
  });
  const spans = new RequestSpans({
    backend,
    tracer: provider.getTracer('oncemq', version),
    readContext,
    onError: (error) => log.error('a span could not be made', error),
  });
  return {
    backendFor: (request) => spans.backendFor(request),
    close: () =>
      Promise.race([
        // What cannot be sent has been logged already.
        provider.shutdown().catch(() => {}),
        sleep(closeMsMax, undefined, { ref: false }),
      ]),
  };
}

function processorOf(exporter: Exporters[number], log: Log): SpanProcessor {
  // The console is for looking on: each span at once.
  if (exporter === 'console') return new SimpleSpanProcessor(new ConsoleSpanExporter());
  return new BatchSpanProcessor(watched(new OTLPTraceExporter(), log));
}

/** The exporter, with a word to the log when it begins to fail and when it has got over it. */
function watched(exporter: SpanExporter, log: Log): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const fails = result.code !== ExportResultCode.SUCCESS;
        if (fails && !isFailing) {
          const { message, code } = (result.error ?? {}) as NodeJS.ErrnoException;
          log.error('spans cannot be exported; the server goes on without them', message || code);
        }
        if (!fails && isFailing) log.info('spans are exported again');
        isFailing = fails;
        done(result);
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

const samplers: readonly string[] = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
];

/** OpenTelemetry would take every trace instead, and say nothing. */
function checkSampler(environment: Environment): void {
  const sampler = environment['OTEL_TRACES_SAMPLER']?.trim() || 'parentbased_always_on';
  if (!samplers.includes(sampler)) {
    throw new ConfigError(`OTEL_TRACES_SAMPLER: ${sampler} is none of ${samplers.join(', ')}.`);
  }
  const ratio = environment['OTEL_TRACES_SAMPLER_ARG']?.trim() || '1';
  if (sampler.endsWith('traceidratio') && !(Number(ratio) >= 0 && Number(ratio) <= 1)) {
    throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG: ${ratio} is no number from 0 to 1.`);
  }
}
