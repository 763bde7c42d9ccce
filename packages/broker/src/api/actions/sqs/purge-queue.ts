/**
 * PurgeQueue (5.11): removes every message and, on a FIFO queue, every remembered deduplication id. A second purge within
 * a minute is refused.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

export async function purgeQueue(input: QueueInput, { backend }: Call): Promise<Answer | Fault> {
  const queue = queueOf(input, backend);
  const outcome = await backend.run({ type: 'purge-queue', queue });
  return doneUnlessRefused(outcome);
}
