/**
 * How far a clock may be moved at once: one rule for the endpoint, and for the clock of `oncemq/testing`, whose callers can
 * give anything too: NaN, say, would leave it at no time at all.
 */

export const advanceSecondsMax: number = 10 * 365 * 86_400;

/** Undefined if a clock cannot be moved by it. */
export function advanceMsOf(seconds: unknown): number | undefined {
  const isGood = typeof seconds === 'number' && seconds >= 0 && seconds <= advanceSecondsMax;
  return isGood ? Math.round(seconds * 1000) : undefined;
}
