/**
 * DeleteMessage and ChangeMessageVisibility, single and batch (§10): what a consumer says with a receipt handle.
 *
 * A standard queue honors every handle it ever gave out for a message that is still there. A FIFO queue honors only
 * the latest, and only until its timeout is over: by then the message may be on its way to somebody else, and
 * deleting it would break the order.
 *
 * After a database has lost commits, another message may have the number of one that is gone. A handle that is later than any
 * with which the message was given out is not about it, and refused.
 */

import type { KeptDelivery } from '../changes.ts';
import type { CommandOf, DeleteEntry, Outcome, VisibilityEntry } from '../commands.ts';
import { type Refusal, refuse } from '../errors.ts';
import { visibilitySecondsMax } from '../limits.ts';
import { none } from '../structures/slab.ts';
import type { Transaction } from '../transaction.ts';
import { applyEntries, checkBatch, refuseMissing, single } from './batch.ts';
import { inFlight } from './message-table.ts';
import type { Queue } from './queue.ts';
import { type Receipt, readReceipt } from './receipt.ts';

interface Done {
  readonly ok: true;
}

const done: Done = { ok: true };

const deleteEntry = 'DeleteMessageBatchRequestEntry';
const visibilityEntry = 'ChangeMessageVisibilityBatchRequestEntry';

export function deleteMessages(
  queue: Queue,
  command: CommandOf<'delete-messages'>,
  tx: Transaction,
): Outcome<'delete-messages'> {
  const refusal = checkBatch(command, deleteEntry);
  if (refusal !== undefined) return refusal;
  return applyEntries(queue, command, tx, deleteOne);
}

export function changeVisibility(
  queue: Queue,
  command: CommandOf<'change-visibility'>,
  tx: Transaction,
): Outcome<'change-visibility'> {
  const refusal = checkBatch(command, visibilityEntry);
  if (refusal !== undefined) return refusal;
  return applyEntries(queue, command, tx, changeOne);
}

function deleteOne(
  queue: Queue,
  entry: DeleteEntry,
  tx: Transaction,
  index: number,
): Done | Refusal {
  const { receiptHandle: handle } = entry;
  if (!handle) return refuseMissing('ReceiptHandle', deleteEntry, index);
  const receipt = receiptOf(queue, handle);
  if (receipt === undefined) return refuse('receipt-invalid', { value: handle });
  const row = queue.table.find(receipt.sequence);
  if (row === none) return done;
  if (queue.isFifo && !isHeldBy(queue, row, receipt)) {
    return refuse('receipt-expired', { value: handle });
  }
  if (!wasGivenOut(queue, row, receipt)) return refuse('receipt-invalid', { value: handle });
  tx.events.push({
    type: 'deleted',
    at: tx.now,
    queue: queue.name,
    messageId: queue.messageId(row),
    sequence: receipt.sequence,
  });
  queue.removeMessage(tx, row);
  return done;
}

function changeOne(
  queue: Queue,
  entry: VisibilityEntry,
  tx: Transaction,
  index: number,
): Done | Refusal {
  const { visibilitySeconds: seconds, receiptHandle: handle } = entry;
  if (seconds === undefined) return refuseMissing('VisibilityTimeout', visibilityEntry, index);
  if (!handle) return refuseMissing('ReceiptHandle', visibilityEntry, index);
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > visibilitySecondsMax) {
    return refuse('visibility-invalid', { value: seconds });
  }
  const receipt = receiptOf(queue, handle);
  if (receipt === undefined) return refuse('receipt-invalid', { value: handle });
  const row = queue.table.find(receipt.sequence);
  const isHeld = queue.isFifo ? isHeldBy : wasGivenOut;
  if (row === none || !isHeld(queue, row, receipt)) {
    // In a batch AWS has another code and a shorter text; consumers that give up what they have deleted look for it.
    if (index !== single) return refuse('visibility-unavailable-in-batch');
    return refuse('visibility-unavailable', { value: handle });
  }
  const delivery = queue.table.delivery(row) as KeptDelivery;
  const visibleAt = tx.now + seconds * 1000;
  if (visibleAt > delivery.receivedAt + visibilitySecondsMax * 1000) {
    return refuse('visibility-total', { value: seconds });
  }
  queue.setDelivery(tx, row, {
    ...delivery,
    visibleAt,
    stamp: queue.nextStamp(tx),
    isChanged: true,
  });
  tx.events.push({
    type: 'visibility-changed',
    at: tx.now,
    queue: queue.name,
    messageId: queue.messageId(row),
    sequence: receipt.sequence,
    visibleAt,
  });
  return done;
}

/** What the handle says, if the queue gave it out. */
function receiptOf({ receiptTags }: Queue, handle: string): Receipt | undefined {
  const receipt = readReceipt(handle);
  return receipt !== undefined && receiptTags.isGenuine(handle) ? receipt : undefined;
}

/** Whether the message was given out with this receipt or a later one. */
function wasGivenOut(queue: Queue, row: number, receipt: Receipt): boolean {
  return receipt.receipt <= queue.table.receipt(row);
}

/** Whether the message is in flight under this very receipt. */
function isHeldBy(queue: Queue, row: number, receipt: Receipt): boolean {
  return queue.table.state(row) === inFlight && queue.table.receipt(row) === receipt.receipt;
}
