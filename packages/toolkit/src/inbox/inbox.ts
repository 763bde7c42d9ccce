/**
 * The interface of all inboxes: a consumer's record of the events whose effect has taken place, kept for a chosen time.
 * The queue forgets after its window; the inbox makes "once" hold for days.
 *
 * An event is known by its source and key: two producers may use the same key for different events. With each one, the
 * inbox keeps the digest of its body. A replay has the same bytes by contract, so the same key with another digest is not
 * a duplicate but a second event, which would be lost if it were skipped: the outcome is `conflict`.
 *
 * Inboxes differ in what happens if the process dies between the effect and its mark, and each documents it. Only the
 * inbox in the effect's own database transaction has no such moment.
 */

import type { EventKey } from '../contract/reused-key.ts';

export { scopedKey } from '../contract/reused-key.ts';

/**
 * done: the effect took place now. duplicate: it had before. conflict: another event had the key before; nothing took
 * place, and the message must not be deleted. busy: it is running elsewhere; the message must come again.
 */
export type InboxOutcome = 'done' | 'duplicate' | 'conflict' | 'busy';

/** What an inbox knows an event by. */
export interface InboxEvent extends EventKey {
  /** The SHA-256 of the body, in hexadecimal. */
  readonly digest: string;
}

export interface Inbox<Transaction = undefined> {
  /** Runs the effect unless it has already taken place for this event. An effect that throws has not taken place. */
  once(
    event: InboxEvent,
    effect: (transaction: Transaction) => Promise<void>,
  ): Promise<InboxOutcome>;
}

/** Marks of versions that kept no digests: they were made for the key alone and count as handled. */
export function outcomeOf(event: InboxEvent, keptDigest: string | undefined): InboxOutcome {
  return keptDigest === undefined || keptDigest === event.digest ? 'duplicate' : 'conflict';
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

/** The effect may take place twice: another consumer may have begun it, too. */
export function leaseOver({ key }: EventKey, leaseMs: number, cause?: unknown): Error {
  return new Error(
    `The effect of ${key} took longer than its lease of ${leaseMs} ms; another consumer may have begun it. Increase leaseMs.`,
    { cause },
  );
}
