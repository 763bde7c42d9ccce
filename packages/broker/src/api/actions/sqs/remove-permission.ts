/**
 * RemovePermission (5.14): takes a statement out of the queue's Policy attribute by its label; with the last one the
 * whole attribute goes.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & { readonly Label?: string };

export async function removePermission(input: Input, { backend }: Call): Promise<Answer | Fault> {
  const queue = queueOf(input, backend);
  const outcome = await backend.run({
    type: 'remove-permission',
    queue,
    label: input.Label,
  });
  return doneUnlessRefused(outcome);
}
