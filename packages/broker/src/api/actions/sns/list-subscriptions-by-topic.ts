/**
 * ListSubscriptionsByTopic (SNS 5.11): the subscriptions of one topic in order of creation, a hundred a page. It shares
 * its implementation with ListSubscriptions.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { subscriptionList } from './subscription-list.ts';

type Input = { readonly TopicArn?: string; readonly NextToken?: string };

export function listSubscriptionsByTopic(input: Input, call: Call): Promise<Answer | Fault> {
  return subscriptionList({ isByTopic: true, topicArn: input.TopicArn }, input.NextToken, call);
}
