/**
 * PurgeQueue and forgetting the deduplication window (rules 5.11, 11.12): the two requests that remove what has not
 * expired yet.
 */

import type { Outcome } from '../commands.ts';
import { refuse } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { Transaction } from '../transaction.ts';
import type { Queue } from './queue.ts';

/** Removes every message, visible, delayed or in flight, and the deduplication window. */
export function purgeQueue(queue: Queue, limits: Limits, tx: Transaction): Outcome<'purge-queue'> {
  const { purgedAt } = queue.kept;
  if (purgedAt !== undefined && tx.now - purgedAt < limits.purgeIntervalMs) {
    const seconds = limits.purgeIntervalMs / 1000;
    return refuse('purge-in-progress', { queue: queue.name, seconds });
  }
  const messages = queue.table.size;
  queue.clear(tx, 'contents');
  queue.configure(tx, { ...queue.kept, purgedAt: tx.now });
  tx.events.push({ type: 'queue-purged', at: tx.now, queue: queue.name, messages });
  return { ok: true };
}

export function forgetWindow(queue: Queue, tx: Transaction): Outcome<'forget-window'> {
  const entries = queue.window.size;
  queue.clear(tx, 'window');
  tx.events.push({ type: 'window-forgotten', at: tx.now, queue: queue.name, entries });
  return { ok: true, entries };
}
