/**
 * Everything the compliance tests can find, one row each, in the form of the contract's refusals, which can be findings
 * too. A finding carries the message it is about, so that a person can look at it.
 */

import type { Refusal } from '../contract/refusals.ts';

/** The text of each code; `{word}` is replaced by the detail of that name. */
export const findingTexts = {
  'producer-missing': 'The module exports no producer: export what defineProducer gives.',
  'module-broken': 'The module cannot be loaded: {reason}.',
  'samples-missing':
    'There are {count} different samples, and two are needed: give the producer samples of its events.',
  'sample-failed': 'The producer throws at sample {index}: {reason}.',
  'key-shared':
    'Two different events have the key "{key}"; consumers will take the second for the first.',
  'key-ambiguous':
    'Two events that differ in {fields} have one key, "{key}": a value can shift into the next one. Build the key with key(…).',
  'hash-unchanged': 'Another dedupe_key does not change the body, so the queue cannot see it.',
  'not-deterministic':
    'One event gave two bodies that differ in {members}: time, chance or an attempt has got into it.',
  'attributes-decide':
    'Two events have one body and differ in {differed} only. The queue keeps the first and drops the second.',
  'attributes-hashed':
    'Other attributes changed what the queue takes for a duplicate; they must not.',
  'replay-not-suppressed':
    'The replay of an event within the window was delivered as a new message: {reason}.',
  'event-suppressed': 'Another event was suppressed as a duplicate of the first.',
  'not-delivered-again':
    'The same event after the window was not delivered again; the queue remembers longer than it says.',
  'inbox-missed':
    'The redelivered event took effect a second time; the inbox does not know its key.',
  'nothing-sent': 'The program sent nothing to the queue.',
  'events-collapsed':
    'Two sends with one MessageDeduplicationId had different bodies: the second event is lost.',
  'send-bypasses-producer':
    'A message is sent to a FIFO target with {name}, past every defined producer: send it with one, or list the place with its reason.',
  'producer-hidden':
    'A producer is defined where oncemq verify does not look: move it to a file named *.producer.ts or *.producer.js.',
  'replay-differs': 'A replay is not what was sent at first: {reason}.',
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
