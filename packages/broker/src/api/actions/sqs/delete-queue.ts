/**
 * DeleteQueue (5.8): the queue and all that it holds are gone at once. Receivers that wait on it are storage's to
 * wake.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

export async function deleteQueue(input: QueueInput, { backend }: Call): Promise<Answer | Fault> {
  const queue = queueOf(input, backend);
  const outcome = await backend.run({ type: 'delete-queue', queue });
  return doneUnlessRefused(outcome);
}
