/**
 * ListQueues (5.7): the URLs of the queues whose names start with a prefix, sorted by name, in pages if a page size is
 * given.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { type PageInput, readToken, writeToken } from './page-token.ts';
import { urlsOf } from './queue-url.ts';

type Input = PageInput & { readonly QueueNamePrefix?: string };

export async function listQueues(input: Input, call: Call): Promise<Answer | Fault> {
  const after = readToken(input.NextToken);
  if (typeof after === 'object') return after;
  const outcome = await call.backend.run({
    type: 'list-queues',
    prefix: input.QueueNamePrefix,
    limit: input.MaxResults,
    after,
  });
  if (!outcome.ok) return outcome;
  const { queues, next } = outcome;
  return { ok: true, output: { QueueUrls: urlsOf(queues, call), NextToken: writeToken(next) } };
}
