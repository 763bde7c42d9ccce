/**
 * One condition of a filter policy, read from its JSON into a function from a value to whether it matches (11.3). Reading
 * happens once, when the policy is set; matching happens for every publication.
 *
 * A value is what an attribute or a leaf of the message holds: text, number, true, false or null. What is wrong with a
 * condition is told in Amazon's words (11.10).
 */

import { readCidr } from './cidr.ts';

export type Scalar = string | number | boolean | null;

export type Test = (value: Scalar) => boolean;

/** A policy is wrong; the text says how. */
export interface Wrong {
  readonly wrong: string;
}

export type Condition =
  | { readonly kind: 'value'; readonly test: Test }
  /** Whether there is a value at all. */
  | { readonly kind: 'exists'; readonly isWanted: boolean };

const wildcardsMax = 3;

export function readCondition(json: unknown): Condition | Wrong {
  if (isScalar(json)) return matching((value) => value === json);
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
      return matching((value) => typeof value === 'string' && isInside(value));
    }
    case 'exists':
      return typeof operand === 'boolean'
        ? { kind: 'exists', isWanted: operand }
        : wrong('exists match pattern must be either true or false.');
    default:
      return wrong(`Unrecognized match type ${operator}`);
  }
}

function readTextual(operator: string, operand: unknown): Condition | Wrong {
  if (typeof operand !== 'string') return wrong(`${operator} match pattern must be a string`);
  switch (operator) {
    case 'prefix':
      return matching((value) => typeof value === 'string' && value.startsWith(operand));
    case 'suffix':
      return matching((value) => typeof value === 'string' && value.endsWith(operand));
    case 'equals-ignore-case': {
      const folded = operand.toLowerCase();
      return matching((value) => typeof value === 'string' && value.toLowerCase() === folded);
    }
    default: {
      const doubledAt = operand.indexOf('**');
      if (doubledAt >= 0) return wrong(`Consecutive wildcard characters at pos ${doubledAt + 1}`);
      if (operand.split('*').length - 1 > wildcardsMax) {
        return wrong(`wildcard match pattern can not have more than ${wildcardsMax} wildcards`);
      }
      const isGlob = globOf(operand);
      return matching((value) => typeof value === 'string' && isGlob(value));
    }
  }
}

/** Looks for each part after the previous one; a question mark stands for itself here, unlike in an IAM policy. */
function globOf(pattern: string): (text: string) => boolean {
  const parts = pattern.split('*');
  const first = parts[0] as string;
  const last = parts[parts.length - 1] as string;
  if (parts.length === 1) return (text) => text === first;
  return (text) => {
    if (!text.startsWith(first)) return false;
    let at = first.length;
    for (const part of parts.slice(1, -1)) {
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
    const values = new Set<Scalar>(listed);
    return matching((value) => !values.has(value));
  }
  const entries = Object.entries(operand as object);
  if (entries.length !== 1) return wrong('Only one key allowed in match expression');
  const [operator, pattern] = entries[0] as [string, unknown];
  if (!['prefix', 'suffix', 'wildcard'].includes(operator)) {
    return wrong(`Unsupported anything-but pattern: ${operator}`);
  }
  const condition = readTextual(operator, pattern);
  if ('wrong' in condition || condition.kind !== 'value') return condition;
  return matching((value) => !condition.test(value));
}

const comparisons: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  '=': (value, bound) => value === bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
};

/** `[op, n]`, or a lower bound and then an upper one. */
function readNumeric(operand: unknown): Condition | Wrong {
  if (!Array.isArray(operand)) return wrong('Value of numeric must be an array.');
  const [operator, bound, upperOperator, upperBound] = operand as unknown[];
  if (operand.length === 0) return wrong('Invalid member in numeric match: ]');
  if (typeof operator !== 'string') return wrong(`Invalid member in numeric match: ${operator}`);
  const compare = Object.hasOwn(comparisons, operator) ? comparisons[operator] : undefined;
  if (compare === undefined) return wrong(`Unrecognized numeric range operator: ${operator}`);
  if (typeof bound !== 'number') return notNumeric(operator);
  if (operand.length === 2) {
    return matching((value) => typeof value === 'number' && compare(value, bound));
  }
  if (!operator.startsWith('>')) return wrong('Too many elements in numeric expression');
  if (typeof upperOperator !== 'string') {
    return wrong(`Bad value in numeric range: ${String(upperOperator)}`);
  }
  if (upperOperator !== '<' && upperOperator !== '<=') {
    return wrong(`Bad numeric range operator: ${upperOperator}`);
  }
  if (typeof upperBound !== 'number') return notNumeric(upperOperator);
  if (operand.length > 4) return wrong('Too many terms in numeric range expression');
  if (upperBound <= bound) return wrong('Bottom must be less than top');
  const isBelow = comparisons[upperOperator] as (value: number, bound: number) => boolean;
  return matching(
    (value) => typeof value === 'number' && compare(value, bound) && isBelow(value, upperBound),
  );
}

function notNumeric(operator: string): Wrong {
  return wrong(`Value of ${operator === '=' ? 'equals' : operator} must be numeric`);
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function matching(test: Test): Condition {
  return { kind: 'value', test };
}

function wrong(text: string): Wrong {
  return { wrong: text };
}
