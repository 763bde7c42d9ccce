/**
 * The functions of the Amazon SNS actions by name; the shapes describe their inputs and outputs. A new action needs a row
 * in both tables, and a test checks that they agree.
 */

import type { Action } from '../action.ts';
import { addPermission } from './add-permission.ts';
import { confirmSubscription } from './confirm-subscription.ts';
import { createTopic } from './create-topic.ts';
import { deleteTopic } from './delete-topic.ts';
import { getDataProtectionPolicy } from './get-data-protection-policy.ts';
import { getSubscriptionAttributes } from './get-subscription-attributes.ts';
import { getTopicAttributes } from './get-topic-attributes.ts';
import { listSubscriptions } from './list-subscriptions.ts';
import { listSubscriptionsByTopic } from './list-subscriptions-by-topic.ts';
import { listTagsForResource } from './list-tags-for-resource.ts';
import { listTopics } from './list-topics.ts';
import { publish } from './publish.ts';
import { publishBatch } from './publish-batch.ts';
import { putDataProtectionPolicy } from './put-data-protection-policy.ts';
import { removePermission } from './remove-permission.ts';
import { setSubscriptionAttributes } from './set-subscription-attributes.ts';
import { setTopicAttributes } from './set-topic-attributes.ts';
import { subscribe } from './subscribe.ts';
import { tagResource } from './tag-resource.ts';
import { unsubscribe } from './unsubscribe.ts';
import { untagResource } from './untag-resource.ts';

export const snsActionFunctions: Readonly<Record<string, Action>> = {
  AddPermission: addPermission,
  ConfirmSubscription: confirmSubscription,
  CreateTopic: createTopic,
  DeleteTopic: deleteTopic,
  GetDataProtectionPolicy: getDataProtectionPolicy,
  GetSubscriptionAttributes: getSubscriptionAttributes,
  GetTopicAttributes: getTopicAttributes,
  ListSubscriptions: listSubscriptions,
  ListSubscriptionsByTopic: listSubscriptionsByTopic,
  ListTagsForResource: listTagsForResource,
  ListTopics: listTopics,
  Publish: publish,
  PublishBatch: publishBatch,
  PutDataProtectionPolicy: putDataProtectionPolicy,
  RemovePermission: removePermission,
  SetSubscriptionAttributes: setSubscriptionAttributes,
  SetTopicAttributes: setTopicAttributes,
  Subscribe: subscribe,
  TagResource: tagResource,
  Unsubscribe: unsubscribe,
  UntagResource: untagResource,
};
