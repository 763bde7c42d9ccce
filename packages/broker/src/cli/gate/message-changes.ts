/**
 * How messages of the same sample differ between the base and the branch: as findings that show each changed member with
 * its value before and after.
 */

import { type Finding, finding } from '@oncemq/toolkit';

const membersMax = 5;
const valueCharsMax = 120;
/** Findings for one producer; a change of the key changes every message. */
const findingsMax = 10;

/** Bodies by sample. A sample that is only in one of them says nothing. */
export function changesOfSamples(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Finding[] {
  const pairs = [...before].flatMap(([sample, body]): [string, string][] => {
    const now = after.get(sample);
    // A body that one of them refuses is a finding of verify.
    return now === undefined || now === body || body === '' || now === '' ? [] : [[body, now]];
  });
  return pairs.slice(0, findingsMax).map(([body, now]) => changed(difference(body, now), now));
}

/** What a program sent for the same input, in any order. */
export function changesOfRuns(before: readonly string[], after: readonly string[]): Finding[] {
  const gone = without(before, after);
  const added = without(after, before);
  const findings = gone.map((body) => {
    // The one with the same key, if there is one, shows best what changed.
    const same = added.findIndex((each) => keyOf(each) === keyOf(body));
    const [now] = added.splice(Math.max(same, 0), 1);
    return now === undefined
      ? changed('it is no longer sent', body)
      : changed(difference(body, now), now);
  });
  const more = added.map((body) => changed('it was not sent before', body));
  return [...findings, ...more].slice(0, findingsMax);
}

function changed(change: string, message: string): Finding {
  return finding('message-changed', { change }, message);
}

/** The bodies of the first list that are not in the second; each counts as often as it is there. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const each of others) counts.set(each, (counts.get(each) ?? 0) + 1);
  return all.filter((each) => {
    const left = counts.get(each) ?? 0;
    counts.set(each, left - 1);
    return left <= 0;
  });
}

function keyOf(body: string): unknown {
  const value = parsed(body);
  return (value as { dedupe_key?: unknown } | null | undefined)?.dedupe_key;
}

/** `dedupe_key: "a" → "b"; payload.price: 1 → "1"` */
export function difference(before: string, after: string): string {
  const [left, right] = [parsed(before), parsed(after)];
  const all = left === undefined || right === undefined ? [] : membersThatDiffer(left, right, '');
  if (all.length === 0) return `${shown(before)} → ${shown(after)}`;
  // The key is what consumers go by.
  const sorted = [...all].sort(
    (a, b) => Number(b.startsWith('dedupe_key:')) - Number(a.startsWith('dedupe_key:')),
  );
  const more = all.length - membersMax;
  const told = sorted.slice(0, membersMax).join('; ');
  return more > 0 ? `${told}; and ${more} more` : told;
}

function membersThatDiffer(left: unknown, right: unknown, path: string): string[] {
  if (isObject(left) && isObject(right)) {
    const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    return names.flatMap((name) =>
      membersThatDiffer(left[name], right[name], path === '' ? name : `${path}.${name}`),
    );
  }
  const [before, after] = [left, right].map((each) => JSON.stringify(each) ?? 'nothing');
  return before === after ? [] : [`${path}: ${shown(before)} → ${shown(after)}`];
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shown(text = ''): string {
  return text.length > valueCharsMax ? `${text.slice(0, valueCharsMax)}…` : text;
}
