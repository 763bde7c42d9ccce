/**
 * ListTagsForResource (SNS 4.1): all tags of a topic, in no particular order. A missing topic is a resource that is not
 * found, which has an error code of its own.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';

type Input = { readonly ResourceArn?: string };

export async function listTagsForResource(
  input: Input,
  { backend }: Call,
): Promise<Answer | Fault> {
  const resourceArn = input.ResourceArn;
  const outcome = await backend.run({ type: 'list-topic-tags', resourceArn });
  if (!outcome.ok) return outcome;
  const tags = outcome.tags.map(({ key, value }) => ({ Key: key, Value: value }));
  return { ok: true, output: { Tags: tags } };
}
