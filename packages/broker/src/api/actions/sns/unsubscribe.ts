/**
 * Unsubscribe (SNS 5.10): ends a subscription. A missing subscription is not an error; the ARN of a topic is. The
 * UnsubscribeURL that SNS sends is this action as a link, without a signature: that is enough only for an endpoint that
 * was confirmed without one (the API reference on Unsubscribe).
 */

import { type Fault, fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';

type Input = {
  readonly SubscriptionArn?: string;
};

export async function unsubscribe(input: Input, call: Call): Promise<Answer | Fault> {
  const { backend, isAnonymous } = call;
  if (isAnonymous && !(await wasConfirmedWithoutSignature(input, call))) {
    return fault('signature-missing');
  }
  return doneUnlessRefused(
    await backend.run({
      type: 'unsubscribe',
      subscriptionArn: input.SubscriptionArn,
    }),
  );
}

async function wasConfirmedWithoutSignature(input: Input, { backend }: Call): Promise<boolean> {
  const found = await backend.run({
    type: 'get-subscription-attributes',
    subscriptionArn: input.SubscriptionArn,
  });
  return found.ok && found.attributes['ConfirmationWasAuthenticated'] === 'false';
}
