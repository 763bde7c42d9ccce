/**
 * When the entries of a deduplication window expire, told from what is kept of a queue or topic: for a store that loads a
 * window and can leave out what an engine would drop at once. Queue and Topic remove what expires later.
 */

import type { OwnerPut } from '../changes.ts';
import { topicWindowMs } from '../limits.ts';
import { settingsOf } from '../queue/attributes.ts';

/** Entries accepted at this time or before have expired by `now`. */
export function windowExpiredUntil(owner: OwnerPut, now: number): number {
  if (owner.kind === 'topic') return now - topicWindowMs;
  return now - settingsOf(owner.queue.endsWith('.fifo'), owner.value.attributes).windowMs;
}
