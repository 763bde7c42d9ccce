/**
 * The compliance tests for a program in any language, judged by what it sends to one queue or topic with content-based
 * deduplication: the program was run twice within the window and once after it, always with the same input. The contract's
 * three tests have their names here as well: hash behavior, attribute ignorance, replay window.
 *
 * A later run that sends nothing is not a fault: a program may remember what it has sent.
 */

import { sha256 } from '../contract/canonical.ts';
import type { Binding } from '../contract/contract.ts';
import type { Envelope } from '../contract/envelope.ts';
import { checkMessage, type MessageRules } from '../contract/message.ts';
import { byteDifference, differingMembers } from './byte-difference.ts';
import { type CheckResult, type Finding, finding, findingOf } from './findings.ts';
import { meaninglessKey } from './meaningless-key.ts';

export interface ObservedMessage {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly deduplicationId: string;
  readonly groupId: string;
}

/** A send that was suppressed, and how it differed from the original in what the id does not cover. */
export interface ObservedDuplicate {
  readonly body: string;
  readonly groupId: string;
  readonly originalBody: string;
  readonly differed: {
    readonly body: boolean;
    readonly attributes: boolean;
    readonly group: boolean;
  };
}

export interface ObservedRun {
  /** What was accepted as new, in order. */
  readonly messages: readonly ObservedMessage[];
  readonly duplicates: readonly ObservedDuplicate[];
}

export interface ObservedRuns {
  readonly first: ObservedRun;
  readonly replay: ObservedRun;
  readonly afterWindow: ObservedRun;
}

export interface RunRules extends MessageRules {
  /** What the contract says about this queue or topic, if it says something. */
  readonly binding?: Binding | undefined;
}

/** Further findings of a check are dropped: ten messages with the same problem say enough. */
const findingsMax = 10;

export function judgeRuns(runs: ObservedRuns, rules: RunRules = {}): CheckResult[] {
  const { first, replay, afterWindow } = runs;
  const result = (check: string, title: string, findings: Finding[]): CheckResult => ({
    check,
    title,
    findings: findings.slice(0, findingsMax),
  });
  const envelope = result(
    'envelope',
    'every message is an envelope of the contract',
    envelopes(first, rules),
  );
  // If nothing was sent, the other checks would pass without checking anything.
  if (first.messages.length + first.duplicates.length === 0) return [envelope];
  return [
    envelope,
    result('hash-behavior', 'every event has its own key, and its own body and hash', [
      ...sharedKeys(first),
      ...collapsed(first),
    ]),
    result(
      'attribute-ignorance',
      'no two events differ in attributes or group alone, which no hash covers',
      decidedByAttributes(first),
    ),
    result('replay-window', 'a replay sends the same bytes; within the window it is suppressed', [
      ...notSuppressed(first, replay),
      ...changed(first, afterWindow),
    ]),
  ];
}

/** The first difference between what two runs sent, in words; undefined if the second sent nothing else. */
export function sentDifference(first: ObservedRun, second: ObservedRun): string | undefined {
  const before = sendsOf(first);
  for (const [index, { body, groupId }] of sendsOf(second).entries()) {
    const same = before.filter((each) => each.body === body);
    if (same.some((each) => each.groupId === groupId)) continue;
    if (same.length > 0) return `the MessageGroupId: "${same[0]?.groupId}" → "${groupId}"`;
    const original = sameKey(before, body) ?? before[index];
    return original === undefined
      ? `the number of messages: ${before.length} → ${index + 1} or more`
      : byteDifference(original.body, body);
  }
  return undefined;
}

function sendsOf({ messages, duplicates }: ObservedRun): { body: string; groupId: string }[] {
  return [...messages, ...duplicates];
}

function envelopes({ messages, duplicates }: ObservedRun, rules: RunRules): Finding[] {
  if (messages.length + duplicates.length === 0) return [finding('nothing-sent')];
  return messages.flatMap(({ body, attributes, deduplicationId }) => {
    const isExplicit = deduplicationId !== sha256(body);
    const parts = isExplicit ? { body, attributes, deduplicationId } : { body, attributes };
    const judged = rules.binding?.judge(parts, rules) ?? checkMessage(parts, rules);
    if (!judged.ok) return [findingOf(judged, body)];
    // Only a schema describes it, and may know no key.
    if (judged.envelope === undefined) return [];
    const { dedupe_key: key, ...rest } = JSON.parse(body) as Envelope;
    return meaninglessKey(key, rest.payload ?? rest, body);
  });
}

/** Keys are scoped by event_source, as the inbox has them. */
function sharedKeys({ messages }: ObservedRun): Finding[] {
  const seen = new Set<string>();
  return messages.flatMap(({ body }) => {
    const { dedupe_key: key, event_source: source } = membersOf(body);
    if (typeof key !== 'string') return [];
    const scoped = JSON.stringify([source, key]);
    if (seen.has(scoped)) return [finding('key-shared', { key }, body)];
    seen.add(scoped);
    return [];
  });
}

/** Within one run, two sends are two events. In later runs a duplicate is a replay, whose attributes may name the attempt. */
function collapsed({ duplicates }: ObservedRun): Finding[] {
  return duplicates
    .filter(({ differed }) => differed.body)
    .map(({ originalBody }) => finding('events-collapsed', {}, originalBody));
}

function decidedByAttributes({ duplicates }: ObservedRun): Finding[] {
  return duplicates.flatMap(({ originalBody, differed }) => {
    const names = (['attributes', 'group'] as const).filter((name) => differed[name]);
    if (differed.body || names.length === 0) return [];
    return [finding('attributes-decide', { differed: names.join(' and ') }, originalBody)];
  });
}

function notSuppressed(first: ObservedRun, replay: ObservedRun): Finding[] {
  const delivered = replay.messages.map(({ body }) =>
    finding('replay-not-suppressed', { reason: difference(first, body) }, body),
  );
  return [...delivered, ...otherReplays(first, replay)];
}

/** Replays that were suppressed although they differ from the original: in the body, by an explicit id, or the group. */
function otherReplays(first: ObservedRun, { duplicates }: ObservedRun): Finding[] {
  const known = new Set(sendsOf(first).map(({ body, groupId }) => JSON.stringify([body, groupId])));
  const otherBody =
    'it has the MessageDeduplicationId of a message of the first run, but another body';
  const otherGroup = 'it has another MessageGroupId, so it would not stay in order';
  return duplicates
    .filter(({ body, groupId, differed }) => {
      const isOtherGroup = differed.group && !known.has(JSON.stringify([body, groupId]));
      return differed.body || isOtherGroup;
    })
    .map(({ originalBody, differed }) =>
      finding('replay-differs', { reason: differed.body ? otherBody : otherGroup }, originalBody),
    );
}

function changed(first: ObservedRun, later: ObservedRun): Finding[] {
  const bodies = new Set(sendsOf(first).map(({ body }) => body));
  const others = later.messages
    .filter(({ body }) => !bodies.has(body))
    .map(({ body }) => finding('replay-differs', { reason: difference(first, body) }, body));
  return [...others, ...otherReplays(first, later)];
}

function difference({ messages }: ObservedRun, body: string): string {
  if (messages.some((message) => message.body === body))
    return 'the body was the same, but the MessageDeduplicationId was not';
  const original = sameKey(messages, body);
  if (original !== undefined) {
    return `it has the key of a message of the first run, but differs in ${differingMembers(original.body, body).join(', ')}`;
  }
  const { dedupe_key: key } = membersOf(body);
  return typeof key === 'string'
    ? `no event of the first run had the key "${key}"`
    : 'the first run sent no such body';
}

function sameKey<T extends { readonly body: string }>(
  messages: readonly T[],
  body: string,
): T | undefined {
  const { dedupe_key: key } = membersOf(body);
  if (typeof key !== 'string') return undefined;
  return messages.find((message) => membersOf(message.body).dedupe_key === key);
}

function membersOf(body: string): Partial<Envelope> {
  try {
    return Object(JSON.parse(body)) as Partial<Envelope>;
  } catch {
    return {};
  }
}
