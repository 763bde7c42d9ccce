/**
 * Filter policies, read and matched (§11). A policy becomes a tree of rules once, when it is set: every rule is a path
 * with its conditions, or alternatives of which one must hold. A publication's values are looked up by path and
 * remembered, so that a thousand policies that ask for one key look for it once.
 *
 * Limits: 256 KB of text, 5 keys, 150 combinations (11.8).
 */

import { utf8Length } from '../../digest/digests.ts';
import { parseObject } from '../../json-object.ts';
import { type Condition, readCondition, type Wrong } from './condition.ts';
import type { FilterWork } from './filter-work.ts';
import type { ValueList } from './value-list.ts';

export type FilterScope = 'MessageAttributes' | 'MessageBody';

type Rule =
  | { readonly path: string; readonly conditions: readonly Condition[] }
  | { readonly anyOf: readonly (readonly Rule[])[] };

export interface FilterPolicy {
  readonly scope: FilterScope;
  readonly rules: readonly Rule[];
}

/** Where values come from: an empty list for a path that is not there. */
export interface FilterValues {
  attribute(name: string): ValueList;
  body(path: string): ValueList;
  /** Whether the message is a JSON object, which a body policy needs. */
  isObject(): boolean;
  /** What matching may still cost. */
  readonly work: FilterWork;
}

const policyBytesMax = 262_144;
const keysMax = 5;
const combinationsMax = 150;
/** Ours: how many parts a key's path may have, split at every dot; a message is searched for every way to join them. */
const partsMax = 32;

/** `text` must not be empty. What is wrong with it is given without the prefix of the error text (11.10). */
export function readFilterPolicy(text: string, scope: FilterScope): FilterPolicy | Wrong {
  if (utf8Length(text) > policyBytesMax) return wrong('Filter policy is too large');
  const json = parseObject(text);
  if (json === undefined) return wrong('failed to parse JSON. It must be an object');
  const reader = new PolicyReader(scope);
  const rules = reader.rules(json, '', { depth: 1, combinations: 1 });
  if ('wrong' in rules) return rules;
  if (reader.keys.size > keysMax)
    return wrong(`Filter policy can not have more than ${keysMax} keys`);
  if (rules.combinations > combinationsMax) return wrong('Filter policy is too complex');
  return { scope, rules: rules.rules };
}

/** Means nothing if it cost more than there was (`values.work.isExceeded`). */
export function matches(policy: FilterPolicy, values: FilterValues): boolean {
  if (policy.scope === 'MessageBody') {
    return (
      values.isObject() &&
      policy.rules.every((rule) => holds(rule, values.work, (path) => values.body(path)))
    );
  }
  return policy.rules.every((rule) => holds(rule, values.work, (path) => values.attribute(path)));
}

type Lookup = (path: string) => ValueList;

function holds(rule: Rule, work: FilterWork, lookup: Lookup): boolean {
  if ('anyOf' in rule) {
    return rule.anyOf.some((rules) => rules.every((each) => holds(each, work, lookup)));
  }
  const values = lookup(rule.path);
  return rule.conditions.some(
    (condition) => work.spend(condition.cost(values)) && condition.holds(values),
  );
}

interface Counted {
  readonly rules: readonly Rule[];
  readonly combinations: number;
}

class PolicyReader {
  /** Paths of leaves. */
  readonly keys: Set<string> = new Set();
  readonly #scope: FilterScope;

  constructor(scope: FilterScope) {
    this.#scope = scope;
  }

  /**
   * Each key multiplies the combinations by its number of conditions and its depth; alternatives add up, each starting
   * from the number before them (11.8).
   */
  rules(
    json: object,
    above: string,
    from: { readonly depth: number; readonly combinations: number },
  ): Counted | Wrong {
    const rules: Rule[] = [];
    let { combinations } = from;
    for (const [key, value] of Object.entries(json)) {
      const read = this.#rule(key, value as unknown, above, { depth: from.depth, combinations });
      if ('wrong' in read) return read;
      rules.push(...read.rules);
      combinations = read.combinations;
    }
    return { rules, combinations };
  }

  #rule(
    key: string,
    value: unknown,
    above: string,
    from: { readonly depth: number; readonly combinations: number },
  ): Counted | Wrong {
    if (key === '$or' && Array.isArray(value)) return this.#alternatives(value, above, from);
    const path = above === '' ? key : `${above}.${key}`;
    if (Array.isArray(value)) {
      if (value.length === 0) return wrong('Empty arrays are not allowed');
      const conditions: Condition[] = [];
      for (const each of value as unknown[]) {
        const condition = readCondition(each);
        if ('wrong' in condition) return condition;
        conditions.push(condition);
      }
      if (path.split('.').length > partsMax) return wrong('Filter policy is too complex');
      this.keys.add(path);
      const combinations = from.combinations * value.length * from.depth;
      return { rules: [{ path, conditions }], combinations };
    }
    if (typeof value !== 'object' || value === null) {
      return wrong(`"${key}" must be an object or an array`);
    }
    if (this.#scope === 'MessageAttributes') {
      const leaf = innermostWrong(value);
      return leaf === undefined
        ? nestedAttributes
        : wrong(`"${leaf}" must be an object or an array`);
    }
    return this.rules(value, path, { ...from, depth: from.depth + 1 });
  }

  #alternatives(
    list: readonly unknown[],
    above: string,
    from: { readonly depth: number; readonly combinations: number },
  ): Counted | Wrong {
    if (list.length === 0) return wrong('Empty arrays are not allowed');
    const anyOf: (readonly Rule[])[] = [];
    let combinations = 0;
    for (const each of list) {
      if (typeof each !== 'object' || each === null || Array.isArray(each)) {
        return wrong('"$or" must be an array of objects');
      }
      const read = this.rules(each, above, from);
      if ('wrong' in read) return read;
      anyOf.push(read.rules);
      combinations += read.combinations;
    }
    return { rules: [{ anyOf }], combinations };
  }
}

/** Reported without the prefix "FilterPolicy: " (11.9). */
export const nestedAttributes: Wrong = {
  wrong: 'Filter policy scope MessageAttributes does not support nested filter policy',
};

/** The innermost key whose value is neither an object nor an array, if there is one. */
function innermostWrong(value: object): string | undefined {
  for (const [key, inner] of Object.entries(value) as [string, unknown][]) {
    if (typeof inner !== 'object' || inner === null) return key;
    const found = Array.isArray(inner) ? undefined : innermostWrong(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

function wrong(text: string): Wrong {
  return { wrong: text };
}
