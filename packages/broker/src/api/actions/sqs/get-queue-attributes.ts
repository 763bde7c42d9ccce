/**
 * GetQueueAttributes (5.9): returns the named attributes, or all; without names, none. Core already uses Amazon's names
 * and values.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & { readonly AttributeNames?: readonly string[] };

export async function getQueueAttributes(input: Input, { backend }: Call): Promise<Answer | Fault> {
  const outcome = await backend.run({
    type: 'get-attributes',
    queue: queueOf(input, backend),
    names: input.AttributeNames ?? [],
  });
  return outcome.ok ? { ok: true, output: { Attributes: outcome.attributes } } : outcome;
}
