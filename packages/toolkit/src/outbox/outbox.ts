/**
 * The interface of all outboxes: they keep messages in order before they are sent, and until the send is confirmed. A
 * crash between the send and its mark leads to a second send of the same bytes, which the queue suppresses within its
 * window and the consumer's inbox recognizes after it.
 *
 * Appending is not part of the interface: a file outbox appends by itself, a database within the caller's transaction.
 */

import { type Envelope, epochMsOf } from '../contract/envelope.ts';
import type { ProducerMessage } from '../producer/send.ts';

export interface KeptMessage {
  readonly id: number;
  readonly message: ProducerMessage;
  /** Epoch milliseconds. */
  readonly appendedAt: number;
}

export interface Outbox {
  /**
   * Calls `work` with the oldest unsent message of each group, at most `limit` and none from the groups in `leaveOut`,
   * and marks the messages whose ids it returns as sent. One relay at a time. Returns how many messages `work` was
   * given; 0 also if another relay is active.
   */
  take(
    limit: number,
    leaveOut: ReadonlySet<string>,
    work: (kept: readonly KeptMessage[]) => Promise<readonly number[]>,
  ): Promise<number>;

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

/** The dedupe_key of a kept message. */
export function keyOf({ body }: ProducerMessage): string {
  return (JSON.parse(body) as Envelope).dedupe_key;
}
