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

/** When the event of a message happened; NaN of a body that is no envelope, which versions before could keep. */
export function eventTimeOf({ body }: ProducerMessage): number {
  try {
    return epochMsOf((JSON.parse(body) as Envelope).event_time);
  } catch {
    return Number.NaN;
  }
}

/** The same of a message that is to be kept. Throws at a body that is no envelope: no relay can send it by its key. */
export function timeToKeep(message: ProducerMessage): number {
  const time = eventTimeOf(message);
  if (Number.isFinite(time)) return time;
  throw new Error('An outbox keeps what a producer makes: the body is no envelope with a time.');
}
