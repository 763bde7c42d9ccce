/**
 * Whether a resource's policy allows a service to do something: the part of IAM's rules that queue policies for SNS use.
 * Principal by service or `*`, Action and Resource with wildcards, each also with Not, and conditions on the source's ARN
 * and account and on secure transport. A condition that is not understood counts as met in a Deny and as not met in an
 * Allow, so nothing is allowed by mistake.
 */

import type { Condition, Named, Policy, Statement } from './policy.ts';

export interface AccessRequest {
  /** Who asks: a service like sns.amazonaws.com. */
  readonly service: string;
  /** `sqs:SendMessage` */
  readonly action: string;
  readonly resource: string;
  readonly sourceArn: string;
  readonly sourceAccount: string;
}

/** What no statement allows is refused, and a matching Deny overrides every Allow. Without a policy nothing is allowed. */
export function isAllowed(policy: Policy | undefined, asked: AccessRequest): boolean {
  const fitting = policy?.statements.filter((statement) => fits(statement, asked)) ?? [];
  return fitting.length > 0 && fitting.every(({ effect }) => effect === 'Allow');
}

function fits(statement: Statement, asked: AccessRequest): boolean {
  const { principals, actions, resources, conditions } = statement;
  const action = asked.action.toLowerCase();
  const ifNotUnderstood = statement.effect === 'Deny';
  return (
    covers(principals, ({ type, id }) => {
      return type === 'Service' ? id === asked.service : type === 'AWS' && id === '*';
    }) &&
    covers(actions, (pattern) => isLike(pattern.toLowerCase(), action)) &&
    (resources === undefined || covers(resources, (pattern) => isLike(pattern, asked.resource))) &&
    conditions.every((condition) => isMet(condition, asked) ?? ifNotUnderstood)
  );
}

/** By one of the values or, in the Not form, by none of them. */
function covers<T>({ isNot, values }: Named<T>, isAmong: (value: T) => boolean): boolean {
  return values.some(isAmong) !== isNot;
}

/** Undefined if the operator or the key is not understood. The values of a key are alternatives. */
function isMet({ operator, key, values }: Condition, asked: AccessRequest): boolean | undefined {
  const compare = comparisons.get(operator);
  const actual = knownValue(key, asked);
  if (compare === undefined || actual === undefined) return undefined;
  return values.some((value) => compare.isEqual(value, actual)) !== compare.isNegated;
}

interface Comparison {
  isEqual(value: string, actual: string): boolean;
  readonly isNegated: boolean;
}

const same = (value: string, actual: string): boolean => value === actual;
const sameInAnyCase = (value: string, actual: string): boolean =>
  value.toLowerCase() === actual.toLowerCase();

/** ArnEquals and ArnLike behave identically in IAM. */
const comparisons: ReadonlyMap<string, Comparison> = new Map([
  ['arnequals', { isEqual: isLike, isNegated: false }],
  ['arnlike', { isEqual: isLike, isNegated: false }],
  ['arnnotequals', { isEqual: isLike, isNegated: true }],
  ['arnnotlike', { isEqual: isLike, isNegated: true }],
  ['stringequals', { isEqual: same, isNegated: false }],
  ['stringequalsignorecase', { isEqual: sameInAnyCase, isNegated: false }],
  ['stringlike', { isEqual: isLike, isNegated: false }],
  ['stringnotequals', { isEqual: same, isNegated: true }],
  ['stringnotequalsignorecase', { isEqual: sameInAnyCase, isNegated: true }],
  ['stringnotlike', { isEqual: isLike, isNegated: true }],
  ['bool', { isEqual: sameInAnyCase, isNegated: false }],
]);

function knownValue(key: string, { sourceArn, sourceAccount }: AccessRequest): string | undefined {
  switch (key.toLowerCase()) {
    case 'aws:sourcearn':
      return sourceArn;
    case 'aws:sourceaccount':
    case 'aws:sourceowner':
      return sourceAccount;
    // Services call each other over TLS, and many queues deny everything else.
    case 'aws:securetransport':
      return 'true';
    default:
      return undefined;
  }
}

/** `*` stands for any text and `?` for one character. Backtracks to the last star only, so it is never exponential. */
function isLike(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let index = 0;
  while (index < text.length) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at;
      resume = index;
      at += 1;
    } else if (wanted === '?' || wanted === text[index]) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      at = star + 1;
      resume += 1;
      index = resume;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
