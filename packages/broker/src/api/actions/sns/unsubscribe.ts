/**
 * Unsubscribe (SNS 5.10): ends a subscription. One that is gone already is no error; an ARN that can only be a topic's
 * is.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';

type Input = {
  readonly SubscriptionArn?: string;
};

export async function unsubscribe(input: Input, { backend }: Call): Promise<Answer | Fault> {
  return doneUnlessRefused(
    await backend.run({
      type: 'unsubscribe',
      subscriptionArn: input.SubscriptionArn,
    }),
  );
}
