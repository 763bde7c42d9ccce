/**
 * Converts the measurements to OpenTelemetry's data model, for its exporters: OTLP to a collector (metrics-export.ts), or
 * Prometheus text. Loaded only when metrics are read, since a server without readers does not need the SDK.
 *
 * OpenTelemetry's own instruments are not used: adding to one of its counters costs more than everything counted here for
 * a message.
 */

import { type HrTime, ValueType } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import { nextTurn } from '../../api/next-turn.ts';
import type { Histogram } from './histogram.ts';
import type { Measured, Point } from './measured.ts';
import { type Metric, metricList } from './metric-list.ts';

export const scope = { name: 'oncemq' } as const;

/** `now` in epoch milliseconds. */
export function metricData({ name, points }: Measured, now: number): MetricData {
  const { kind, unit, doc }: Metric = metricList[name];
  const valueType = unit === 's' ? ValueType.DOUBLE : ValueType.INT;
  const common = {
    descriptor: { name, description: doc, unit, valueType },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (kind === 'histogram') {
    const dataPoints = (points as readonly Point<Histogram>[]).map((point) =>
      dataPoint(point, histogramValue(point.value), now),
    );
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = (points as readonly Point<number>[]).map((point) =>
    dataPoint(point, point.value, now),
  );
  return kind === 'counter'
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
}

function dataPoint<Value>(
  { attributes, since }: Point<unknown>,
  value: Value,
  now: number,
): DataPoint<Value> {
  return { attributes, value, startTime: hrTime(since), endTime: hrTime(now) };
}

function histogramValue({ bounds, counts, sum }: Histogram): {
  buckets: { boundaries: number[]; counts: number[] };
  sum: number;
  count: number;
} {
  const buckets = { boundaries: [...bounds], counts: [...counts] };
  return { buckets, sum, count: counts.reduce((all, each) => all + each, 0) };
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), (ms % 1000) * 1e6];
}

const withoutTargetInfo = true;
const withoutScopeInfo = true;
const serializer = new PrometheusSerializer(
  undefined,
  false,
  undefined,
  withoutTargetInfo,
  withoutScopeInfo,
);

/** Yields to the event loop after each metric. */
export async function prometheusText(measured: readonly Measured[], now: number): Promise<string> {
  const resource = emptyResource();
  const pieces: string[] = [];
  for (const each of measured) {
    const data = metricData(each, now);
    const name = prometheusName({ name: each.name, ...metricList[each.name] });
    const descriptor = { ...data.descriptor, name, unit: '' };
    const metrics = [{ ...data, descriptor }];
    pieces.push(serializer.serialize({ resource, scopeMetrics: [{ scope, metrics }] }));
    await nextTurn();
  }
  return pieces.join('');
}

const unitWords: ReadonlyMap<string, string> = new Map([
  ['s', 'seconds'],
  ['By', 'bytes'],
]);

/** With underscores for dots and the unit at the end, as Prometheus requires. */
export function prometheusName({
  name,
  kind,
  unit,
}: Pick<Metric, 'kind' | 'unit'> & { readonly name: string }): string {
  const word = unitWords.get(unit);
  const plain = name.replaceAll('.', '_');
  const withUnit = word === undefined || plain.endsWith(`_${word}`) ? plain : `${plain}_${word}`;
  return kind === 'counter' ? `${withUnit}_total` : withUnit;
}
