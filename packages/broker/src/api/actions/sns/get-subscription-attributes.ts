/**
 * GetSubscriptionAttributes (SNS 5.7): returns every attribute of the subscription, set or default. There is no way to ask
 * for only some of them.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';

type Input = { readonly SubscriptionArn?: string };

export async function getSubscriptionAttributes(
  input: Input,
  { backend }: Call,
): Promise<Answer | Fault> {
  const subscriptionArn = input.SubscriptionArn;
  const outcome = await backend.run({ type: 'get-subscription-attributes', subscriptionArn });
  return outcome.ok ? { ok: true, output: { Attributes: outcome.attributes } } : outcome;
}
