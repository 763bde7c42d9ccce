/**
 * UntagResource (SNS 4.1): removes tags of a topic by their keys; missing keys are not an error. Its answer has an empty
 * result element, like that of TagResource.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';

type Input = { readonly ResourceArn?: string; readonly TagKeys?: readonly string[] };

export async function untagResource(input: Input, { backend }: Call): Promise<Answer | Fault> {
  const { ResourceArn: resourceArn, TagKeys: keys } = input;
  return doneUnlessRefused(await backend.run({ type: 'untag-topic', resourceArn, keys }));
}
