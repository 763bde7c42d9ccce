/**
 * One condition of a filter policy, read from its JSON into a function from values to whether one of them matches (11.3).
 * Reading happens once, when the policy is set; matching happens for every publication, and what it may cost is known
 * before it begins (filter-work.ts).
 *
 * What is wrong with a condition is told in Amazon's words (11.10).
 */

import { readCidr } from './cidr.ts';
import { unitsOf } from './filter-work.ts';
import { isScalar, type Scalar, type ValueList } from './value-list.ts';

type Test = (value: Scalar) => boolean;

/** A policy is wrong; the text says how. */
export interface Wrong {
  readonly wrong: string;
}

export interface Condition {
  holds(values: ValueList): boolean;
  /** What `holds` may cost for these values, at most. */
  cost(values: ValueList): number;
}

const wildcardsMax = 3;

/** Reading an address takes as long as this many comparisons. */
const addressUnits = 100;
/** So does looking for the parts of a pattern, even in a short text. */
const searchUnits = 8;
/** A character that is searched for a short pattern takes as long as comparing this many. */
const searchedChars = 16;
/** Comparing a character of a prefix or suffix takes as long as this many of a whole text. */
const affixChars = 8;
/** Writing a character in lower case takes as long as comparing this many. */
const foldedChars = 16;

export function readCondition(json: unknown): Condition | Wrong {
  if (isScalar(json)) return comparing((value) => value === json, lengthOf(json));
  if (Array.isArray(json)) return wrong('Match value must be String, number, true, false, or null');
  const operators = Object.entries(json as object);
  if (operators.length !== 1) return wrong('Only one key allowed in match expression');
  const [operator, operand] = operators[0] as [string, unknown];
  switch (operator) {
    case 'prefix':
    case 'suffix':
    case 'equals-ignore-case':
    case 'wildcard':
      return readTextual(operator, operand);
    case 'anything-but':
      return readAnythingBut(operand);
    case 'numeric':
      return readNumeric(operand);
    case 'cidr': {
      // Amazon says prefix here, too.
      if (typeof operand !== 'string') return wrong('prefix match pattern must be a string');
      const isInside = readCidr(operand);
      if (typeof isInside !== 'function') return isInside;
      return {
        holds: ({ addresses }) => addresses.some(isInside),
        cost: (values) => values.size * (values.hasAddresses ? 1 : addressUnits),
      };
    }
    case 'exists':
      return typeof operand === 'boolean'
        ? { holds: ({ size }) => operand === size > 0, cost: () => 1 }
        : wrong('exists match pattern must be either true or false.');
    default:
      return wrong(`Unrecognized match type ${operator}`);
  }
}

/** With `isNegated`, a value matches that the pattern does not match, whatever its type. */
function readTextual(operator: string, operand: unknown, isNegated = false): Condition | Wrong {
  if (typeof operand !== 'string') return wrong(`${operator} match pattern must be a string`);
  const test =
    (isIt: (text: string) => boolean): Test =>
    (value) =>
      (typeof value === 'string' && isIt(value)) !== isNegated;
  switch (operator) {
    case 'prefix':
      return comparing(
        test((text) => text.startsWith(operand)),
        operand.length,
        affixChars,
      );
    case 'suffix':
      return comparing(
        test((text) => text.endsWith(operand)),
        operand.length,
        affixChars,
      );
    case 'equals-ignore-case': {
      const folded = operand.toLowerCase();
      return {
        holds: (values) => values.folded.includes(folded),
        cost: (values) => values.size + unitsOf(values.hasFolded ? 0 : foldedChars * values.chars),
      };
    }
    default: {
      const doubledAt = operand.indexOf('**');
      if (doubledAt >= 0) return wrong(`Consecutive wildcard characters at pos ${doubledAt + 1}`);
      if (operand.split('*').length - 1 > wildcardsMax) {
        return wrong(`wildcard match pattern can not have more than ${wildcardsMax} wildcards`);
      }
      const isGlob = test(globOf(operand));
      return {
        holds: ({ scalars }) => scalars.some(isGlob),
        // Searching a text for a part of the pattern compares every character with every other, at worst.
        cost: (values) =>
          searchUnits * values.size +
          unitsOf(values.chars * Math.max(operand.length, searchedChars)),
      };
    }
  }
}

/** Looks for each part after the previous one; a question mark stands for itself here, unlike in an IAM policy. */
function globOf(pattern: string): (text: string) => boolean {
  const parts = pattern.split('*');
  const first = parts[0] as string;
  const last = parts[parts.length - 1] as string;
  const between = parts.slice(1, -1);
  if (parts.length === 1) return (text) => text === first;
  return (text) => {
    if (!text.startsWith(first)) return false;
    let at = first.length;
    for (const part of between) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - last.length >= at && text.endsWith(last);
  };
}

function readAnythingBut(operand: unknown): Condition | Wrong {
  if (Array.isArray(operand) || isScalar(operand)) {
    const listed: readonly unknown[] = Array.isArray(operand) ? operand : [operand];
    if (listed.length === 0) return wrong('Empty arrays are not allowed');
    if (!listed.every(isScalar)) {
      return wrong('Match value must be String, number, true, false, or null');
    }
    const unwanted = new Set<Scalar>(listed);
    // Looking a text up reads all of it.
    return comparing((value) => !unwanted.has(value), Number.MAX_SAFE_INTEGER);
  }
  const entries = Object.entries(operand as object);
  if (entries.length !== 1) return wrong('Only one key allowed in match expression');
  const [operator, pattern] = entries[0] as [string, unknown];
  if (!['prefix', 'suffix', 'wildcard'].includes(operator)) {
    return wrong(`Unsupported anything-but pattern: ${operator}`);
  }
  return readTextual(operator, pattern, true);
}

type Comparison = (value: number, bound: number) => boolean;

const comparisons: ReadonlyMap<string, Comparison> = new Map<string, Comparison>([
  ['=', (value, bound) => value === bound],
  ['<', (value, bound) => value < bound],
  ['<=', (value, bound) => value <= bound],
  ['>', (value, bound) => value > bound],
  ['>=', (value, bound) => value >= bound],
]);

/** `[op, n]`, or a lower bound and then an upper one. */
function readNumeric(operand: unknown): Condition | Wrong {
  if (!Array.isArray(operand)) return wrong('Value of numeric must be an array.');
  const [operator, bound, upperOperator, upperBound] = operand as unknown[];
  if (operand.length === 0) return wrong('Invalid member in numeric match: ]');
  if (typeof operator !== 'string')
    return wrong(`Invalid member in numeric match: ${tokenOf(operator)}`);
  const compare = comparisons.get(operator);
  if (compare === undefined) return wrong(`Unrecognized numeric range operator: ${operator}`);
  if (typeof bound !== 'number') return notNumeric(operator);
  if (operand.length === 2) {
    return comparing((value) => typeof value === 'number' && compare(value, bound), 0);
  }
  if (!operator.startsWith('>')) return wrong('Too many elements in numeric expression');
  if (typeof upperOperator !== 'string') {
    return wrong(`Bad value in numeric range: ${tokenOf(upperOperator)}`);
  }
  if (upperOperator !== '<' && upperOperator !== '<=') {
    return wrong(`Bad numeric range operator: ${upperOperator}`);
  }
  if (typeof upperBound !== 'number') return notNumeric(upperOperator);
  if (operand.length > 4) return wrong('Too many terms in numeric range expression');
  if (upperBound <= bound) return wrong('Bottom must be less than top');
  const isBelow = comparisons.get(upperOperator) as Comparison;
  return comparing(
    (value) => typeof value === 'number' && compare(value, bound) && isBelow(value, upperBound),
    0,
  );
}

/** How Amazon shows a value that is no text: by its first token. An object is never converted, since it may have a toString. */
function tokenOf(value: unknown): string {
  if (Array.isArray(value)) return '[';
  return typeof value === 'object' && value !== null ? '{' : String(value);
}

function notNumeric(operator: string): Wrong {
  return wrong(`Value of ${operator === '=' ? 'equals' : operator} must be numeric`);
}

/** A condition that compares each value with up to `chars` characters, each of which counts `times`. */
function comparing(test: Test, chars: number, times = 1): Condition {
  return {
    holds: ({ scalars }) => scalars.some(test),
    cost: ({ size, chars: all }) => size + unitsOf(times * Math.min(all, size * chars)),
  };
}

function lengthOf(value: Scalar): number {
  return typeof value === 'string' ? value.length : 0;
}

function wrong(text: string): Wrong {
  return { wrong: text };
}
