/**
 * AddPermission (SNS 4.2, 4.3): adds a statement to the topic's policy. Core checks labels, accounts and actions; the
 * policy is shown and not enforced.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';

type Input = {
  readonly TopicArn?: string;
  readonly Label?: string;
  readonly AWSAccountId?: readonly string[];
  readonly ActionName?: readonly string[];
};

export async function addPermission(input: Input, { backend }: Call): Promise<Answer | Fault> {
  return doneUnlessRefused(
    await backend.run({
      type: 'add-topic-permission',
      topicArn: input.TopicArn,
      label: input.Label,
      accounts: input.AWSAccountId ?? [],
      actions: input.ActionName ?? [],
    }),
  );
}
