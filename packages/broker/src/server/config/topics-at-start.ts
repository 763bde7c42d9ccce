/**
 * Reads the topics and subscriptions that a config file or a program lists, and creates those that do not exist when the
 * server starts. A subscription to a bare queue name means the queue of that name on this server. `baseUrl` is the start of
 * the links that are sent to HTTP endpoints.
 */

import { queueArn } from '../../core/arn.ts';
import { errorText } from '../../core/errors.ts';
import type { Backend } from '../../storage/backend.ts';
import { ConfigError } from './config-error.ts';
import { objectOf, texts } from './config-lists.ts';

export interface SubscriptionConfig {
  readonly protocol: string;
  readonly endpoint: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface TopicConfig {
  /** Where it is listed, for errors. */
  readonly where: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly subscriptions: readonly SubscriptionConfig[];
}

const topicKeys = ['name', 'attributes', 'tags', 'subscriptions'];
const subscriptionKeys = ['queue', 'protocol', 'endpoint', 'attributes'];

/** `list` is the list's name in errors. */
export function topicsOf(value: unknown, list: string): TopicConfig[] {
  if (!Array.isArray(value)) throw new ConfigError(`${list} must be a list.`);
  return value.map((item: unknown, index) => {
    const where = `${list}[${index}]`;
    const topic = objectOf(typeof item === 'string' ? { name: item } : item, topicKeys, where);
    const { name, subscriptions = [] } = topic;
    if (typeof name !== 'string') throw new ConfigError(`${where}: name must be a string.`);
    if (!Array.isArray(subscriptions)) {
      throw new ConfigError(`${where}: subscriptions must be a list.`);
    }
    return {
      where,
      name,
      attributes: texts(topic['attributes'], `${where}.attributes`),
      tags: texts(topic['tags'], `${where}.tags`),
      subscriptions: subscriptions.map((each: unknown, at) =>
        subscriptionOf(each, `${where}.subscriptions[${at}]`),
      ),
    };
  });
}

function subscriptionOf(item: unknown, where: string): SubscriptionConfig {
  const given = objectOf(
    typeof item === 'string' ? { queue: item } : item,
    subscriptionKeys,
    where,
  );
  const { queue, protocol, endpoint } = given;
  const attributes = texts(given['attributes'], `${where}.attributes`);
  if (typeof queue === 'string') return { protocol: 'sqs', endpoint: queue, attributes };
  if (typeof protocol !== 'string' || typeof endpoint !== 'string') {
    throw new ConfigError(`${where} must have a queue, or a protocol and an endpoint.`);
  }
  return { protocol, endpoint, attributes };
}

export async function createTopics(
  backend: Backend,
  topics: readonly TopicConfig[],
  baseUrl: string,
): Promise<void> {
  for (const { where, name, attributes, tags, subscriptions } of topics) {
    const isFifo = name.endsWith('.fifo');
    const created = await backend.run({
      type: 'create-topic',
      name,
      attributes: isFifo ? { FifoTopic: 'true', ...attributes } : attributes,
      tags: Object.entries(tags).map(([key, value]) => ({ key, value })),
    });
    if (!created.ok) {
      throw new ConfigError(`${where}: the topic ${name} cannot be created: ${errorText(created)}`);
    }
    for (const [at, { protocol, endpoint, attributes }] of subscriptions.entries()) {
      const listed = `${where}.subscriptions[${at}]`;
      const isName = protocol === 'sqs' && !endpoint.includes(':');
      // As on AWS, a subscription may name a missing queue, and loses messages until it exists. In a config file that is a typo.
      if (isName && !(await backend.run({ type: 'describe-queue', queue: endpoint })).ok) {
        throw new ConfigError(
          `${listed}: ${endpoint} cannot be subscribed to ${name}: there is no such queue. Add it to queues, or use its ARN.`,
        );
      }
      const subscribed = await backend.run({
        type: 'subscribe',
        topicArn: created.topicArn,
        protocol,
        endpoint: isName ? queueArn(backend.realm, endpoint) : endpoint,
        attributes,
        baseUrl,
      });
      if (!subscribed.ok) {
        const reason = errorText(subscribed);
        throw new ConfigError(`${listed}: ${endpoint} cannot be subscribed to ${name}: ${reason}`);
      }
    }
  }
}
