/**
 * GetTopicAttributes (SNS 3.5): returns every attribute of the topic, set or default. There is no way to ask for only some
 * of them.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';

type Input = { readonly TopicArn?: string };

export async function getTopicAttributes(input: Input, { backend }: Call): Promise<Answer | Fault> {
  const topicArn = input.TopicArn;
  const outcome = await backend.run({ type: 'get-topic-attributes', topicArn });
  return outcome.ok ? { ok: true, output: { Attributes: outcome.attributes } } : outcome;
}
