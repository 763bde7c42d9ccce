/**
 * Checks a crash run: a history goes in, violations come out. Pure, so that every rule is shown to fail by a history made
 * by hand (checker.test.ts).
 *
 * It knows only what clients can know. Where an answer was lost, both outcomes are possible and neither is wrong, until
 * a later answer shows which it was; from then on only that one is right.
 */

import {
  duplicateAnswered,
  invented,
  left,
  lost,
  refused,
  secondMessage,
  undead,
  vanished,
} from './delivery-rules.ts';
import { orders, partial } from './fan-out-rules.ts';
import type { Entry } from './history.ts';
import { attempts, inFlight, receipts } from './holding-rules.ts';
import { type Lives, livesOf } from './lives.ts';
import { overtaken, receiveCounts, sequences } from './order-rules.ts';

/** What must hold, each with the function that finds violations. */
export const rules: Readonly<Record<string, (lives: Lives) => string[]>> = {
  'every answered send is delivered': lost,
  'every message stays until it is deleted': vanished,
  'the queues are empty after the drain': left,
  'nothing is delivered after its delete was answered': undead,
  'a duplicate is answered with the ids of its original': duplicateAnswered,
  'a message sent again is one message': secondMessage,
  'nothing is delivered that nobody sent': invented,
  'no send and no receive is refused': refused,
  'sequence numbers rise in the order of the sends': sequences,
  'a group gives its messages in order, and none while an earlier one is in flight': overtaken,
  'a message counts its receives upwards': receiveCounts,
  'a message in flight is delivered to nobody else': inFlight,
  'a receipt is good while its message is in flight': receipts,
  'a repeated attempt gives the same messages': attempts,
  'a publication is in all queues of its topic or in none': partial,
  'all queues of a topic have its publications in the same order': orders,
};

export interface Violation {
  /** A key of `rules`. */
  readonly rule: string;
  /** Which message, and what happened to it. */
  readonly text: string;
}

export function check(history: readonly Entry[]): Violation[] {
  const lives = livesOf(history);
  return Object.entries(rules).flatMap(([rule, find]) =>
    find(lives).map((text) => ({ rule, text })),
  );
}

/** How many violations of each rule were found, with a few of them as text. */
export function violationsText(violations: readonly Violation[], samples = 3): string {
  return Object.keys(rules)
    .map((rule) => ({ rule, found: violations.filter((violation) => violation.rule === rule) }))
    .filter(({ found }) => found.length > 0)
    .flatMap(({ rule, found }) => [
      `${found.length} against: ${rule}`,
      ...found.slice(0, samples).map(({ text }) => `    ${text}`),
    ])
    .join('\n');
}
