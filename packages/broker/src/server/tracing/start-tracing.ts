/**
 * Exports spans: they are sent in batches to an OTLP collector or printed, and dropped if the collector is unreachable for
 * long. OpenTelemetry's own variables configure it (`OTEL_EXPORTER_OTLP_*`, `OTEL_BSP_*`, `OTEL_TRACES_SAMPLER`). The
 * provider belongs to this server; nothing is registered globally.
 *
 * This file and its imports are loaded only when traces are exported.
 */

import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ConsoleSpanExporter,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { ActionBackend } from '../../api/actions/action.ts';
import type { ApiRequest } from '../../api/request.ts';
import type { Backend } from '../../storage/backend.ts';
import type { Log } from '../log.ts';
import type { Exporters, TelemetryExports } from '../telemetry/otel-environment.ts';
import { serverResource } from '../telemetry/resource.ts';
import { closeExport, telling, watched } from '../telemetry/watched-export.ts';
import { version } from '../version.ts';
import { RequestSpans } from './request-spans.ts';
import { contextReader } from './trace-context.ts';

export interface TracingOptions {
  readonly backend: Backend;
  /** The same, as requests use it. */
  readonly actionBackend: ActionBackend;
  readonly traces: NonNullable<TelemetryExports['traces']>;
  readonly log: Log;
}

export interface Tracing {
  /** The backend for one request, which records its spans. */
  backendFor(request: ApiRequest): ActionBackend;
  /** Exports what is left. Call it before the backend is closed. */
  close(): Promise<void>;
}

export function startTracing({ backend, actionBackend, traces, log }: TracingOptions): Tracing {
  const provider = new BasicTracerProvider({
    resource: serverResource(),
    spanProcessors: traces.exporters.map((exporter) => processorOf(exporter, log)),
  });
  const spans = new RequestSpans({
    backend,
    actionBackend,
    tracer: provider.getTracer('oncemq', version),
    readContext: contextReader(traces.propagators),
    onError: (error) => log.error('a span could not be created', error),
  });
  return {
    backendFor: (request) => spans.backendFor(request),
    close: () => closeExport(provider, spans.settled()),
  };
}

function processorOf(exporter: Exporters[number], log: Log): SpanProcessor {
  // The console is for watching live, so each span is printed immediately.
  if (exporter === 'console') return new SimpleSpanProcessor(new ConsoleSpanExporter());
  return telling(log, () => new BatchSpanProcessor(watched(new OTLPTraceExporter(), 'spans', log)));
}
