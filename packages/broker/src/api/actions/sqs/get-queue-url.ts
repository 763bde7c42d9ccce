/**
 * GetQueueUrl (5.6): returns the URL of a queue by its name, on the host that the client used. There is only one account,
 * so the owner's account is accepted and ignored.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { urlOf } from './queue-url.ts';

type Input = { readonly QueueName?: string };

export async function getQueueUrl({ QueueName }: Input, call: Call): Promise<Answer | Fault> {
  const outcome = await call.backend.run({ type: 'find-queue', queue: QueueName });
  return outcome.ok ? { ok: true, output: { QueueUrl: urlOf(outcome.queue, call) } } : outcome;
}
