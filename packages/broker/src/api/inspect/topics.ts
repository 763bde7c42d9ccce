/**
 * The `/_oncemq/` endpoints about topics: the list of topics, one topic with its subscriptions and deliveries, and its
 * deduplication window. Also the certificate for verifying the signatures of what topics send.
 */

import { topicArn } from '../../core/arn.ts';
import type { MessageAttribute } from '../../core/changes.ts';
import { parseObject } from '../../core/json-object.ts';
import type { TopicCommandOf } from '../../core/topic/commands.ts';
import type { Backend, DeliveryCounts } from '../../storage/backend.ts';
import { failed, type InspectResponse } from '../inspect-response.ts';
import { ok, refused, wholeList } from './answers.ts';
import { askTogether } from './ask-together.ts';
import { explained } from './explained.ts';
import type { InspectContext, InspectOptions, InspectRequest } from './inspect.ts';

export async function listTopics({ backend }: InspectOptions): Promise<InspectResponse> {
  return wholeList('topics', await topicCounts(backend, Number.POSITIVE_INFINITY));
}

/** Sorted by name, at most `limit`. */
export async function topicCounts(backend: Backend, limit: number): Promise<object[]> {
  const topics: object[] = [];
  let after: string | undefined;
  do {
    const page = await backend.run({ type: 'list-topics', after });
    if (!page.ok) break;
    const names = page.topics.map(({ name }) => name);
    topics.push(...(await askTogether(names, (name) => countsOf(backend, name))));
    after = page.next;
  } while (after !== undefined && topics.length < limit);
  return topics.slice(0, limit);
}

/** Undefined if the topic was deleted after it was listed. */
async function countsOf(backend: Backend, name: string): Promise<object | undefined> {
  const found = await backend.run({ type: 'describe-topic', topic: name, limit: 0 });
  if (!found.ok) return undefined;
  const { isFifo, windowEntries, archived, subscriptionCount } = found;
  const { count } = await backend.failedDeliveries(name);
  return {
    name,
    fifo: isFifo,
    subscriptions: subscriptionCount,
    dedupEntries: windowEntries,
    archived,
    failedDeliveries: count,
  };
}

export async function showTopic(
  { backend }: InspectOptions,
  _request: unknown,
  name: string,
): Promise<InspectResponse> {
  const found = await backend.run({ type: 'describe-topic', topic: name });
  if (!found.ok) return refused(found);
  const failures = await backend.failedDeliveries(name);
  const counts = await backend.deliveryCounts(name);
  return ok({
    name,
    arn: found.topicArn,
    fifo: found.isFifo,
    dedupEntries: found.windowEntries,
    archived: found.archived,
    subscriptionCount: found.subscriptionCount,
    subscriptions: found.subscriptions.map((subscription) => ({
      arn: subscription.subscriptionArn,
      protocol: subscription.protocol,
      endpoint: subscription.endpoint,
      confirmed: subscription.isConfirmed,
      attributes: subscription.attributes,
      replay: subscription.replay ?? null,
      ...(counts.get(idOf(subscription.subscriptionArn)) ?? nothingYet),
      waitingCount: subscription.postCount,
      waiting: subscription.posts.map(({ attempts, dueAt, failure }) => ({
        attempts,
        dueAt,
        failure: failure ?? null,
      })),
    })),
    failedDeliveries: {
      count: failures.count,
      latest: failures.latest.map((event) => ({
        at: event.at,
        subscription: `${found.topicArn}:${event.subscription}`,
        messageId: event.messageId,
        endpoint: event.endpoint,
        reason: event.reason,
        deadLetterQueue: event.deadLetterQueue ?? null,
      })),
    },
  });
}

const nothingYet: DeliveryCounts = { delivered: 0, filteredOut: 0, failed: 0 };

function idOf(subscriptionArn: string): string {
  return subscriptionArn.slice(subscriptionArn.lastIndexOf(':') + 1);
}

/** Where the latest publications went, newest first; recorded only while somebody watches. */
export async function listDeliveries(
  { backend, clock, watching }: InspectContext,
  _request: unknown,
  name: string,
): Promise<InspectResponse> {
  watching.keepUp();
  const found = await backend.run({ type: 'describe-topic', topic: name, limit: 0 });
  if (!found.ok) return refused(found);
  const deliveries = watching
    .deliveries(name)
    .toReversed()
    .map((event) => ({ ...event, subscription: `${found.topicArn}:${event.subscription}` }));
  return ok({ now: backend.now(), clock, deliveries });
}

const matchForm =
  'Send {"message": TEXT, "attributes": {NAME: {"type": TYPE, "value": TEXT}}, "policy": OBJECT, "scope": "MessageAttributes" or "MessageBody"}; only message is required.';

/** Which subscriptions would accept a message. Nothing is published. */
export async function matchMessage(
  { backend }: InspectOptions,
  { body }: InspectRequest,
  name: string,
): Promise<InspectResponse> {
  const asked = matchAsked(body);
  if (asked === undefined) return failed(400, 'InvalidRequest', matchForm);
  const found = await backend.run({ type: 'match-filters', topic: name, ...asked });
  if (!found.ok) return refused(found);
  const { subscriptions, policy } = found;
  if (policy !== undefined && 'wrong' in policy) {
    return failed(400, 'InvalidFilterPolicy', `The filter policy is not valid: ${policy.wrong}.`);
  }
  return ok({
    subscriptions: subscriptions.map(({ subscriptionArn, isMatch }) => ({
      arn: subscriptionArn,
      matches: isMatch,
    })),
    policy: policy === undefined ? null : { matches: policy.isMatch },
  });
}

type MatchAsked = Omit<TopicCommandOf<'match-filters'>, 'type' | 'topic'>;

function matchAsked(body: string): MatchAsked | undefined {
  const asked = parseObject(body);
  const { message, attributes = {}, policy, scope = 'MessageAttributes' } = asked ?? {};
  if (typeof message !== 'string' || typeof attributes !== 'object' || attributes === null) {
    return undefined;
  }
  if (scope !== 'MessageAttributes' && scope !== 'MessageBody') return undefined;
  const values = Object.entries(attributes as Record<string, unknown>).map(([name, value]) => {
    const { type = 'String', value: text } = (value ?? {}) as { type?: unknown; value?: unknown };
    return { name, type, value: text };
  });
  const areGood = values.every(
    (each): each is MessageAttribute =>
      typeof each.type === 'string' && typeof each.value === 'string',
  );
  if (!areGood) return undefined;
  return {
    message,
    attributes: values as MessageAttribute[],
    policy: policy === undefined ? undefined : { text: JSON.stringify(policy), scope },
  };
}

export async function explainTopic(
  { backend }: InspectOptions,
  { query }: InspectRequest,
  name: string,
): Promise<InspectResponse> {
  return explained(backend, query, {
    name,
    read: (asked) => backend.explain({ type: 'explain-topic', topic: name, ...asked }),
    isScopedByGroup: async () => {
      const arn = topicArn(backend.realm, name);
      const found = await backend.run({ type: 'get-topic-attributes', topicArn: arn });
      return found.ok && found.attributes['FifoThroughputScope'] === 'MessageGroup';
    },
  });
}

export async function forgetTopicWindow(
  { backend }: InspectOptions,
  _request: unknown,
  name: string,
): Promise<InspectResponse> {
  const found = await backend.run({ type: 'forget-topic-window', topic: name });
  return found.ok ? ok({ forgotten: found.entries }) : refused(found);
}

export async function showCertificate({ certificate }: InspectOptions): Promise<InspectResponse> {
  return { status: 200, body: certificate(), contentType: 'application/x-pem-file' };
}
