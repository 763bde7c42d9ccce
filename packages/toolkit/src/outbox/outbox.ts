/**
 * The interface of all outboxes: they keep messages in order before they are sent, and until the send is confirmed. A
 * crash between the send and its mark leads to a second send of the same bytes, which the queue suppresses within its
 * window and the consumer's inbox recognizes after it.
 *
 * Appending is not part of the interface: a file outbox appends by itself, a database within the caller's transaction.
 * Both keep a message once: appending the same body again answers the id of the kept one, and another body under the same
 * source and key is refused (`key-reused`). An outbox is for one destination, so a key is unique for that destination.
 */

import type { Envelope } from '../contract/envelope.ts';
import type { EventKey } from '../contract/reused-key.ts';
import { epochMsOf } from '../contract/rfc3339.ts';
import type { ProducerMessage } from '../producer/send.ts';

export interface KeptMessage {
  readonly id: number;
  readonly message: ProducerMessage;
  /** Epoch milliseconds. */
  readonly appendedAt: number;
}

/** A message that the queue or topic refused. It is set aside until somebody decides: `retry` or `skip`. */
export interface ParkedMessage extends KeptMessage {
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly parkedAt: number;
}

/** What became of the messages that were taken; those in neither list are still unsent. */
export interface Verdict {
  readonly sent: readonly number[];
  readonly parked?: readonly { readonly id: number; readonly reason: string }[];
}

/** How far the relay is behind. */
export interface Backlog {
  /** Messages to be sent, counted up to 10,000. */
  readonly unsent: number;
  /** When the oldest of them was appended, epoch milliseconds. */
  readonly oldestAt: number | undefined;
  /** Messages set aside, counted up to 10,000. */
  readonly parked: number;
}

export const countedMax = 10_000;
/** How many rows a database removes in one statement. */
export const prunedMax = 1_000;

export interface Outbox {
  /**
   * Calls `work` with the oldest unsent message of each group, at most `limit` and none from the groups in `leaveOut`,
   * and marks them as it says. One relay at a time. Returns how many messages `work` was given; 0 also if another relay is
   * active. Parked messages are not given, and do not hold up their group.
   */
  take(
    limit: number,
    leaveOut: ReadonlySet<string>,
    work: (kept: readonly KeptMessage[]) => Promise<Verdict>,
  ): Promise<number>;

  /** The parked messages with an id greater than `after`, in order of their ids. */
  parked(limit: number, after?: number): Promise<readonly ParkedMessage[]>;

  /** Makes a parked message unsent again. Returns false if there is no parked message with this id. */
  retry(id: number): Promise<boolean>;

  /** Gives a parked message up: it counts as sent, and `between` still finds it. Returns false as `retry` does. */
  skip(id: number): Promise<boolean>;

  backlog(): Promise<Backlog>;

  /**
   * Calls `wake` after messages were appended, until the returned function is called, and `lost` if it can no longer do so.
   * An outbox without it is polled.
   */
  listen?(wake: () => void, lost: (error: unknown) => void): Promise<() => Promise<void>>;

  /** Every kept message, sent or not, whose event_time is at or after `from` and before `to`, in order. */
  between(range: TimeRange): AsyncIterable<KeptMessage>;

  /** Forgets sent messages that were appended before the time; `between` still finds the others. */
  prune(before: number): Promise<void>;
}

/** Epoch milliseconds. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** When the event of a kept message happened. */
export function eventTimeOf({ body }: ProducerMessage): number {
  return epochMsOf((JSON.parse(body) as Envelope).event_time);
}

/** The same for a message about to be kept. Throws if the body is not an envelope: no relay could send it by its key. */
export function timeToKeep(message: ProducerMessage): number {
  try {
    const time = eventTimeOf(message);
    if (Number.isFinite(time) && typeof keyOf(message) === 'string') return time;
  } catch {
    // Not JSON, or not an object: refused below like the others.
  }
  throw new Error(
    'The message cannot be put into an outbox: its body is not an envelope with a dedupe_key and a valid event_time. Create it with a producer.',
  );
}

/** Source and key of a message. */
export function eventKeyOf({ body }: ProducerMessage): EventKey {
  const { event_source: source = '', dedupe_key: key } = JSON.parse(body) as Partial<Envelope>;
  return { source, key: String(key) };
}

/** The dedupe_key of a kept message. */
export function keyOf({ body }: ProducerMessage): string {
  return (JSON.parse(body) as Envelope).dedupe_key;
}
