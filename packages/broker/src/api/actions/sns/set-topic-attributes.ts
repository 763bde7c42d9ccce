/**
 * SetTopicAttributes (SNS 3.8–3.10): sets one attribute at a time, despite its name. An empty or missing value removes
 * it.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';

type Input = {
  readonly TopicArn?: string;
  readonly AttributeName?: string;
  readonly AttributeValue?: string;
};

export async function setTopicAttributes(input: Input, { backend }: Call): Promise<Answer | Fault> {
  return doneUnlessRefused(
    await backend.run({
      type: 'set-topic-attribute',
      topicArn: input.TopicArn,
      name: input.AttributeName,
      value: input.AttributeValue,
    }),
  );
}
