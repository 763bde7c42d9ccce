/**
 * The interface of all inboxes: a consumer's record of the keys whose effect has taken place, kept for a chosen time. The
 * queue forgets after its window; the inbox makes "once" hold for days.
 *
 * Inboxes differ in what happens if the process dies between the effect and its mark, and each documents it. Only the
 * inbox in the effect's own database transaction has no such moment.
 */

/** done: the effect took place now. duplicate: it had before. busy: it is running elsewhere; the message must come again. */
export type InboxOutcome = 'done' | 'duplicate' | 'busy';

export interface Inbox<Transaction = undefined> {
  /** Runs the effect unless it has already taken place for this key. An effect that throws has not taken place. */
  once(key: string, effect: (transaction: Transaction) => Promise<void>): Promise<InboxOutcome>;
}

export interface InboxOptions {
  /** How long a key is remembered; Infinity is forever. Default seven days. */
  readonly keepMs?: number;
  /** Epoch milliseconds; default: the system clock. */
  readonly now?: () => number;
}

const defaultKeepMs = 7 * 86_400_000;

/** Throws on an invalid duration: keys would be forgotten at once, and every effect would take place again. */
export function keepMsOf({ keepMs = defaultKeepMs }: InboxOptions): number {
  if (typeof keepMs === 'number' && keepMs > 0) return keepMs;
  throw new RangeError(
    `keepMs must be a number of milliseconds greater than 0, not ${String(keepMs)}.`,
  );
}

/** The inbox is full. It does not forget keys early to make room, because their effects could take place twice. */
export class InboxFullError extends Error {
  override readonly name: string = 'InboxFullError';

  constructor(keysMax: number) {
    super(`The inbox is full: it remembers ${keysMax} keys. Increase keysMax, or reduce keepMs.`);
  }
}
