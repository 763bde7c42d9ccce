/**
 * A real OpenTelemetry SDK for tests, with in-memory exporters. The context manager, which tracks the active span, is the
 * only part that the SDK for Node would bring along.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import * as api from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { openTelemetry } from '../../src/telemetry/open-telemetry.ts';
import type { Telemetry } from '../../src/telemetry/telemetry.ts';

const storage = new AsyncLocalStorage<api.Context>();

api.context.setGlobalContextManager({
  active: () => storage.getStore() ?? api.ROOT_CONTEXT,
  with: (context, work, thisArg, ...args) =>
    storage.run(context, () => work.call(thisArg as ThisParameterType<typeof work>, ...args)),
  bind: (_context, target) => target,
  enable: () => api.context as never,
  disable: () => api.context as never,
});

export interface Point {
  readonly name: string;
  readonly unit: string;
  readonly attributes: object;
  /** The sum, for a histogram. */
  readonly value: number;
}

export interface OpenedTelemetry {
  readonly telemetry: Telemetry;
  readonly tracer: api.Tracer;
  /** The ended spans, in the order in which they ended. */
  spans(): ReadableSpan[];
  points(): Promise<Point[]>;
}

export function openedTelemetry(): OpenedTelemetry {
  const spanExporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spanExporter)],
  });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter });
  const meterProvider = new MeterProvider({ readers: [reader] });
  return {
    telemetry: openTelemetry(api, { tracerProvider, meterProvider }),
    tracer: tracerProvider.getTracer('test'),
    spans: () => spanExporter.getFinishedSpans(),
    points: async () => {
      const { resourceMetrics } = await reader.collect();
      await meterProvider.shutdown();
      return resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
        metrics.flatMap(({ descriptor: { name, unit }, dataPoints }) =>
          dataPoints.map(({ attributes, value }) => ({
            name,
            unit,
            attributes,
            value: typeof value === 'number' ? value : (value.sum ?? 0),
          })),
        ),
      );
    },
  };
}

/** Runs the work with the span active, and ends the span. */
export async function within<Result>(span: api.Span, work: () => Promise<Result>): Promise<Result> {
  const context = api.trace.setSpan(api.context.active(), span);
  try {
    return await api.context.with(context, work);
  } finally {
    span.end();
  }
}

export function traceparentOf({ traceId, spanId }: api.SpanContext): string {
  return `00-${traceId}-${spanId}-01`;
}
