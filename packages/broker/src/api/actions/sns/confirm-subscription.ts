/**
 * ConfirmSubscription (SNS 5.12): takes back the token that was posted to an HTTP endpoint. The SubscribeURL in that post
 * is this action as a link, without a signature; but AuthenticateOnUnsubscribe requires one.
 */

import { type Fault, fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';

type Input = {
  readonly TopicArn?: string;
  readonly Token?: string;
  readonly AuthenticateOnUnsubscribe?: string;
};

export async function confirmSubscription(
  input: Input,
  { backend, isAnonymous }: Call,
): Promise<Answer | Fault> {
  const isAuthenticated = input.AuthenticateOnUnsubscribe?.toLowerCase() === 'true';
  if (isAuthenticated && isAnonymous) return fault('signature-missing');
  const outcome = await backend.run({
    type: 'confirm-subscription',
    topicArn: input.TopicArn,
    token: input.Token,
    isAuthenticated,
  });
  return outcome.ok ? { ok: true, output: { SubscriptionArn: outcome.subscriptionArn } } : outcome;
}
