/**
 * Reads the queues that a config file or a program lists, and creates those that do not exist when the server starts.
 */

import { nearestName } from '@oncemq/toolkit/nearest-name';
import { errorText } from '../../core/errors.ts';
import { settableAttributes } from '../../core/queue/attributes.ts';
import type { Backend } from '../../storage/backend.ts';
import { ConfigError } from './config-error.ts';
import { objectOf, texts } from './config-lists.ts';

export interface QueueConfig {
  /** Where it is listed, for errors. */
  readonly where: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

const queueKeys = ['name', 'attributes', 'tags'];

/** `list` is the list's name in errors. */
export function queuesOf(value: unknown, list: string): QueueConfig[] {
  if (!Array.isArray(value)) throw new ConfigError(`${list} must be a list.`);
  return value.map((item: unknown, index) => {
    const where = `${list}[${index}]`;
    const queue = objectOf(typeof item === 'string' ? { name: item } : item, queueKeys, where);
    const { name, attributes, tags } = queue;
    if (typeof name !== 'string') throw new ConfigError(`${where}: name must be a string.`);
    return {
      where,
      name,
      attributes: texts(attributes, `${where}.attributes`),
      tags: texts(tags, `${where}.tags`),
    };
  });
}

export async function createQueues(
  backend: Backend,
  queues: readonly QueueConfig[],
): Promise<void> {
  for (const { where, name, attributes, tags } of queues) {
    const isFifo = name.endsWith('.fifo');
    const outcome = await backend.run({
      type: 'create-queue',
      queue: name,
      attributes: isFifo ? { FifoQueue: 'true', ...attributes } : attributes,
      tags,
    });
    if (!outcome.ok) {
      const unknown = Object.keys(attributes).find((each) => !settableAttributes.includes(each));
      const near = unknown === undefined ? undefined : nearestName(unknown, settableAttributes);
      const hint = near === undefined ? '' : ` Did you mean ${near}?`;
      throw new ConfigError(
        `${where}: the queue ${name} cannot be created: ${errorText(outcome)}${hint}`,
      );
    }
  }
}
