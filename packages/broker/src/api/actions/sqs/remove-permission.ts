/**
 * RemovePermission (5.14): removes a statement from the queue's Policy attribute by its label; removing the last one
 * removes the whole attribute.
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
