/**
 * UntagQueue (5.12): removes tags by their keys; missing keys are not an error. An empty list is valid and changes
 * nothing; a missing one is refused.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused, missingParameter } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & { readonly TagKeys?: readonly string[] };

export async function untagQueue(input: Input, call: Call): Promise<Answer | Fault> {
  const queue = queueOf(input, call.backend);
  const keys = input.TagKeys;
  if (keys === undefined) return missingParameter('TagKeys', queue, call);
  const command = { type: 'untag-queue', queue, keys } as const;
  return doneUnlessRefused(await call.backend.run(command));
}
