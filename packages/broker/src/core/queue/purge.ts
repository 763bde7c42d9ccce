/**
 * PurgeQueue and forgetting the deduplication window (rules 5.11, 11.12): the two requests that remove what has not
 * expired yet.
 */

import type { Outcome } from '../commands.ts';
import { refuse } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { Turn } from '../transaction.ts';
import type { Queue } from './queue.ts';

/** Removes every message, visible, delayed or in flight, and the deduplication window. */
export function purgeQueue(queue: Queue, limits: Limits, turn: Turn): Outcome<'purge-queue'> {
  const { purgedAt } = queue.kept;
  if (purgedAt !== undefined && turn.now - purgedAt < limits.purgeIntervalMs) {
    const seconds = limits.purgeIntervalMs / 1000;
    return refuse('purge-in-progress', { queue: queue.name, seconds });
  }
  const messages = queue.table.size;
  queue.clear(turn, 'contents');
  queue.configure(turn, { ...queue.kept, purgedAt: turn.now });
  if (turn.isObserved) {
    turn.events.push({ type: 'queue-purged', at: turn.now, queue: queue.name, messages });
  }
  return { ok: true };
}

export function forgetWindow(queue: Queue, turn: Turn): Outcome<'forget-window'> {
  const entries = queue.window.size;
  queue.clear(turn, 'window');
  if (turn.isObserved) {
    turn.events.push({ type: 'window-forgotten', at: turn.now, queue: queue.name, entries });
  }
  return { ok: true, entries };
}
