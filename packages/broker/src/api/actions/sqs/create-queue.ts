/**
 * CreateQueue (5.1–5.5): creates a queue, or finds the one that already has this name and these attributes. Core checks
 * names, attributes and tags.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { urlOf } from './queue-url.ts';

type Input = {
  readonly QueueName?: string;
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>>;
};

export async function createQueue(input: Input, call: Call): Promise<Answer | Fault> {
  const outcome = await call.backend.run({
    type: 'create-queue',
    queue: input.QueueName,
    attributes: input.Attributes,
    tags: input.tags,
  });
  return outcome.ok ? { ok: true, output: { QueueUrl: urlOf(outcome.queue, call) } } : outcome;
}
