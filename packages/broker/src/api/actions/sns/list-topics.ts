/**
 * ListTopics (SNS 3.12): the ARNs of all topics, sorted by name, a hundred a page. Clients cannot choose the size of a
 * page.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { readToken, writeToken } from './page-token.ts';

type Input = { readonly NextToken?: string };

export async function listTopics(input: Input, { backend }: Call): Promise<Answer | Fault> {
  const after = readToken(input.NextToken);
  if (typeof after === 'object') return after;
  const outcome = await backend.run({ type: 'list-topics', after });
  if (!outcome.ok) return outcome;
  const topics = outcome.topics.map(({ arn }) => ({ TopicArn: arn }));
  return { ok: true, output: { Topics: topics, NextToken: writeToken(outcome.next) } };
}
