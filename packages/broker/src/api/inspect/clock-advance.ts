/**
 * How far a clock may be moved at once. The endpoint and the clock of `oncemq/testing` share this rule, because callers of
 * both can pass anything: NaN, for example, would leave the clock without a valid time.
 */

export const advanceSecondsMax: number = 10 * 365 * 86_400;

/** The seconds in milliseconds; undefined if a clock cannot be moved by them. */
export function advanceMsOf(seconds: unknown): number | undefined {
  const isGood = typeof seconds === 'number' && seconds >= 0 && seconds <= advanceSecondsMax;
  return isGood ? Math.round(seconds * 1000) : undefined;
}
