/**
 * The `/_oncemq/` endpoints about topics: which there are, one with its subscriptions and what became of its deliveries,
 * and its deduplication window. Also the certificate that what they send is signed with.
 */

import { topicArn } from '../../core/arn.ts';
import type { Backend, DeliveryCounts } from '../../storage/backend.ts';
import { type InspectResponse, ok, refused } from './answers.ts';
import { explained } from './explained.ts';
import type { InspectOptions, InspectRequest } from './inspect.ts';

export async function listTopics(options: InspectOptions): Promise<InspectResponse> {
  const { backend } = options;
  const topics: unknown[] = [];
  let after: string | undefined;
  do {
    const page = await backend.run({ type: 'list-topics', after });
    if (!page.ok) return refused(page);
    for (const { name } of page.topics) topics.push(await countsOf(backend, name));
    after = page.next;
  } while (after !== undefined);
  return ok({ topics });
}

async function countsOf(backend: Backend, name: string): Promise<object> {
  const found = await backend.run({ type: 'describe-topic', topic: name });
  if (!found.ok) return { name };
  const { isFifo, windowEntries, archived, subscriptions } = found;
  const { count } = await backend.failedDeliveries(name);
  return {
    name,
    fifo: isFifo,
    subscriptions: subscriptions.length,
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
    subscriptions: found.subscriptions.map((subscription) => ({
      arn: subscription.subscriptionArn,
      protocol: subscription.protocol,
      endpoint: subscription.endpoint,
      confirmed: subscription.isConfirmed,
      attributes: subscription.attributes,
      replay: subscription.replay ?? null,
      ...(counts.get(idOf(subscription.subscriptionArn)) ?? nothingYet),
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
