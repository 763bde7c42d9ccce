/**
 * Exports metrics to a collector or to the console at an interval: OpenTelemetry's reader and exporters around our own
 * measurements. Loaded only if the environment asks for it.
 */

import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { emptyResource } from '@opentelemetry/resources';
import {
  ConsoleMetricExporter,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { nextTurn } from '../../api/next-turn.ts';
import type { Log } from '../log.ts';
import type { Measured } from './measured.ts';
import type { TelemetryExports } from './otel-environment.ts';
import { metricData, scope } from './otel-metrics.ts';
import { serverResource } from './resource.ts';
import { closeExport, telling, watched } from './watched-export.ts';

export interface MetricsExport {
  close(): Promise<void>;
}

/** Data points serialized and sent at once: many queues must not block the event loop for long. */
const pointsAtOnce = 2_000;

export function startMetricsExport(
  exports: NonNullable<TelemetryExports['metrics']>,
  collect: () => Promise<readonly Measured[]>,
  log: Log,
): MetricsExport {
  const producer: MetricProducer = {
    collect: async () => {
      const measured = await collect();
      const now = Date.now();
      const metrics: MetricData[] = [];
      for (const each of measured) {
        if (each.points.length > 0) metrics.push(metricData(each, now));
        await nextTurn();
      }
      // The reader replaces this resource with its own.
      const resourceMetrics = { resource: emptyResource(), scopeMetrics: [{ scope, metrics }] };
      return { resourceMetrics, errors: [] };
    },
  };
  const provider = metricsProvider(exports, [producer], log);
  return { close: () => closeExport(provider) };
}

/** Reads its own instruments and the producers at an interval, and exports what they have. */
export function metricsProvider(
  { exporters, intervalMs, timeoutMs }: NonNullable<TelemetryExports['metrics']>,
  producers: MetricProducer[],
  log: Log,
): MeterProvider {
  const otlp = (): OTLPMetricExporter => telling(log, () => new OTLPMetricExporter());
  const readers = exporters.map(
    (name) =>
      new PeriodicExportingMetricReader({
        exporter: name === 'otlp' ? watched(otlp(), 'metrics', log) : new ConsoleMetricExporter(),
        exportIntervalMillis: intervalMs,
        exportTimeoutMillis: timeoutMs,
        maxExportBatchSize: pointsAtOnce,
        metricProducers: producers,
      }),
  );
  return new MeterProvider({ resource: serverResource(), readers });
}
