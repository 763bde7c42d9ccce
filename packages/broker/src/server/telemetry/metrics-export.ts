/**
 * Metrics to a collector, or to the console, at an interval: OpenTelemetry's own reader and exporters around what is
 * measured here. Loaded only if the environment asks for it.
 *
 * A collector that is away disturbs nothing: it is said once, and once more when it is back. When the server stops, the
 * last numbers are sent, but not waited for longer than two seconds.
 */

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { emptyResource } from '@opentelemetry/resources';
import {
  ConsoleMetricExporter,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { Log } from '../log.ts';
import type { Measured } from './measured.ts';
import type { TelemetryExports } from './otel-environment.ts';
import { metricData, scope } from './otel-metrics.ts';
import { serverResource } from './resource.ts';

export interface MetricsExport {
  close(): Promise<void>;
}

const closeMsMax = 2_000;
/** Points that are sent, and written as bytes, at once: many queues must not make anybody wait for long. */
const pointsAtOnce = 2_000;

export function startMetricsExport(
  { exporters, intervalMs, timeoutMs }: NonNullable<TelemetryExports['metrics']>,
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
        await turn();
      }
      // The reader puts its own resource in the place of this one.
      const resourceMetrics = { resource: emptyResource(), scopeMetrics: [{ scope, metrics }] };
      return { resourceMetrics, errors: [] };
    },
  };
  const readers = exporters.map(
    (name) =>
      new PeriodicExportingMetricReader({
        exporter:
          name === 'otlp' ? watched(new OTLPMetricExporter(), log) : new ConsoleMetricExporter(),
        exportIntervalMillis: intervalMs,
        exportTimeoutMillis: timeoutMs,
        maxExportBatchSize: pointsAtOnce,
        metricProducers: [producer],
      }),
  );
  const provider = new MeterProvider({ resource: serverResource(), readers });
  return {
    close: () =>
      Promise.race([
        // What cannot be sent has been logged already.
        provider.shutdown().catch(() => {}),
        sleep(closeMsMax, undefined, { ref: false }),
      ]),
  };
}

/** The exporter, with a word to the log when it begins to fail and when it has got over it. */
function watched(exporter: PushMetricExporter, log: Log): PushMetricExporter {
  let isFailing = false;
  const note = ({ code, error }: ExportResult): void => {
    const fails = code !== ExportResultCode.SUCCESS;
    if (fails && !isFailing) {
      const reason = error?.message || (error as NodeJS.ErrnoException | undefined)?.code;
      log.error('metrics cannot be exported; the server goes on and keeps trying', reason);
    }
    if (!fails && isFailing) log.info('metrics are exported again');
    isFailing = fails;
  };
  return {
    export: (metrics: ResourceMetrics, done: (result: ExportResult) => void): void =>
      exporter.export(metrics, (result) => {
        note(result);
        done(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}
