/**
 * ReceiveMessage (§9), its order and blocking (11.1–11.6) and receive attempt ids (11.18–11.22). Long polling is left to
 * storage: if there is nothing to deliver, the answer says until when asking again is useless.
 *
 * The shelf knows what is deliverable and in which order; this file hands it out: counts the receive, hides the
 * message for the timeout, makes the receipt. A message received too often goes to the dead-letter queue instead, and
 * the next one takes its turn in the same call.
 */

import type { KeptAttempt, KeptDelivery } from '../changes.ts';
import type { CommandOf, Outcome, ReceivedMessage } from '../commands.ts';
import { type Refusal, refuse } from '../errors.ts';
import {
  type Limits,
  movesPerCommandMax,
  receiveMessagesMax,
  visibilitySecondsMax,
  waitSecondsMax,
} from '../limits.ts';
import { none } from '../structures/slab.ts';
import type { Transaction } from '../transaction.ts';
import { isDeadLetter, moveToDeadLetterQueue } from './dead-letter.ts';
import { checkId } from './message-check.ts';
import { inFlight } from './message-table.ts';
import type { Queue } from './queue.ts';
import { receiptName } from './receipt.ts';

/** What a receive needs to know beyond its own queue. */
export interface ReceiveContext {
  readonly limits: Limits;
  /** The queue's dead-letter queue, if it has one and it exists (12.8). */
  readonly deadLetterQueue: Queue | undefined;
}

export function receive(
  queue: Queue,
  command: CommandOf<'receive'>,
  { limits, deadLetterQueue }: ReceiveContext,
  tx: Transaction,
): Outcome<'receive'> {
  const refusal = checkReceive(queue, command);
  if (refusal !== undefined) return refusal;
  const { visibilitySeconds, waitSeconds, attemptId } = command;
  const waitMs = waitSeconds === undefined ? queue.settings.waitMs : waitSeconds * 1000;
  const visibilityMs =
    visibilitySeconds === undefined ? queue.settings.visibilityMs : visibilitySeconds * 1000;

  if (attemptId !== undefined) {
    const messages = replay(queue, attemptId, visibilityMs, tx);
    if (messages !== undefined) return { ok: true, messages, waitMs, noneUntil: undefined };
  }
  const room = limits.inFlightMax - queue.visibility.inFlight;
  if (room <= 0 && !queue.isFifo && waitMs === 0) {
    return refuse('in-flight-too-many', { limit: limits.inFlightMax });
  }
  const count = Math.min(command.count ?? 1, Math.max(room, 0));
  const { messages, isCutShort } = take(queue, { count, visibilityMs, deadLetterQueue }, tx);
  if (attemptId !== undefined && messages.length > 0) remember(queue, attemptId, messages, tx);
  const isEmpty = messages.length === 0;
  const noneUntil = isCutShort ? tx.now : queue.noneUntil();
  return { ok: true, messages, waitMs, noneUntil: isEmpty ? noneUntil : undefined };
}

function checkReceive(queue: Queue, command: CommandOf<'receive'>): Refusal | undefined {
  const { count, waitSeconds, visibilitySeconds, attemptId } = command;
  if (count !== undefined && !isWithin(count, 1, receiveMessagesMax)) {
    return refuse('receive-count-invalid', { value: count });
  }
  if (waitSeconds !== undefined && !isWithin(waitSeconds, 0, waitSecondsMax)) {
    return refuse('wait-invalid', { value: waitSeconds });
  }
  if (visibilitySeconds !== undefined && !isWithin(visibilitySeconds, 0, visibilitySecondsMax)) {
    return refuse('receive-visibility-invalid', { value: visibilitySeconds });
  }
  const refusal = checkId('ReceiveRequestAttemptId', attemptId);
  if (refusal !== undefined) return refusal;
  return attemptId !== undefined && !queue.isFifo
    ? refuse('attempt-id-on-standard', { value: attemptId })
    : undefined;
}

function isWithin(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

interface Taking {
  readonly count: number;
  readonly visibilityMs: number;
  readonly deadLetterQueue: Queue | undefined;
}

/** `isCutShort`: the call ended because it had moved enough dead letters, not because nothing was left. */
function take(
  queue: Queue,
  { count, visibilityMs, deadLetterQueue }: Taking,
  tx: Transaction,
): { messages: ReceivedMessage[]; isCutShort: boolean } {
  const messages: ReceivedMessage[] = [];
  const before = queue.counter;
  let moves = 0;
  let row = count === 0 ? none : queue.shelf.first();
  // A later stamp means that this very call handed it out with timeout 0, or moved it here as a dead letter of this queue.
  while (row !== none && queue.table.stamp(row) <= before && moves < movesPerCommandMax) {
    const next = queue.shelf.following(row);
    if (deadLetterQueue !== undefined && isDeadLetter(queue, row)) {
      moveToDeadLetterQueue(queue, row, deadLetterQueue, tx);
      moves += 1;
    } else {
      messages.push(hand(queue, row, visibilityMs, tx));
      if (messages.length === count) break;
    }
    row = next !== none && queue.table.stamp(next) <= before ? next : queue.shelf.first();
  }
  return { messages, isCutShort: moves === movesPerCommandMax };
}

function hand(queue: Queue, row: number, visibilityMs: number, tx: Transaction): ReceivedMessage {
  const receipt = queue.nextStamp(tx);
  const delivery: KeptDelivery = {
    receiveCount: queue.table.receiveCount(row) + 1,
    firstReceivedAt: queue.table.firstReceivedAt(row) ?? tx.now,
    receivedAt: tx.now,
    visibleAt: tx.now + visibilityMs,
    stamp: receipt,
    receipt,
    isChanged: false,
  };
  queue.setDelivery(tx, row, delivery);
  const message = received(queue, row, delivery);
  tx.events.push({
    type: 'delivered',
    at: tx.now,
    queue: queue.name,
    messageId: message.messageId,
    sequence: message.sequence,
    receiveCount: delivery.receiveCount,
  });
  return message;
}

function received(queue: Queue, row: number, delivery: KeptDelivery): ReceivedMessage {
  const name = receiptName(queue.table.sequence(row), delivery.receipt);
  return queue.handOut(row, delivery, `${name}.${queue.receiptTags.of(name)}`);
}

function remember(
  queue: Queue,
  attemptId: string,
  messages: readonly ReceivedMessage[],
  tx: Transaction,
): void {
  const handed = messages.map(({ sequence }) => ({
    sequence,
    receipt: queue.table.receipt(queue.table.find(sequence)),
  }));
  queue.setAttempt(tx, attemptId, { receivedAt: tx.now, messages: handed });
}

/** The messages of an earlier receive with this attempt id, if nothing about them changed; else the id is forgotten. */
function replay(
  queue: Queue,
  attemptId: string,
  visibilityMs: number,
  tx: Transaction,
): ReceivedMessage[] | undefined {
  const attempt = queue.attempts.get(attemptId);
  if (attempt === undefined) return undefined;
  const rows = rowsStillHeld(queue, attempt);
  if (rows === undefined) {
    queue.setAttempt(tx, attemptId, null);
    return undefined;
  }
  const messages = rows.length;
  const at = tx.now;
  tx.events.push({ type: 'attempt-replayed', at, queue: queue.name, attemptId, messages });
  return rows.map((row) => {
    const delivery = queue.table.delivery(row) as KeptDelivery;
    queue.setDelivery(tx, row, {
      ...delivery,
      receivedAt: tx.now,
      visibleAt: tx.now + visibilityMs,
      stamp: queue.nextStamp(tx),
    });
    return received(queue, row, delivery);
  });
}

function rowsStillHeld(queue: Queue, attempt: KeptAttempt): number[] | undefined {
  const rows: number[] = [];
  for (const { sequence, receipt } of attempt.messages) {
    const row = queue.table.find(sequence);
    if (row === none || queue.table.state(row) !== inFlight) return undefined;
    const delivery = queue.table.delivery(row) as KeptDelivery;
    if (delivery.receipt !== receipt || delivery.isChanged) return undefined;
    rows.push(row);
  }
  return rows;
}
