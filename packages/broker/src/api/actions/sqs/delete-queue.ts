/**
 * DeleteQueue (5.8): deletes the queue and everything in it immediately. Storage wakes the receivers that wait on
 * it.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

export async function deleteQueue(input: QueueInput, { backend }: Call): Promise<Answer | Fault> {
  const queue = queueOf(input, backend);
  const outcome = await backend.run({ type: 'delete-queue', queue });
  return doneUnlessRefused(outcome);
}
