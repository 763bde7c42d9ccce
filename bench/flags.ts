/**
 * Flags that several questions take, read in one way. A wrong one is told as such, whoever found it: parseArgs, or one
 * of the readers here.
 */

export class FlagError extends Error {}

export function isFlagError(error: unknown): error is Error {
  const code = String((error as NodeJS.ErrnoException).code);
  return error instanceof FlagError || code.startsWith('ERR_PARSE_ARGS');
}

/** A type, not an interface, which parseArgs would not take. */
type CommonFlags = {
  readonly quick: { readonly type: 'boolean'; readonly default: false };
  /** Where data folders are made. */
  readonly dir: { readonly type: 'string' };
  readonly json: { readonly type: 'string' };
};

export const commonFlags: CommonFlags = {
  quick: { type: 'boolean', default: false },
  dir: { type: 'string' },
  json: { type: 'string' },
};

/** From 1 up to `max`; `otherwise` when the flag was not given. */
export function wholeNumber(
  flag: string,
  given: string | undefined,
  { otherwise, max }: { readonly otherwise: number; readonly max: number },
): number {
  if (given === undefined) return otherwise;
  const value = Number(given);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new FlagError(
    `${flag} takes a whole number from 1 to ${max}, not ${JSON.stringify(given)}.`,
  );
}

/** Words of a list, separated by commas, in the order in which they are known. */
export function chosen<T extends string>(flag: string, given: string, known: readonly T[]): T[] {
  const words = given.split(',');
  const wrong = words.find((word) => !known.includes(word as T));
  if (wrong !== undefined) {
    throw new FlagError(`${flag} takes ${known.join(', ')}, not ${JSON.stringify(wrong)}.`);
  }
  return known.filter((word) => words.includes(word));
}
