/**
 * Delivers a publication to subscribers (§9, §12) in the transaction that publishes it: so the topic's window entry and
 * every queue's message are one list of changes, and no crash leaves half a fan-out.
 *
 * A queue gets it by the rules of SendMessage, its own deduplication included. If the queue refuses it, does not exist, or
 * has a policy that does not allow it (where policies are enforced), delivery fails for that subscription alone: the
 * message goes to the subscription's dead-letter queue or is lost, and an event says so. HTTP endpoints are called later;
 * here the post is only kept.
 */

import { queueOfArn, type Realm } from '../arn.ts';
import type { SendResult, Violation } from '../commands.ts';
import { errorText } from '../errors.ts';
import { isAllowed } from '../policy/is-allowed.ts';
import type { Queue } from '../queue/queue.ts';
import { send } from '../queue/send.ts';
import type { Transaction } from '../transaction.ts';
import type { Signer } from './envelope.ts';
import { type Notification, type PublishedMessage, senderPrincipal } from './notification.ts';
import { shownEndpoint } from './shown-endpoint.ts';
import type { Subscription } from './subscription.ts';
import type { Topic } from './topic.ts';

/** What deliveries need to know beyond their topic. */
export interface FanOutContext {
  readonly realm: Realm;
  /** The queue of this name, if it exists. */
  queue(name: string): Queue | undefined;
  /** Whether a queue's policy must allow the topic to send to it. */
  readonly arePoliciesEnforced: boolean;
  readonly signer: Signer | undefined;
  /** How a message from a topic breaks the contract of a queue; absent if no queue has one. */
  readonly judge: Judge | undefined;
}

/**
 * Reads bodies, which core does not. What it answers is only reported, so that it decides nothing about the state. It gets the
 * same object for all queues of a publication, so that it can read a body once.
 */
export type Judge = (queue: string, message: PublishedMessage) => Violation | undefined;

/** Delivers to every subscription that takes publications as they are published, but for those that filter it out. */
export function fanOut(
  notification: Notification,
  filteredOut: ReadonlySet<Subscription>,
  context: FanOutContext,
  tx: Transaction,
): void {
  for (const subscription of notification.topic.subscriptions.inOrder()) {
    if (!subscription.isLive) continue;
    if (filteredOut.has(subscription)) leaveOut(notification, subscription, tx);
    else deliver(notification, subscription, context, tx);
  }
}

/** Notes that a subscription's filter policy rejects the publication. */
export function leaveOut(
  notification: Notification,
  subscription: Subscription,
  tx: Transaction,
): void {
  tx.events.push({ type: 'filtered-out', ...nameOf(notification, subscription, tx) });
}

export function deliver(
  notification: Notification,
  subscription: Subscription,
  context: FanOutContext,
  tx: Transaction,
): void {
  const { topic, publication } = notification;
  const { kept } = subscription;
  if (kept.protocol !== 'sqs') {
    if (topic.posts.isFull) {
      fail(notification, subscription, 'too many calls of HTTP endpoints are waiting', context, tx);
      return;
    }
    const post = { subscription: subscription.id, publication, baseUrl: publication.baseUrl };
    topic.addPost(tx, topic.nextStamp(tx), post);
    return;
  }
  const sent = sendTo(kept.endpoint, notification, subscription, context, tx, subscription.isRaw);
  if (typeof sent === 'string') {
    fail(notification, subscription, sent, context, tx);
    return;
  }
  tx.events.push({
    type: 'fanned-out',
    ...nameOf(notification, subscription, tx),
    queue: sent.queue,
    queueMessageId: sent.result.messageId,
    isDuplicate: sent.result.isDuplicate,
  });
}

/** Gives up a delivery: the message goes to the subscription's dead-letter queue, if that takes it (12.2, 12.4, 12.5). */
export function fail(
  notification: Notification,
  subscription: Subscription,
  reason: string,
  context: FanOutContext,
  tx: Transaction,
): void {
  const target = subscription.deadLetterTarget;
  const save = (isRaw: boolean): ReturnType<typeof sendTo> =>
    target === undefined ? reason : sendTo(target, notification, subscription, context, tx, isRaw);
  const asMeant = save(subscription.isRaw);
  // A raw message that no queue accepts, for too many attributes or a character, can be sent in its envelope.
  const sent = typeof asMeant === 'string' && subscription.isRaw ? save(false) : asMeant;
  const isSaved = typeof sent !== 'string';
  tx.events.push({
    type: 'delivery-failed',
    ...nameOf(notification, subscription, tx),
    endpoint: shownEndpoint(subscription.kept.endpoint),
    reason: isSaved || target === undefined ? reason : `${reason}; its dead-letter queue: ${sent}`,
    deadLetterQueue: isSaved ? sent.queue : undefined,
    deadLetterMessageId: isSaved ? sent.result.messageId : undefined,
  });
}

/** The queues that a publish to this topic, or a failed call, may send to. */
export function queuesReached(topic: Topic, realm: Realm): string[] {
  const arns = topic.subscriptions
    .inOrder()
    .flatMap(({ kept, deadLetterTarget }) => [
      ...(kept.protocol === 'sqs' ? [kept.endpoint] : []),
      ...(deadLetterTarget === undefined ? [] : [deadLetterTarget]),
    ]);
  return arns.flatMap((arn) => queueOfArn(realm, arn) ?? []);
}

const sendMessage = 'sqs:SendMessage';

/** The queue's answer, or why the queue did not take the message. */
function sendTo(
  arn: string,
  notification: Notification,
  subscription: Subscription,
  { realm, queue: find, arePoliciesEnforced, judge }: FanOutContext,
  tx: Transaction,
  isRaw: boolean,
): { queue: string; result: SendResult } | string {
  const name = queueOfArn(realm, arn);
  const queue = name === undefined ? undefined : find(name);
  if (queue === undefined) return `there is no queue ${arn}`;
  if (arePoliciesEnforced) {
    const asked = {
      service: senderPrincipal,
      action: sendMessage,
      resource: queue.arn,
      sourceArn: notification.topic.arn,
      sourceAccount: realm.account,
    };
    if (!isAllowed(queue.settings.policy, asked)) {
      return `the policy of ${queue.name} does not allow ${senderPrincipal} to send for ${notification.topic.arn}`;
    }
  }
  queue.advance(tx);
  const entry = notification.entryFor(queue, subscription, isRaw);
  const violation = judge && judged(queue.name, notification, judge);
  const entries = [violation === undefined ? entry : { ...entry, violation }];
  const outcome = send(queue, { type: 'send', queue: queue.name, isBatch: false, entries }, tx);
  if (!outcome.ok) return errorText(outcome);
  return { queue: queue.name, result: outcome.results[0] as SendResult };
}

/**
 * Judged as it was published, raw or not. Only reported, whatever the contract's mode: the publisher was told that the
 * message is accepted, and a queue that refused it would lose an event wherever the subscription has no dead-letter queue.
 */
function judged(queue: string, { published }: Notification, judge: Judge): Violation | undefined {
  const violation = judge(queue, published);
  return violation && { ...violation, mode: 'observe' };
}

function nameOf(
  { topic, publication }: Notification,
  { id }: Subscription,
  tx: Transaction,
): { at: number; topic: string; subscription: string; messageId: string } {
  return { at: tx.now, topic: topic.name, subscription: id, messageId: publication.messageId };
}
