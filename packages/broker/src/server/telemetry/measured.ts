/**
 * The measurements of one metric as plain values: a point for each set of attributes, holding a number or a histogram
 * depending on the metric's kind (metric-list.ts).
 */

import type { Histogram } from './histogram.ts';
import type { HistogramName, MetricName } from './metric-list.ts';

export interface Point<Value> {
  readonly attributes: Readonly<Record<string, string>>;
  readonly value: Value;
  /** When counting started from 0, in epoch milliseconds. */
  readonly since: number;
}

export type NumberName = Exclude<MetricName, HistogramName>;

export type Measured =
  | { readonly name: NumberName; readonly points: readonly Point<number>[] }
  | { readonly name: HistogramName; readonly points: readonly Point<Histogram>[] };
