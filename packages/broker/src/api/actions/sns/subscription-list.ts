/**
 * A page of subscriptions (SNS 5.5, 5.11): what ListSubscriptions and ListSubscriptionsByTopic have in common. An
 * unconfirmed subscription has `PendingConfirmation` instead of its ARN.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { readPosition, writePosition } from './page-token.ts';

const unconfirmed = 'PendingConfirmation';

export async function subscriptionList(
  asked: { readonly isByTopic: boolean; readonly topicArn?: string | undefined },
  token: string | undefined,
  { backend }: Call,
): Promise<Answer | Fault> {
  const after = readPosition(token);
  if (after !== undefined && 'code' in after) return after;
  const outcome = await backend.run({ type: 'list-subscriptions', ...asked, after });
  if (!outcome.ok) return outcome;
  const subscriptions = outcome.subscriptions.map((subscription) => ({
    SubscriptionArn: subscription.isConfirmed ? subscription.subscriptionArn : unconfirmed,
    Owner: backend.realm.account,
    Protocol: subscription.protocol,
    Endpoint: subscription.endpoint,
    TopicArn: subscription.topicArn,
  }));
  const output = { Subscriptions: subscriptions, NextToken: writePosition(outcome.next) };
  return { ok: true, output };
}
