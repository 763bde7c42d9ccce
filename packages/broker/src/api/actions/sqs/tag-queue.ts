/**
 * TagQueue (5.12): adds tags, and overwrites those with the same keys. An empty map is valid and changes nothing; a
 * missing one is refused.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused, missingParameter } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & { readonly Tags?: Readonly<Record<string, string>> };

export async function tagQueue(input: Input, call: Call): Promise<Answer | Fault> {
  const queue = queueOf(input, call.backend);
  const tags = input.Tags;
  if (tags === undefined) return missingParameter('Tags', queue, call);
  return doneUnlessRefused(await call.backend.run({ type: 'tag-queue', queue, tags }));
}
