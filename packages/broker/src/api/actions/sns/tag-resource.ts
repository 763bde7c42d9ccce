/**
 * TagResource (SNS 4.1): adds tags to a topic, and overwrites those with the same keys. Unlike other actions without
 * output, its answer has an empty result element.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';
import { type TagWords, tagsOf } from './tag-words.ts';

type Input = { readonly ResourceArn?: string; readonly Tags?: readonly TagWords[] };

export async function tagResource(input: Input, { backend }: Call): Promise<Answer | Fault> {
  const { ResourceArn: resourceArn, Tags } = input;
  return doneUnlessRefused(
    await backend.run({ type: 'tag-topic', resourceArn, tags: tagsOf(Tags) }),
  );
}
