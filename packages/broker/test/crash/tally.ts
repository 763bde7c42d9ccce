/**
 * What a crash run did, in numbers: for people, and for a test that makes sure that a run tried what it is meant to. A
 * run in which no receipt outlived a kill says nothing about receipts.
 */

import type { Entry } from './history.ts';
import { deletedAt, livesOf } from './lives.ts';

/** Each is a number of requests, messages or kills; `overKill` counts those with a kill between the two moments. */
export interface Tally {
  kills: number;
  killsAtStart: number;
  sendsAnswered: number;
  sendsUnanswered: number;
  /** Sends that were never answered but delivered all the same. */
  unansweredDelivered: number;
  /** Answered sends of a message that an earlier answer had named. */
  duplicates: number;
  duplicatesOverKill: number;
  deliveries: number;
  /** Messages received more than once, by their own receive count. */
  redelivered: number;
  /** Receives of messages that an earlier answer to the same attempt had given. */
  attemptsRepeated: number;
  attemptsRepeatedOverKill: number;
  deleted: number;
  /** Deletes that succeeded with a receipt from before a kill. */
  deletedOverKill: number;
  changes: number;
}

export function tallyOf(history: readonly Entry[]): Tally {
  const { sent, messages, sends, kills } = livesOf(history);
  const isKillBetween = (earlier: number, later: number): boolean =>
    kills.some(({ at }) => at >= earlier && at <= later);
  const tally = emptyTally();
  tally.kills = kills.length;
  tally.killsAtStart = kills.filter(({ isStarting }) => isStarting).length;
  tally.sendsAnswered = sends.filter(({ outcome }) => outcome === 'done').length;
  tally.sendsUnanswered = sends.filter(({ outcome }) => outcome === 'unanswered').length;
  for (const { answered, delivered, sends: tries } of sent) {
    if (answered.length === 0 && delivered.length > 0) tally.unansweredDelivered += 1;
    const [first, ...again] = tries.filter(({ outcome }) => outcome === 'done');
    tally.duplicates += again.length;
    tally.duplicatesOverKill += again.filter(
      ({ from }) => first !== undefined && isKillBetween(first.to, from),
    ).length;
  }
  for (const message of messages) {
    const { deliveries, deletes, changes } = message;
    tally.deliveries += deliveries.length;
    tally.changes += changes.filter(({ outcome }) => outcome === 'done').length;
    if (deliveries.some(({ received }) => received.receiveCount > 1)) tally.redelivered += 1;
    for (const [index, { receive, received }] of deliveries.entries()) {
      const earlier = deliveries
        .slice(0, index)
        .find((each) => each.received.receipt === received.receipt);
      if (earlier === undefined) continue;
      tally.attemptsRepeated += 1;
      if (isKillBetween(earlier.receive.to, receive.from)) tally.attemptsRepeatedOverKill += 1;
    }
    const gone = deletes.find(({ outcome, to }) => outcome === 'done' && to === deletedAt(message));
    if (gone === undefined) continue;
    tally.deleted += 1;
    const held = deliveries.findLast(({ received }) => received.receipt === gone.receipt);
    if (held !== undefined && isKillBetween(held.receive.to, gone.from)) tally.deletedOverKill += 1;
  }
  return tally;
}

export function emptyTally(): Tally {
  return {
    kills: 0,
    killsAtStart: 0,
    sendsAnswered: 0,
    sendsUnanswered: 0,
    unansweredDelivered: 0,
    duplicates: 0,
    duplicatesOverKill: 0,
    deliveries: 0,
    redelivered: 0,
    attemptsRepeated: 0,
    attemptsRepeatedOverKill: 0,
    deleted: 0,
    deletedOverKill: 0,
    changes: 0,
  };
}
