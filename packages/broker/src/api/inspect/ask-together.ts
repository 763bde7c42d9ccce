/**
 * Asks about each of many queues or topics: concurrently, because on disk each answer waits for the commit in progress;
 * and a hundred at a time, yielding to the event loop in between, so that many of them do not delay other work.
 */

import { nextTurn } from '../next-turn.ts';

const askedAtOnce = 100;

/** The answers in the order of the names; names that were deleted after they were listed have none. */
export async function askTogether<T extends object>(
  names: readonly string[],
  ask: (name: string) => Promise<T | undefined>,
): Promise<T[]> {
  const answers: T[] = [];
  for (let from = 0; from < names.length; from += askedAtOnce) {
    if (from > 0) await nextTurn();
    const some = await Promise.all(names.slice(from, from + askedAtOnce).map(ask));
    answers.push(...some.filter((answer) => answer !== undefined));
  }
  return answers;
}
