/**
 * SequenceNumber (11.7): 20 decimal digits that rise over the whole queue, like Amazon's 18833816039270639616. Core's
 * sequence is a counter kept with the queue, so the number keeps rising after a restart. It is padded to 17 digits, more
 * than any safe integer has, and prefixed with three fixed ones.
 */

const digits = 17;

/** The prefix for each length of counter, made once because every answer to a send needs one. */
const beginnings: readonly string[] = Array.from(
  { length: digits + 1 },
  (_, length) => `188${'0'.repeat(digits - length)}`,
);

export function sequenceNumber(sequence: number): string {
  const counter = String(sequence);
  return (beginnings[counter.length] as string) + counter;
}
