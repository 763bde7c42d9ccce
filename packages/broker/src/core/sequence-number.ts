/**
 * SequenceNumber (11.7): 20 decimal digits that rise over the whole queue, like Amazon's 18833816039270639616. Core's
 * sequence is a counter kept with the queue, so the number goes on rising after a restart; it is padded to 17 digits,
 * more than a counter of JavaScript's can have, and three fixed ones are put before it.
 */

const prefix = '188';
const digits = 17;

export function sequenceNumber(sequence: number): string {
  return prefix + String(sequence).padStart(digits, '0');
}
