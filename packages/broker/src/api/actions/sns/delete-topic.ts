/**
 * DeleteTopic (SNS 3.11): deletes a topic with its subscriptions. A missing topic is not an error; one that archives
 * messages cannot be deleted.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';

type Input = {
  readonly TopicArn?: string;
};

export async function deleteTopic(input: Input, { backend }: Call): Promise<Answer | Fault> {
  return doneUnlessRefused(
    await backend.run({
      type: 'delete-topic',
      topicArn: input.TopicArn,
    }),
  );
}
