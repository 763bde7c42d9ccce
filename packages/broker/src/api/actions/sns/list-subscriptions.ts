/**
 * ListSubscriptions (SNS 5.11): the subscriptions of all topics, by topic and then in order of creation, a hundred a page.
 * It shares its implementation with ListSubscriptionsByTopic.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { subscriptionList } from './subscription-list.ts';

type Input = { readonly NextToken?: string };

export function listSubscriptions(input: Input, call: Call): Promise<Answer | Fault> {
  return subscriptionList({ isByTopic: false }, input.NextToken, call);
}
