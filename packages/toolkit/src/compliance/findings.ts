/**
 * Everything the compliance tests can find, one row each, in the form of the contract's refusals, which can be findings
 * too. A finding carries the message it is about, so that a person can look at it.
 */

import type { Refusal } from '../contract/refusals.ts';

/** The text of each code; `{word}` is replaced by the detail of that name. */
export const findingTexts = {
  'producer-missing': 'The module exports no producer. Export what defineProducer returns.',
  'module-broken': 'The module cannot be loaded: {reason}.',
  'samples-missing':
    'The producer has {count} different samples, but needs at least two. Add samples of its events.',
  'sample-failed': 'The producer throws an error for sample {index}: {reason}.',
  'key-shared':
    'Two different events have the key "{key}"; consumers will take the second for a replay of the first.',
  'key-ambiguous':
    'Two events that differ in {fields} have the same key, "{key}", because characters can shift from one value into the next. Build the key with key(…).',
  'hash-unchanged': 'A different dedupe_key does not change the body, so the queue cannot see it.',
  'not-deterministic':
    'The same event gave two bodies that differ in {members}. The body must not depend on time, randomness or the attempt.',
  'attributes-decide':
    'Two events have the same body and differ only in {differed}. The queue keeps the first and drops the second.',
  'attributes-hashed':
    'The queue treated the same body with different attributes as a new message. Attributes must not matter.',
  'replay-not-suppressed':
    'The replay of an event within the window was delivered as a new message: {reason}.',
  'event-suppressed': 'A different event was suppressed as a duplicate of the first.',
  'not-delivered-again':
    'After the window, the same event was not delivered again: the queue remembers events for longer than its window.',
  'inbox-missed':
    'The redelivered event took effect a second time: the inbox did not recognize its key.',
  'nothing-sent': 'The program sent nothing to the queue.',
  'events-collapsed':
    'Two sends with the same MessageDeduplicationId had different bodies: the second event is lost.',
  'send-bypasses-producer':
    'A message is sent to a FIFO queue or topic with {name}, without a producer. Send it with one, register the program in the contract file, or list the file as an exception with a reason.',
  'producer-hidden':
    'A producer is defined where oncemq verify does not look. Move it to a file named *.producer.ts or *.producer.js.',
  'program-failed': 'The registered program cannot be judged: {reason}',
  'producer-unregistered':
    'The producer {name} is no longer in the contract file, but its files are still there: nobody tests it.',
  'message-changed':
    'The same sample gives another message than before: {change}. Consumers will not recognize a replay. If that is meant, say why: "breaking" in the contract file.',
  'tests-deleted': 'The producer has fewer tests than before: {what}.',
  'environment-dependent':
    '{what} changed {change}. The same event must give the same bytes, wherever and whenever it is sent.',
  'key-shared-by-producers':
    '{other} gives another event of the same event_source the key "{key}"; consumers will refuse the second.',
  'key-meaningless':
    'The key "{key}" contains {word}, which is what a missing value or an object becomes as text. Every such event gets this key.',
  'replay-differs': 'A replay differs from what was sent first: {reason}.',
} as const;

export type FindingCode = keyof typeof findingTexts;

export interface Finding {
  readonly code: FindingCode | Refusal['code'];
  readonly text: string;
  /** The documentation of the code, as a path from the root of the repository. */
  readonly docs: string;
  /** The body of the message that the finding is about. */
  readonly message?: string;
  /** The source line that the finding is about, counted from 1. */
  readonly line?: number;
}

/** One check and its findings; without findings it has passed. */
export interface CheckResult {
  readonly check: string;
  readonly title: string;
  readonly findings: readonly Finding[];
}

export function finding(
  code: FindingCode,
  detail: Readonly<Record<string, string | number>> = {},
  message?: string,
): Finding {
  const text = findingTexts[code].replace(/\{(\w+)\}/g, (_, word: string) => String(detail[word]));
  const docs = `docs/guide/verify.md#${code}`;
  return message === undefined ? { code, text, docs } : { code, text, docs, message };
}

export function findingOf({ code, text, docs }: Refusal, message?: string): Finding {
  return message === undefined ? { code, text, docs } : { code, text, docs, message };
}
