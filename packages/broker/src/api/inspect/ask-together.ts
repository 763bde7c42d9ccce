/**
 * Asks about each of many queues or topics: together, because on disk each answer waits for what is being kept just then;
 * and a hundred at a time, with a turn for everybody else in between, so that many of them make nobody wait for long.
 */

const askedAtOnce = 100;

/** The answers in the order of the names, without those of what is gone since it was listed. */
export async function askTogether<T extends object>(
  names: readonly string[],
  ask: (name: string) => Promise<T | undefined>,
): Promise<T[]> {
  const answers: T[] = [];
  for (let from = 0; from < names.length; from += askedAtOnce) {
    if (from > 0) await new Promise((resolve) => setImmediate(resolve));
    const some = await Promise.all(names.slice(from, from + askedAtOnce).map(ask));
    answers.push(...some.filter((answer) => answer !== undefined));
  }
  return answers;
}
