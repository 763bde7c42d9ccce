/**
 * Subscribe, ConfirmSubscription, Unsubscribe and the attributes of subscriptions (§5, 13.2).
 *
 * A queue's subscription is confirmed at once; the queue need not exist. An HTTP endpoint's is pending until somebody
 * sends back the token that is posted to it, and forgotten if nobody does within two days.
 */

import { isArn } from '../arn.ts';
import type { KeptSubscription } from '../changes.ts';
import type { Attributes } from '../commands.ts';
import { type Refusal, refuse } from '../errors.ts';
import {
  endpointLengthMax,
  fifoSubscriptionsMax,
  largePublicationSubscriptionsMax,
  publicationSizeBytesDefault,
  unfilteredSubscriptionsMax,
} from '../limits.ts';
import type { Transaction } from '../transaction.ts';
import type { TopicCommandOf, TopicOutcomes } from './commands.ts';
import { shownSubscriptionPolicy } from './delivery-policy.ts';
import { begunReplay } from './replay.ts';
import { listedEndpoint, shownEndpoint } from './shown-endpoint.ts';
import type { Subscription } from './subscription.ts';
import {
  changedSubscriptionAttributes,
  hasSameSubscriptionAttributes,
  subscribePrefix,
  subscriptionAttributeNames,
} from './subscription-attributes.ts';
import type { Topic } from './topic.ts';
import { refuseLarge } from './topic-attributes.ts';

/** Limits that count over all topics. */
export interface TopicTotals {
  /** Why no further filter policy or replay may be added; undefined if one may. */
  refusalOf(what: 'filter-policy' | 'replay'): Refusal | undefined;
}

const otherProtocols = ['email', 'email-json', 'sms', 'application', 'lambda', 'firehose'];

export function subscribe(
  topic: Topic,
  command: TopicCommandOf<'subscribe'>,
  totals: TopicTotals,
  tx: Transaction,
): TopicOutcomes['subscribe'] | Refusal {
  const { attributes: given = {}, baseUrl } = command;
  const target = readTarget(topic, command);
  if (!target.ok) return target;
  const { protocol, endpoint } = target;
  const context = { isFifoTopic: topic.isFifo, protocol, endpoint };
  const changed = changedSubscriptionAttributes({}, given, context, subscribePrefix);
  if (!changed.ok) return changed;
  const existing = topic.subscriptions.find(protocol, endpoint);
  if (existing !== undefined) {
    const { attributes } = existing.kept;
    return hasSameSubscriptionAttributes(attributes, changed.stored, Object.keys(given))
      ? sameAgain(topic, existing, baseUrl, tx)
      : refuse('subscription-exists');
  }
  const refusal =
    checkRoom(topic, protocol, changed.stored) ??
    checkNew(topic, {}, changed.stored, totals, subscribePrefix);
  if (refusal !== undefined) return refusal;

  const id = tx.ids.uuid();
  const isConfirmed = protocol === 'sqs';
  const kept: KeptSubscription = {
    stamp: topic.nextStamp(tx),
    createdAt: tx.now,
    protocol,
    endpoint,
    attributes: changed.stored,
    isConfirmed,
    isAuthenticated: isConfirmed,
    token: isConfirmed ? undefined : `${tx.ids.uuid()}${tx.ids.uuid()}`.replaceAll('-', ''),
    replay: begunReplay(topic, changed.stored, tx),
  };
  topic.setSubscription(tx, id, kept);
  tell(topic, id, 'subscribed', endpoint, tx);
  if (!isConfirmed) askToConfirm(topic, id, baseUrl, tx);
  return { ok: true, subscriptionArn: `${topic.arn}:${id}`, isConfirmed };
}

type Target =
  | {
      readonly ok: true;
      readonly protocol: KeptSubscription['protocol'];
      readonly endpoint: string;
    }
  | Refusal;

/** Protocol and endpoint (5.1–5.4). */
function readTarget(topic: Topic, command: TopicCommandOf<'subscribe'>): Target {
  const { protocol, endpoint } = command;
  if (protocol === undefined || protocol === '') return missing('Protocol');
  const isOurs = protocol === 'sqs' || protocol === 'http' || protocol === 'https';
  if (!isOurs && !otherProtocols.includes(protocol)) {
    return refuse('protocol-unknown', { protocol });
  }
  if (topic.isFifo && protocol !== 'sqs') return refuse('protocol-not-for-fifo', { protocol });
  if (!isOurs) return refuse('protocol-not-there', { protocol });
  if (endpoint === undefined || endpoint === '') return missing('Endpoint');
  if (endpoint.length > endpointLengthMax) {
    const reason = `It can have up to ${endpointLengthMax} characters`;
    return refuse('topic-parameter-invalid', { name: 'Endpoint', reason });
  }
  if (protocol !== 'sqs') {
    const isUrl =
      endpoint.startsWith(`${protocol}://`) && /^https?:\/\/[^\s/?#]+\S*$/.test(endpoint);
    if (!isUrl) return refuse('endpoint-not-url');
    const { endpointProblem: reason } = command;
    if (reason !== undefined)
      return refuse('topic-parameter-invalid', { name: 'Endpoint', reason });
    return { ok: true, protocol, endpoint };
  }
  if (!isArn(endpoint) || endpoint.split(':')[2] !== 'sqs') return refuse('endpoint-not-queue');
  if (!topic.isFifo && endpoint.endsWith('.fifo')) return refuse('endpoint-fifo-on-standard');
  return { ok: true, protocol, endpoint };
}

/** Subscribing again changes nothing (5.6), but an endpoint that has not confirmed is asked again. */
function sameAgain(
  topic: Topic,
  { id, arn, kept }: Subscription,
  baseUrl: string,
  tx: Transaction,
): TopicOutcomes['subscribe'] {
  if (!kept.isConfirmed) askToConfirm(topic, id, baseUrl, tx);
  return { ok: true, subscriptionArn: arn, isConfirmed: kept.isConfirmed };
}

function checkRoom(
  { isFifo, settings, subscriptions }: Topic,
  protocol: string,
  attributes: Attributes,
): Refusal | undefined {
  const { size, filtering } = subscriptions;
  const limit = isFifo ? fifoSubscriptionsMax : unfilteredSubscriptionsMax;
  const isFiltered = !isFifo && attributes['FilterPolicy'] !== undefined;
  if (!isFiltered && (isFifo ? size : size - filtering) >= limit) {
    return refuse('subscriptions-too-many', { limit });
  }
  if (settings.sizeBytesMax <= publicationSizeBytesDefault) return undefined;
  const isRoom = protocol === 'sqs' && subscriptions.size < largePublicationSubscriptionsMax;
  return isRoom ? undefined : refuseLarge();
}

/** What a newly set attribute needs beyond being well-formed. */
function checkNew(
  topic: Topic,
  before: Attributes,
  after: Attributes,
  totals: TopicTotals,
  prefix: string,
): Refusal | undefined {
  const isNew = (name: string): boolean =>
    after[name] !== undefined && before[name] !== after[name];
  if (isNew('FilterPolicy') && before['FilterPolicy'] === undefined) {
    const refusal = totals.refusalOf('filter-policy');
    if (refusal !== undefined) return refusal;
  }
  if (!isNew('ReplayPolicy')) return undefined;
  if (topic.settings.archiveMs === undefined) {
    const reason = 'ReplayPolicy: the topic has no ArchivePolicy';
    return refuse('subscription-attribute-invalid', { prefix, reason });
  }
  return totals.refusalOf('replay');
}

/** A post without a publication is the request to confirm. Skipped if there are too many posts; subscribing again asks again. */
function askToConfirm(topic: Topic, id: string, baseUrl: string, tx: Transaction): void {
  if (topic.posts.isFull) return;
  topic.addPost(tx, topic.nextStamp(tx), { subscription: id, baseUrl });
}

const tokenForm = /^[0-9a-f]+$/i;

/** Confirming twice gives the same ARN (5.12). `topic` is the one whose endpoint was posted the token. */
export function confirmSubscription(
  topic: Topic | undefined,
  { token = '', isAuthenticated = false }: TopicCommandOf<'confirm-subscription'>,
  tx: Transaction,
): TopicOutcomes['confirm-subscription'] | Refusal {
  if (!tokenForm.test(token)) return refuse('confirmation-malformed');
  const found = topic?.subscriptions.ofToken(token);
  if (topic === undefined || found === undefined) return refuse('confirmation-unknown');
  const { id, arn, kept } = found;
  if (!kept.isConfirmed) {
    topic.setSubscription(tx, id, { ...kept, isConfirmed: true, isAuthenticated });
    tell(topic, id, 'subscription-confirmed', kept.endpoint, tx);
  }
  return { ok: true, subscriptionArn: arn };
}

export function unsubscribe(topic: Topic, id: string, tx: Transaction): void {
  const subscription = topic.subscriptions.get(id);
  if (subscription === undefined) return;
  for (const [post] of topic.posts.of(id, Number.POSITIVE_INFINITY)) topic.removePost(tx, post);
  topic.setSubscription(tx, id, null);
  topic.configure(tx, { ...topic.kept, unsubscribed: topic.kept.unsubscribed + 1 });
  tell(topic, id, 'unsubscribed', subscription.kept.endpoint, tx);
}

export function setSubscriptionAttribute(
  topic: Topic,
  { id, kept }: Subscription,
  command: TopicCommandOf<'set-subscription-attribute'>,
  totals: TopicTotals,
  tx: Transaction,
): TopicOutcomes['set-subscription-attribute'] | Refusal {
  const { name, value = '' } = command;
  if (name === undefined) return missing('AttributeName');
  if (!subscriptionAttributeNames.includes(name)) {
    return refuse('subscription-attribute-unknown', { prefix: '' });
  }
  const context = { isFifoTopic: topic.isFifo, ...kept };
  const changed = changedSubscriptionAttributes(kept.attributes, { [name]: value }, context, '');
  if (!changed.ok) return changed;
  const refusal = checkNew(topic, kept.attributes, changed.stored, totals, '');
  if (refusal !== undefined) return refusal;
  const replay = name === 'ReplayPolicy' ? begunReplay(topic, changed.stored, tx) : kept.replay;
  topic.setSubscription(tx, id, { ...kept, attributes: changed.stored, replay });
  return { ok: true };
}

/** What GetSubscriptionAttributes gives (5.7): the scope is shown only beside a policy. */
export function shownSubscriptionAttributes(
  topic: Topic,
  { arn, kept }: Subscription,
): Record<string, string> {
  const { attributes, protocol, endpoint, isConfirmed, isAuthenticated, replay } = kept;
  const { FilterPolicyScope: scope = 'MessageAttributes', ...others } = attributes;
  const hasFilter = attributes['FilterPolicy'] !== undefined;
  const policy = topic.kept.attributes['DeliveryPolicy'];
  return {
    RawMessageDelivery: 'false',
    ...others,
    ...(hasFilter ? { FilterPolicyScope: scope } : {}),
    ...(protocol === 'sqs'
      ? {}
      : { EffectiveDeliveryPolicy: shownSubscriptionPolicy(policy, attributes['DeliveryPolicy']) }),
    ...(replay === undefined ? {} : { ReplayStatus: replay.status }),
    ConfirmationWasAuthenticated: String(isAuthenticated),
    Endpoint: listedEndpoint(endpoint),
    Owner: topic.account,
    PendingConfirmation: String(!isConfirmed),
    Protocol: protocol,
    SubscriptionArn: arn,
    SubscriptionPrincipal: `arn:aws:iam::${topic.account}:root`,
    TopicArn: topic.arn,
  };
}

function tell(
  topic: Topic,
  subscription: string,
  type: 'subscribed' | 'subscription-confirmed' | 'unsubscribed',
  endpoint: string,
  tx: Transaction,
): void {
  const shown = { subscription, endpoint: shownEndpoint(endpoint) };
  tx.events.push({ type, at: tx.now, topic: topic.name, ...shown });
}

function missing(name: string): Refusal {
  return refuse('topic-parameter-missing', { name });
}
