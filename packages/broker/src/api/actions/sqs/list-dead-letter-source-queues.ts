/**
 * ListDeadLetterSourceQueues (12.9): the URLs of the queues whose RedrivePolicy names this one, in pages like those of
 * ListQueues. Amazon spells the output member with a small q.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { type PageInput, readToken, writeToken } from './page-token.ts';
import { type QueueInput, queueOf, urlsOf } from './queue-url.ts';

type Input = QueueInput & PageInput;

export async function listDeadLetterSourceQueues(
  input: Input,
  call: Call,
): Promise<Answer | Fault> {
  const after = readToken(input.NextToken);
  if (typeof after === 'object') return after;
  const outcome = await call.backend.run({
    type: 'list-dead-letter-sources',
    queue: queueOf(input, call.backend),
    limit: input.MaxResults,
    after,
  });
  if (!outcome.ok) return outcome;
  const { queues, next } = outcome;
  return { ok: true, output: { queueUrls: urlsOf(queues, call), NextToken: writeToken(next) } };
}
