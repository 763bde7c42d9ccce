/**
 * SequenceNumber (11.7): 20 decimal digits that rise over the whole queue, like Amazon's 18833816039270639616. Core's
 * sequence is a counter kept with the queue, so the number goes on rising after a restart; it is padded to 17 digits,
 * more than a counter of JavaScript's can have, and three fixed ones are put before it.
 */

const digits = 17;

/** What stands before a counter of so many digits: every answer to a send has such a number. */
const beginnings: readonly string[] = Array.from(
  { length: digits + 1 },
  (_, length) => `188${'0'.repeat(digits - length)}`,
);

export function sequenceNumber(sequence: number): string {
  const counter = String(sequence);
  return (beginnings[counter.length] as string) + counter;
}
