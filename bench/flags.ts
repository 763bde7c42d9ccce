/**
 * Flags that several questions share, parsed in one way. A wrong flag is a usage error, whether parseArgs or one of the
 * parsers here finds it.
 */

export class FlagError extends Error {}

export function isFlagError(error: unknown): error is Error {
  const code = String((error as NodeJS.ErrnoException).code);
  return error instanceof FlagError || code.startsWith('ERR_PARSE_ARGS');
}

/** A type, because parseArgs does not accept an interface. */
type CommonFlags = {
  readonly quick: { readonly type: 'boolean'; readonly default: false };
  /** Where data folders are created. */
  readonly dir: { readonly type: 'string' };
  readonly json: { readonly type: 'string' };
};

export const commonFlags: CommonFlags = {
  quick: { type: 'boolean', default: false },
  dir: { type: 'string' },
  json: { type: 'string' },
};

/** From 1 to `max`; `otherwise` if the flag is absent. */
export function wholeNumber(
  flag: string,
  given: string | undefined,
  { otherwise, max }: { readonly otherwise: number; readonly max: number },
): number {
  if (given === undefined) return otherwise;
  const value = Number(given);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new FlagError(
    `${flag} must be a whole number from 1 to ${max}, not ${JSON.stringify(given)}.`,
  );
}

/** Parses a comma-separated list of known words; returns them in the order of `known`. */
export function chosen<T extends string>(flag: string, given: string, known: readonly T[]): T[] {
  const words = given.split(',');
  const wrong = words.find((word) => !known.includes(word as T));
  if (wrong !== undefined) {
    throw new FlagError(
      `${flag} must be one of ${known.join(', ')}, not ${JSON.stringify(wrong)}.`,
    );
  }
  return known.filter((word) => words.includes(word));
}
