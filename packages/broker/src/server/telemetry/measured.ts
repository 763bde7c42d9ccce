/**
 * What has been measured of one metric, as plain values: a point for each set of attributes, and in it a number or a
 * histogram, as the metric's kind says (metric-list.ts).
 */

import type { Histogram } from './histogram.ts';
import type { HistogramName, MetricName } from './metric-list.ts';

export interface Point<Value> {
  readonly attributes: Readonly<Record<string, string>>;
  readonly value: Value;
  /** Epoch milliseconds: when it was 0. */
  readonly since: number;
}

export type NumberName = Exclude<MetricName, HistogramName>;

export type Measured =
  | { readonly name: NumberName; readonly points: readonly Point<number>[] }
  | { readonly name: HistogramName; readonly points: readonly Point<Histogram>[] };
