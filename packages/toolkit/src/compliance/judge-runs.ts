/**
 * The compliance tests for a program in any language, judged by what it sends: the program was run twice within the
 * window and once after it, always with the same input, against a queue with content-based deduplication.
 *
 * A later run that sends nothing is not a fault: a program may remember what it has sent.
 */

import { sha256 } from '../contract/canonical.ts';
import type { Envelope } from '../contract/envelope.ts';
import { checkMessage, type MessageRules } from '../contract/message.ts';
import { differingMembers } from './determinism.ts';
import { type CheckResult, type Finding, finding, findingOf } from './findings.ts';

export interface ObservedMessage {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly deduplicationId: string;
}

/** A send that the queue suppressed, and how it differed from the original in what the id does not cover. */
export interface ObservedDuplicate {
  readonly originalBody: string;
  readonly differed: {
    readonly body: boolean;
    readonly attributes: boolean;
    readonly group: boolean;
  };
}

export interface ObservedRun {
  /** What the queue accepted as new, in order. */
  readonly messages: readonly ObservedMessage[];
  readonly duplicates: readonly ObservedDuplicate[];
}

export interface ObservedRuns {
  readonly first: ObservedRun;
  readonly replay: ObservedRun;
  readonly afterWindow: ObservedRun;
}

/** Further findings of a check are dropped: ten messages with the same problem say enough. */
const findingsMax = 10;

export function judgeRuns(runs: ObservedRuns, rules: MessageRules = {}): CheckResult[] {
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
    result('keys', 'every event has its own key', sharedKeys(first)),
    result(
      'collapse',
      'no two events collapse into one message, and no two differ in attributes alone',
      collapsed(first),
    ),
    result(
      'replay',
      'a replay within the window sends the same bytes and is suppressed',
      notSuppressed(first, replay),
    ),
    result(
      'after-window',
      'a replay after the window sends the same bytes',
      changed(first, afterWindow),
    ),
  ];
}

function envelopes({ messages, duplicates }: ObservedRun, rules: MessageRules): Finding[] {
  if (messages.length + duplicates.length === 0) return [finding('nothing-sent')];
  return messages.flatMap(({ body, attributes, deduplicationId }) => {
    const isExplicit = deduplicationId !== sha256(body);
    const parts = isExplicit ? { body, attributes, deduplicationId } : { body, attributes };
    const checked = checkMessage(parts, rules);
    return checked.ok ? [] : [findingOf(checked, body)];
  });
}

function sharedKeys({ messages }: ObservedRun): Finding[] {
  const seen = new Set<string>();
  return messages.flatMap(({ body }) => {
    const key = keyOf(body);
    if (key === undefined || !seen.has(key)) {
      seen.add(key ?? '');
      return [];
    }
    return [finding('key-shared', { key }, body)];
  });
}

/** Within one run, two sends are two events. In later runs a duplicate is a replay, whose attributes may name the attempt. */
function collapsed({ duplicates }: ObservedRun): Finding[] {
  return duplicates.flatMap(({ originalBody, differed }) => {
    if (differed.body) return [finding('events-collapsed', {}, originalBody)];
    const names = (['attributes', 'group'] as const).filter((name) => differed[name]);
    if (names.length === 0) return [];
    return [finding('attributes-decide', { differed: names.join(' and ') }, originalBody)];
  });
}

function notSuppressed(first: ObservedRun, replay: ObservedRun): Finding[] {
  const delivered = replay.messages.map(({ body }) =>
    finding('replay-not-suppressed', { reason: difference(first, body) }, body),
  );
  return [...delivered, ...otherBodies(replay)];
}

/** Replays that were suppressed by an explicit id although their body differs from the original's. */
function otherBodies({ duplicates }: ObservedRun): Finding[] {
  const reason =
    'it has the MessageDeduplicationId of a message of the first run, but another body';
  return duplicates
    .filter(({ differed }) => differed.body)
    .map(({ originalBody }) => finding('replay-differs', { reason }, originalBody));
}

function changed(first: ObservedRun, later: ObservedRun): Finding[] {
  const bodies = new Set(first.messages.map(({ body }) => body));
  const others = later.messages
    .filter(({ body }) => !bodies.has(body))
    .map(({ body }) => finding('replay-differs', { reason: difference(first, body) }, body));
  return [...others, ...otherBodies(later)];
}

function difference({ messages }: ObservedRun, body: string): string {
  const key = keyOf(body);
  if (messages.some((message) => message.body === body))
    return 'the body was the same, but the MessageDeduplicationId was not';
  const original = messages.find((message) => key !== undefined && keyOf(message.body) === key);
  if (original !== undefined) {
    return `it has the key of a message of the first run, but differs in ${differingMembers(original.body, body).join(', ')}`;
  }
  return key === undefined
    ? 'the first run sent no such body'
    : `no event of the first run had the key "${key}"`;
}

function keyOf(body: string): string | undefined {
  try {
    const { dedupe_key: key } = JSON.parse(body) as Partial<Envelope>;
    return typeof key === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}
