/**
 * SetSubscriptionAttributes (SNS 5.8): sets one attribute at a time, despite its name. An empty or missing value removes
 * it.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';

type Input = {
  readonly SubscriptionArn?: string;
  readonly AttributeName?: string;
  readonly AttributeValue?: string;
};

export async function setSubscriptionAttributes(
  input: Input,
  { backend }: Call,
): Promise<Answer | Fault> {
  return doneUnlessRefused(
    await backend.run({
      type: 'set-subscription-attribute',
      subscriptionArn: input.SubscriptionArn,
      name: input.AttributeName,
      value: input.AttributeValue,
    }),
  );
}
