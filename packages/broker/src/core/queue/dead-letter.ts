/**
 * Moving a message to another queue: to its dead-letter queue when it has been received too often (rules 12.4–12.7),
 * or wherever a move task takes it (13.4). The change refers to the kept content instead of carrying it. The target's
 * deduplication window is neither consulted nor updated: a message that was accepted once is not lost on the way.
 */

import type { KeptDelivery, KeptMessage } from '../changes.ts';
import type { Transaction } from '../transaction.ts';
import type { Queue } from './queue.ts';

/** Whether a receive must move the message instead of returning it. */
export function isDeadLetter(queue: Queue, row: number): boolean {
  const { deadLetter } = queue.settings;
  return (
    deadLetter !== undefined &&
    queue.receivedHere(row) >= deadLetter.receiveCountMax &&
    // A queue that is its own dead-letter queue moves a message once; else it could never be received there.
    queue.deadLetterSource(row) !== queue.arn
  );
}

export function moveToDeadLetterQueue(
  queue: Queue,
  row: number,
  target: Queue,
  tx: Transaction,
): void {
  const { table } = queue;
  const messageId = queue.messageId(row);
  const sequence = table.sequence(row);
  const delivery = table.delivery(row) as KeptDelivery;
  tx.events.push({
    type: 'dead-lettered',
    at: tx.now,
    queue: queue.name,
    messageId,
    sequence,
    receiveCount: delivery.receiveCount,
    target: target.name,
  });
  const arrival = target.nextStamp(tx);
  const message: KeptMessage = {
    messageId,
    sentAt: queue.isFifo ? tx.now : table.sentAt(row),
    delayMs: 0,
    groupId: queue.shelf.groupId(row),
    deduplicationId: queue.isFifo ? messageId : undefined,
    deadLetterSource: queue.arn,
    receivedElsewhere: delivery.receiveCount,
    content: { from: { queue: queue.name, sequence } },
  };
  target.addReceived(tx, arrival, message, {
    ...delivery,
    receivedAt: tx.now,
    visibleAt: tx.now,
    stamp: arrival,
    receipt: 0,
    isChanged: false,
  });
  queue.removeMessage(tx, row);
}

export function moveByTask(queue: Queue, row: number, target: Queue, tx: Transaction): void {
  const { messageId, sequence, groupId, deduplicationId } = queue.view(row);
  const arrival = target.nextStamp(tx);
  tx.events.push({
    type: 'moved',
    at: tx.now,
    queue: queue.name,
    messageId,
    sequence,
    destination: target.name,
    newMessageId: target.idOf(arrival),
  });
  target.addMessage(tx, arrival, {
    sentAt: tx.now,
    delayMs: target.isFifo ? 0 : target.settings.delayMs,
    groupId,
    deduplicationId,
    content: { from: { queue: queue.name, sequence } },
  });
  queue.removeMessage(tx, row);
}
