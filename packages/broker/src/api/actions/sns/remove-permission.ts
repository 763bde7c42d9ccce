/**
 * RemovePermission (SNS 4.2): removes the statement with this label from the topic's policy; a missing one is not an
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
