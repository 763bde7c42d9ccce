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
import type { SendEntry, SendResult } from '../commands.ts';
import { sha256Hex } from '../digest.ts';
import { errorText } from '../errors.ts';
import { isAllowed } from '../policy.ts';
import type { Queue } from '../queue/queue.ts';
import { send } from '../queue/send.ts';
import type { Turn } from '../turn.ts';
import { type Envelope, envelopeOf, envelopeText, messageFor, type Signer } from './envelope.ts';
import { matches } from './filter-policy/filter-policy.ts';
import { PublicationValues } from './filter-policy/publication-values.ts';
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
}

/** One publication with what is derived from it for its subscribers, each made once. */
export class Notice {
  readonly topic: Topic;
  readonly publication: Publication;
  /** The replay that it is part of; undefined for a first delivery. */
  readonly replayStamp: number | undefined;
  readonly #signer: Signer | undefined;
  readonly #values: Map<string, PublicationValues> = new Map();
  readonly #envelopes: Map<string, Envelope> = new Map();

  constructor(
    topic: Topic,
    publication: Publication,
    signer: Signer | undefined,
    replayStamp?: number,
  ) {
    this.topic = topic;
    this.publication = publication;
    this.replayStamp = replayStamp;
    this.#signer = signer;
  }

  /** The values that filter policies look at. */
  values(protocol: string): PublicationValues {
    const message = messageFor(this.publication, protocol);
    let values = this.#values.get(message);
    if (values === undefined) {
      values = new PublicationValues(message, this.publication.attributes);
      this.#values.set(message, values);
    }
    return values;
  }

  body({ kept, arn }: Subscription, isRaw: boolean): string {
    const { protocol } = kept;
    if (isRaw) return messageFor(this.publication, protocol);
    let envelope = this.#envelopes.get(protocol);
    if (envelope === undefined) {
      const { topic, publication } = this;
      const { signatureVersion } = topic.settings;
      const sender = {
        arn: topic.arn,
        isFifo: topic.isFifo,
        signatureVersion,
        signer: this.#signer,
      };
      envelope = envelopeOf(publication, protocol, sender, this.replayStamp !== undefined);
      this.#envelopes.set(protocol, envelope);
    }
    return envelopeText(envelope, this.publication.baseUrl, arn);
  }
}

/** Delivers to every subscription that takes publications as they are published. */
export function fanOut(notice: Notice, surroundings: Surroundings, turn: Turn): void {
  for (const subscription of notice.topic.subscriptions.inOrder()) {
    if (subscription.isLive) deliver(notice, subscription, surroundings, turn);
  }
}

export function deliver(
  notice: Notice,
  subscription: Subscription,
  surroundings: Surroundings,
  turn: Turn,
): void {
  const { topic, publication } = notice;
  const { filter, kept } = subscription;
  if (filter !== undefined && !matches(filter, notice.values(kept.protocol))) {
    turn.noteDelivery(topic.name, 'filteredOut', subscription.id);
    if (turn.isObserved)
      turn.events.push({ type: 'filtered-out', ...nameOf(notice, subscription, turn) });
    return;
  }
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
const principal = 'sns.amazonaws.com';

/** The queue's answer, or why the queue did not take the message. */
function sendTo(
  arn: string,
  notice: Notice,
  subscription: Subscription,
  { realm, queue: find, arePoliciesEnforced }: Surroundings,
  turn: Turn,
  isRaw: boolean,
): { queue: string; result: SendResult } | string {
  const name = queueOfArn(realm, arn);
  const queue = name === undefined ? undefined : find(name);
  if (queue === undefined) return `there is no queue ${arn}`;
  if (arePoliciesEnforced) {
    const asked = {
      service: principal,
      action: sendMessage,
      resource: queue.arn,
      sourceArn: notice.topic.arn,
      sourceAccount: realm.account,
    };
    if (!isAllowed(queue.kept.attributes['Policy'] ?? '', asked)) {
      return `the policy of ${queue.name} does not allow ${principal} to send for ${notice.topic.arn}`;
    }
  }
  queue.advance(turn);
  const entries = [entryFor(queue, notice, subscription, isRaw)];
  const outcome = send(queue, { type: 'send', queue: queue.name, isBatch: false, entries }, turn);
  if (!outcome.ok) return errorText(outcome);
  return { queue: queue.name, result: outcome.results[0] as SendResult };
}

/** The message as the queue gets it: ids by 9.6, attributes only with a raw body (9.3, 9.5). */
function entryFor(
  queue: Queue,
  notice: Notice,
  subscription: Subscription,
  isRaw: boolean,
): SendEntry {
  const { topic, publication } = notice;
  const { groupId, traceHeader } = publication;
  const ids = queue.isFifo
    ? { groupId, deduplicationId: deduplicationIdOf(notice) }
    : { groupId: topic.isFifo ? undefined : groupId };
  return {
    body: notice.body(subscription, isRaw),
    ...ids,
    attributes: isRaw ? publication.attributes.map(asInput) : undefined,
    systemAttributes:
      traceHeader === undefined
        ? undefined
        : [{ name: 'AWSTraceHeader', type: 'String', stringValue: traceHeader }],
    senderId: principal,
  };
}

/**
 * The published id; a replay has one of its own, since the queue's window may still hold the first delivery's (ours:
 * rule 13.3 leaves it open).
 */
function deduplicationIdOf({ publication, replayStamp }: Notice): string | undefined {
  const { deduplicationId, messageId } = publication;
  return replayStamp === undefined
    ? deduplicationId
    : sha256Hex(`${messageId} replayed ${replayStamp}`);
}

function asInput({ name, type, value }: Publication['attributes'][number]): {
  name: string;
  type: string;
  stringValue?: string;
  binaryValue?: Uint8Array;
} {
  return typeof value === 'string'
    ? { name, type, stringValue: value }
    : { name, type, binaryValue: value };
}

function nameOf(
  { topic, publication }: Notice,
  { id }: Subscription,
  turn: Turn,
): { at: number; topic: string; subscription: string; messageId: string } {
  return { at: turn.now, topic: topic.name, subscription: id, messageId: publication.messageId };
}
