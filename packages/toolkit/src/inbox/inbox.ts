/**
 * The port of all inboxes: what a consumer remembers of the keys whose effect has taken place, for as long as it is asked
 * to. The queue forgets after its window; the inbox is what makes "once" hold for days.
 *
 * What an inbox promises when the process dies between the effect and its mark differs, and each says so: only the one in
 * the effect's own database transaction has no such moment.
 */

/** done: the effect took place now. duplicate: it had before. busy: somebody else is at it; the message must come again. */
export type InboxOutcome = 'done' | 'duplicate' | 'busy';

export interface Inbox<Transaction = undefined> {
  /** Runs the effect unless it has taken place for this key. An effect that throws has not. */
  once(key: string, effect: (transaction: Transaction) => Promise<void>): Promise<InboxOutcome>;
}

export interface InboxOptions {
  /** How long a key is remembered; Infinity is for ever. Default seven days. */
  readonly keepMs?: number;
  /** Epoch milliseconds; default the clock of the machine. */
  readonly now?: () => number;
}

const defaultKeepMs = 7 * 86_400_000;

/** Throws at what is no time: a key would be forgotten at once, and every effect take place again. */
export function keepMsOf({ keepMs = defaultKeepMs }: InboxOptions): number {
  if (typeof keepMs === 'number' && keepMs > 0) return keepMs;
  throw new RangeError(`keepMs is a number of milliseconds above 0, not ${String(keepMs)}.`);
}

/** The inbox holds as many keys as it may. Nothing is forgotten to make room: that would be an effect too many. */
export class InboxFullError extends Error {
  override readonly name: string = 'InboxFullError';

  constructor(keysMax: number) {
    super(
      `The inbox remembers ${keysMax} keys and may not hold more; raise keysMax or shorten keepMs.`,
    );
  }
}
