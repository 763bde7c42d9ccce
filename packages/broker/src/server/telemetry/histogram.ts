/**
 * A histogram with fixed buckets, as cheap as possible: a measurement searches a few bounds, adds to a bucket and to the
 * sum, and allocates nothing. The last bucket has no upper bound; a value equal to a bound belongs to the bucket below it,
 * as in OpenTelemetry and Prometheus.
 */

import { type HistogramName, metricList } from './metric-list.ts';

export class Histogram {
  readonly bounds: readonly number[];
  readonly counts: Float64Array;
  sum = 0;

  constructor(name: HistogramName) {
    this.bounds = metricList[name].bounds;
    this.counts = new Float64Array(this.bounds.length + 1);
  }

  record(value: number): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
    counts[bucket] = (counts[bucket] as number) + 1;
    this.sum += value;
  }
}
