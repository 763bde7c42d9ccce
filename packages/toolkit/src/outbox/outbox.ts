/**
 * The port of all outboxes: messages that are kept before they are sent, in order, until it is known that they were. A
 * crash between the send and its mark leads to a second send of the very same bytes, which the queue suppresses within
 * its window and the consumer's inbox recognises after it.
 *
 * Appending is not in the port: a file keeps a message by itself, a database within the caller's transaction.
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
   * Gives the work the oldest unsent message of each group, at most so many and none of the groups to leave out, and
   * marks those sent whose ids it answers. One relay at a time; answers how many messages the work was given, 0 also
   * when another relay is at it.
   */
  take(
    limit: number,
    leaveOut: ReadonlySet<string>,
    work: (kept: readonly KeptMessage[]) => Promise<readonly number[]>,
  ): Promise<number>;

  /** Every kept message, sent or not, whose event_time is from the first to before the second time, in order. */
  between(range: TimeRange): AsyncIterable<KeptMessage>;

  /** Forgets messages that were sent and that were appended before the time; the others are what `between` finds. */
  prune(before: number): Promise<void>;
}

/** Epoch milliseconds. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** When the event of a message happened. Throws at a body that is no envelope: one that no relay could send, ever. */
export function eventTimeOf({ body }: ProducerMessage): number {
  try {
    const { event_time: time } = JSON.parse(body) as Envelope;
    if (Number.isFinite(epochMsOf(time))) return epochMsOf(time);
  } catch {
    // Told below.
  }
  throw new Error('An outbox keeps what a producer makes: the body is no envelope with a time.');
}
