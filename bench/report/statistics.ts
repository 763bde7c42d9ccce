/**
 * Numbers of several rounds as one: the median with its spread, and how numbers are written for people. Medians, because
 * one round that another program disturbed must not move the result.
 */

export interface Spread {
  /** One number a round. */
  readonly rounds: readonly number[];
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(rounds: readonly number[]): Spread {
  return { rounds, median: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds) };
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value that this part of the values does not exceed. */
export function percentile(values: readonly number[], part: number): number {
  const index = Math.min(Math.floor(values.length * part), values.length - 1);
  return values.toSorted((a, b) => a - b)[index] as number;
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

export function spreadText({ median, min, max }: Spread): string {
  return `${whole(median)} (${whole(min)}–${whole(max)})`;
}

export function megabytes(bytes: number): string {
  return `${whole(bytes / 1e6)} MB`;
}
