/**
 * RemovePermission (SNS 4.2): drops the statement of that label from the topic's policy; one that is not there is no
 * error.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';

type Input = {
  readonly TopicArn?: string;
  readonly Label?: string;
};

export async function removePermission(input: Input, { backend }: Call): Promise<Answer | Fault> {
  return doneUnlessRefused(
    await backend.run({
      type: 'remove-topic-permission',
      topicArn: input.TopicArn,
      label: input.Label,
    }),
  );
}
