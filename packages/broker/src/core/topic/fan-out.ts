/**
 * Delivers a publication to subscribers (§9, §12) in the turn in which it is published: so the topic's window entry and
 * every queue's message are one list of changes, and no crash leaves half a fan-out.
 *
 * A queue gets it by the rules of SendMessage, its own deduplication included. If the queue refuses it, does not exist, or
 * has a policy that does not allow it (where policies are enforced), delivery fails for that subscription alone: the
 * message goes to the subscription's dead-letter queue or is lost, and an event says so. HTTP endpoints are called later;
 * here the post is only kept.
 */

import { queueOfArn, type Realm } from '../arn.ts';
import type { Publication } from '../changes.ts';
import type { AttributeInput, SendResult, Violation } from '../commands.ts';
import { errorText } from '../errors.ts';
import { isAllowed } from '../policy/is-allowed.ts';
import type { Queue } from '../queue/queue.ts';
import { send } from '../queue/send.ts';
import type { Turn } from '../transaction.ts';
import { messageFor, type Signer } from './envelope.ts';
import { asInput, type Notice, queueProtocol, senderPrincipal } from './notice.ts';
import { shownEndpoint } from './shown-endpoint.ts';
import type { Subscription } from './subscription.ts';
import type { Topic } from './topic.ts';

/** What deliveries need to know beyond their topic. */
export interface Surroundings {
  readonly realm: Realm;
  /** The queue of this name, if it exists. */
  queue(name: string): Queue | undefined;
  /** Whether a queue's policy must allow the topic to send to it. */
  readonly arePoliciesEnforced: boolean;
  readonly signer: Signer | undefined;
  /** How a message from a topic breaks the contract of a queue; absent if no queue has one. */
  readonly judge: Judge | undefined;
}

/** Reads bodies, which core does not; always the same answer for the same message. */
export type Judge = (
  queue: string,
  message: { readonly body: string; readonly attributes: readonly AttributeInput[] },
) => Violation | undefined;

/** Delivers to every subscription that takes publications as they are published, but for those that filter it out. */
export function fanOut(
  notice: Notice,
  filteredOut: ReadonlySet<Subscription>,
  surroundings: Surroundings,
  turn: Turn,
): void {
  for (const subscription of notice.topic.subscriptions.inOrder()) {
    if (!subscription.isLive) continue;
    if (filteredOut.has(subscription)) leaveOut(notice, subscription, turn);
    else deliver(notice, subscription, surroundings, turn);
  }
}

/** Notes that a subscription's filter policy rejects the publication. */
export function leaveOut(notice: Notice, subscription: Subscription, turn: Turn): void {
  turn.noteDelivery(notice.topic.name, 'filteredOut', subscription.id);
  if (turn.isObserved) {
    turn.events.push({ type: 'filtered-out', ...nameOf(notice, subscription, turn) });
  }
}

export function deliver(
  notice: Notice,
  subscription: Subscription,
  surroundings: Surroundings,
  turn: Turn,
): void {
  const { topic, publication } = notice;
  const { kept } = subscription;
  if (kept.protocol !== 'sqs') {
    if (topic.posts.isFull) {
      fail(
        notice,
        subscription,
        'too many calls of HTTP endpoints are waiting',
        surroundings,
        turn,
      );
      return;
    }
    const post = { subscription: subscription.id, publication, baseUrl: publication.baseUrl };
    topic.addPost(turn, topic.nextStamp(turn), post);
    return;
  }
  const sent = sendTo(kept.endpoint, notice, subscription, surroundings, turn, subscription.isRaw);
  if (typeof sent === 'string') {
    fail(notice, subscription, sent, surroundings, turn);
    return;
  }
  turn.noteDelivery(topic.name, 'delivered', subscription.id);
  if (turn.isObserved) {
    turn.events.push({
      type: 'fanned-out',
      ...nameOf(notice, subscription, turn),
      queue: sent.queue,
      queueMessageId: sent.result.messageId,
      isDuplicate: sent.result.isDuplicate,
    });
  }
}

/** Gives up a delivery: the message goes to the subscription's dead-letter queue, if that takes it (12.2, 12.4, 12.5). */
export function fail(
  notice: Notice,
  subscription: Subscription,
  reason: string,
  surroundings: Surroundings,
  turn: Turn,
): void {
  turn.noteDelivery(notice.topic.name, 'failed', subscription.id);
  const target = subscription.deadLetterTarget;
  const save = (isRaw: boolean): ReturnType<typeof sendTo> =>
    target === undefined ? reason : sendTo(target, notice, subscription, surroundings, turn, isRaw);
  const asMeant = save(subscription.isRaw);
  // A raw message that no queue accepts, for too many attributes or a character, can be sent in its envelope.
  const sent = typeof asMeant === 'string' && subscription.isRaw ? save(false) : asMeant;
  const isSaved = typeof sent !== 'string';
  turn.events.push({
    type: 'delivery-failed',
    ...nameOf(notice, subscription, turn),
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
  notice: Notice,
  subscription: Subscription,
  { realm, queue: find, arePoliciesEnforced, judge }: Surroundings,
  turn: Turn,
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
      sourceArn: notice.topic.arn,
      sourceAccount: realm.account,
    };
    if (!isAllowed(queue.settings.policy, asked)) {
      return `the policy of ${queue.name} does not allow ${senderPrincipal} to send for ${notice.topic.arn}`;
    }
  }
  queue.advance(turn);
  const entry = notice.entryFor(queue, subscription, isRaw);
  const violation = judge && judged(queue.name, notice.publication, judge);
  const entries = [violation === undefined ? entry : { ...entry, violation }];
  const outcome = send(queue, { type: 'send', queue: queue.name, isBatch: false, entries }, turn);
  if (!outcome.ok) return errorText(outcome);
  return { queue: queue.name, result: outcome.results[0] as SendResult };
}

/**
 * Judged as it was published, raw or not. Only reported, whatever the contract's mode: the publisher was told that the
 * message is accepted, and a queue that refused it would lose an event wherever the subscription has no dead-letter queue.
 */
function judged(queue: string, publication: Publication, judge: Judge): Violation | undefined {
  const attributes = publication.attributes.map(asInput);
  const violation = judge(queue, { body: messageFor(publication, queueProtocol), attributes });
  return violation && { ...violation, mode: 'observe' };
}

function nameOf(
  { topic, publication }: Notice,
  { id }: Subscription,
  turn: Turn,
): { at: number; topic: string; subscription: string; messageId: string } {
  return { at: turn.now, topic: topic.name, subscription: id, messageId: publication.messageId };
}
