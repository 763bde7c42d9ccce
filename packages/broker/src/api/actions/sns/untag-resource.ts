/**
 * UntagResource (SNS 4.1): removes tags of a topic by their keys; those that it lacks are no error. Has an empty result
 * element, like TagResource.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';

type Input = { readonly ResourceArn?: string; readonly TagKeys?: readonly string[] };

export async function untagResource(input: Input, { backend }: Call): Promise<Answer | Fault> {
  const { ResourceArn: resourceArn, TagKeys: keys = [] } = input;
  return doneUnlessRefused(await backend.run({ type: 'untag-topic', resourceArn, keys }));
}
