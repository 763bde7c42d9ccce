/**
 * Summarizes the numbers of several rounds as a median with its spread, and formats numbers for people. Medians, because
 * one round that another program disturbed must not change the result.
 */

export interface Spread {
  /** One number per round. */
  readonly rounds: readonly number[];
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(rounds: readonly number[]): Spread {
  return { rounds, median: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds) };
}

/** The middle half of several ratios. */
export interface Quartiles {
  readonly median: number;
  readonly lower: number;
  readonly upper: number;
}

export function quartilesOf(values: readonly number[]): Quartiles {
  return {
    median: median(values),
    lower: percentile(values, 0.25),
    upper: percentile(values, 0.75),
  };
}

/** A dash if it was not measured. */
export function ratioText(ratio: Quartiles | undefined): string {
  if (ratio === undefined) return '–';
  const [median, lower, upper] = [ratio.median, ratio.lower, ratio.upper].map((each) =>
    each.toFixed(2),
  );
  return `${median} (${lower}–${upper})`;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value at this fraction (0 to 1) of the sorted values. */
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
