/**
 * Calls to HTTP endpoints (5.5, 12.3). Core cannot make them: a tick says which are due, storage makes them and reports
 * the result of each. A call in flight has a lease; if no report comes in time, for example because the process died,
 * it is made again, so an endpoint gets every message at least once.
 *
 * A passing failure is retried as the delivery policy says; a message that fails for good goes to the dead-letter queue.
 */

import type { KeptPost } from '../changes.ts';
import { postLeaseMs, postsPerTickMax } from '../limits.ts';
import type { Transaction } from '../transaction.ts';
import type { DuePost, TopicCommandOf, TopicOutcomes } from './commands.ts';
import { effectivePolicy, retryDelay } from './delivery-policy.ts';
import { confirmationText, envelopeOf, envelopeText, messageFor, type Signer } from './envelope.ts';
import { type FanOutContext, fail } from './fan-out.ts';
import { Notification } from './notification.ts';
import type { Topic } from './topic.ts';

/** The calls to make now; each is in flight from here on. */
export function duePosts(topic: Topic, tx: Transaction): DuePost[] {
  return topic.posts.due(tx.now, postsPerTickMax).flatMap((id): DuePost[] => {
    const post = topic.posts.get(id);
    const subscription =
      post === undefined ? undefined : topic.subscriptions.get(post.subscription);
    if (post === undefined || subscription === undefined) {
      topic.removePost(tx, id);
      return [];
    }
    const attempt = post.attempt.attempts + 1;
    topic.setPostAttempt(tx, id, { attempts: attempt, dueAt: tx.now + postLeaseMs });
    const { kept, arn, isRaw } = subscription;
    const { contentType } = policyOf(topic, kept.attributes['DeliveryPolicy']);
    return [
      {
        topic: topic.name,
        subscription: post.subscription,
        id,
        attempt,
        url: kept.endpoint,
        subscriptionArn: arn,
        topicArn: topic.arn,
        token: kept.token,
        isRaw,
        signatureVersion: topic.settings.signatureVersion,
        contentType,
      },
    ];
  });
}

/** What is posted, with the headers that Amazon sends. */
export function postRequest(
  due: DuePost,
  post: KeptPost,
  at: number,
  signer: Signer | undefined,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const { topicArn, subscriptionArn, signatureVersion } = due;
  const sender = { arn: topicArn, isFifo: false, signatureVersion, signer };
  const { publication, baseUrl } = post;
  const headers: Record<string, string> = {
    'accept-encoding': 'gzip,deflate',
    'content-type': due.contentType,
    'user-agent': 'Amazon Simple Notification Service Agent',
    'x-amz-sns-topic-arn': topicArn,
  };
  if (publication === undefined) {
    const token = due.token ?? '';
    // Distinct and stable, as ids are; nothing is looked up by it.
    const messageId = `${subscriptionArn.slice(-36)}`;
    headers['x-amz-sns-message-type'] = 'SubscriptionConfirmation';
    headers['x-amz-sns-message-id'] = messageId;
    return { headers, body: confirmationText({ messageId, token, at, baseUrl }, sender) };
  }
  headers['x-amz-sns-message-type'] = 'Notification';
  headers['x-amz-sns-message-id'] = publication.messageId;
  headers['x-amz-sns-subscription-arn'] = subscriptionArn;
  const protocol = due.url.startsWith('https:') ? 'https' : 'http';
  if (due.isRaw) {
    headers['x-amz-sns-rawdelivery'] = 'true';
    return { headers, body: messageFor(publication, protocol) };
  }
  const envelope = envelopeOf(publication, protocol, sender);
  return { headers, body: envelopeText(envelope, publication.baseUrl, subscriptionArn) };
}

export function reportPost(
  topic: Topic,
  command: TopicCommandOf<'report-post'>,
  context: FanOutContext,
  tx: Transaction,
): TopicOutcomes['report-post'] {
  const { id, result, publication } = command;
  const post = topic.posts.get(id);
  // The subscription or its topic is gone (another may have the topic's name now), or another call has taken over.
  if (post?.subscription !== command.subscription) return { ok: true };
  if (post.attempt.attempts !== command.attempt) return { ok: true };
  const subscription = topic.subscriptions.get(post.subscription);
  if (subscription === undefined || result.ok) {
    topic.removePost(tx, id);
    if (subscription === undefined || post.messageId === undefined) return { ok: true };
    const name = { at: tx.now, topic: topic.name, subscription: post.subscription };
    const { messageId, attempt } = post;
    tx.events.push({ type: 'posted', ...name, messageId, attempts: attempt.attempts });
    return { ok: true };
  }
  const { retry } = policyOf(topic, subscription.kept.attributes['DeliveryPolicy']);
  const { attempts } = post.attempt;
  const delay = result.isFinal ? undefined : retryDelay(retry, attempts);
  const { reason } = result;
  if (delay !== undefined) {
    const retryAt = tx.now + delay * 1000;
    topic.setPostAttempt(tx, id, { attempts, dueAt: retryAt, failure: reason });
    if (post.messageId !== undefined) {
      const name = { at: tx.now, topic: topic.name, subscription: post.subscription };
      const { messageId } = post;
      tx.events.push({ type: 'post-failed', ...name, messageId, attempts, reason, retryAt });
    }
    return { ok: true };
  }
  topic.removePost(tx, id);
  if (publication !== undefined) {
    const notification = new Notification(topic, publication, context.signer);
    fail(notification, subscription, `${reason} (${attempts} calls)`, context, tx);
  }
  return { ok: true };
}

function policyOf(topic: Topic, own: string | undefined): ReturnType<typeof effectivePolicy> {
  return effectivePolicy(topic.kept.attributes['DeliveryPolicy'], own);
}
