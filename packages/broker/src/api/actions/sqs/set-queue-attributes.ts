/**
 * SetQueueAttributes (5.10): changes the given attributes, all or none. An empty map is valid and changes nothing; a
 * missing one is refused.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused, missingParameter } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & { readonly Attributes?: Readonly<Record<string, string>> };

export async function setQueueAttributes(input: Input, call: Call): Promise<Answer | Fault> {
  const queue = queueOf(input, call.backend);
  const attributes = input.Attributes;
  if (attributes === undefined) return missingParameter('Attributes', queue, call);
  const command = { type: 'set-attributes', queue, attributes } as const;
  return doneUnlessRefused(await call.backend.run(command));
}
