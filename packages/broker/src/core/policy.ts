/**
 * Whether a resource's policy allows a service to do something: the part of IAM's policy language that queue policies for
 * SNS use. Effect Allow and Deny, Principal by service or `*`, Action and Resource with wildcards, each also with Not, and
 * conditions on the source's ARN and account and on secure transport. A condition that is not understood counts as met in a
 * Deny and as not met in an Allow, so nothing is allowed by mistake.
 */

import { parseObject } from './json-object.ts';

export interface Asked {
  /** Who asks: a service like sns.amazonaws.com. */
  readonly service: string;
  /** `sqs:SendMessage` */
  readonly action: string;
  readonly resource: string;
  readonly sourceArn: string;
  readonly sourceAccount: string;
}

/** What no statement allows is refused, and a matching Deny overrides every Allow. */
export function isAllowed(policy: string, asked: Asked): boolean {
  const statements = listOf(parseObject(policy)?.['Statement']);
  const fitting = statements.filter((statement) => fits(statement, asked));
  const effects = fitting.map((statement) => (statement as { Effect?: unknown }).Effect);
  return effects.includes('Allow') && !effects.includes('Deny');
}

function fits(statement: unknown, asked: Asked): boolean {
  if (typeof statement !== 'object' || statement === null) return false;
  const given = statement as Record<string, unknown>;
  const isAction = (actions: unknown): boolean =>
    textsOf(actions).some((action) => isLike(action.toLowerCase(), asked.action.toLowerCase()));
  const isResource = (arns: unknown): boolean =>
    arns === undefined || textsOf(arns).some((arn) => isLike(arn, asked.resource));
  return (
    isNamed(given, 'Principal', (principal) => isPrincipal(principal, asked)) &&
    isNamed(given, 'Action', isAction) &&
    isNamed(given, 'Resource', isResource) &&
    isMet(given['Condition'], asked, given['Effect'] === 'Deny')
  );
}

/** Whether the statement covers it: by the element itself, or by its Not form, which covers everything else. */
function isNamed(
  statement: Readonly<Record<string, unknown>>,
  element: 'Principal' | 'Action' | 'Resource',
  isAmong: (named: unknown) => boolean,
): boolean {
  const others = statement[`Not${element}`];
  return others === undefined ? isAmong(statement[element]) : !isAmong(others);
}

function isPrincipal(principal: unknown, { service }: Asked): boolean {
  if (principal === '*') return true;
  if (typeof principal !== 'object' || principal === null) return false;
  const { Service, AWS } = principal as Record<string, unknown>;
  return textsOf(Service).includes(service) || textsOf(AWS).includes('*');
}

/** Every operator and every key must hold; the values of one key are alternatives. */
function isMet(condition: unknown, asked: Asked, ifNotUnderstood: boolean): boolean {
  if (condition === undefined) return true;
  if (typeof condition !== 'object' || condition === null) return ifNotUnderstood;
  return Object.entries(condition).every(([operator, keys]) => {
    if (typeof keys !== 'object' || keys === null) return ifNotUnderstood;
    return Object.entries(keys).every(([key, values]) => {
      const actual = knownValue(key, asked);
      const compare = operators[operator.replace(/IfExists$/, '').toLowerCase()];
      if (compare === undefined || actual === undefined) return ifNotUnderstood;
      const isEqual = textsOf(values).some((value) => compare.isEqual(value, actual));
      return compare.isNegated ? !isEqual : isEqual;
    });
  });
}

interface Operator {
  isEqual(value: string, actual: string): boolean;
  readonly isNegated: boolean;
}

const same = (value: string, actual: string): boolean => value === actual;
const sameInAnyCase = (value: string, actual: string): boolean =>
  value.toLowerCase() === actual.toLowerCase();

/** ArnEquals and ArnLike behave identically in IAM. */
const operators: Readonly<Record<string, Operator | undefined>> = {
  arnequals: { isEqual: isLike, isNegated: false },
  arnlike: { isEqual: isLike, isNegated: false },
  arnnotequals: { isEqual: isLike, isNegated: true },
  arnnotlike: { isEqual: isLike, isNegated: true },
  stringequals: { isEqual: same, isNegated: false },
  stringequalsignorecase: { isEqual: sameInAnyCase, isNegated: false },
  stringlike: { isEqual: isLike, isNegated: false },
  stringnotequals: { isEqual: same, isNegated: true },
  stringnotlike: { isEqual: isLike, isNegated: true },
  bool: { isEqual: sameInAnyCase, isNegated: false },
};

function knownValue(key: string, { sourceArn, sourceAccount }: Asked): string | undefined {
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
  let place = 0;
  while (place < text.length) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at;
      resume = place;
      at += 1;
    } else if (wanted === '?' || wanted === text[place]) {
      at += 1;
      place += 1;
    } else if (star >= 0) {
      at = star + 1;
      resume += 1;
      place = resume;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function textsOf(value: unknown): string[] {
  return listOf(value).filter((item) => typeof item === 'string');
}
