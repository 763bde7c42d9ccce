/**
 * How many publications each subscription was delivered, did not want, and was not brought, since the start. Bounded by
 * the subscriptions there are: the ends of topics and subscriptions are always told. In memory, and gone with the process.
 */

import type { Event } from '../../core/events.ts';
import type { Delivery } from '../../core/turn.ts';
import type { DeliveryCounts } from '../backend.ts';

type Counts = { -readonly [Outcome in keyof DeliveryCounts]: number };

const none: ReadonlyMap<string, DeliveryCounts> = new Map();

export class CountedDeliveries {
  readonly #byTopic: Map<string, Map<string, Counts>> = new Map();

  count({ topic, subscription, outcome }: Delivery): void {
    let subscriptions = this.#byTopic.get(topic);
    if (subscriptions === undefined) {
      subscriptions = new Map();
      this.#byTopic.set(topic, subscriptions);
    }
    let counts = subscriptions.get(subscription);
    if (counts === undefined) {
      counts = { delivered: 0, filteredOut: 0, failed: 0 };
      subscriptions.set(subscription, counts);
    }
    counts[outcome] += 1;
  }

  note(event: Event): void {
    if (event.type === 'topic-deleted') this.#byTopic.delete(event.topic);
    if (event.type === 'unsubscribed') this.#byTopic.get(event.topic)?.delete(event.subscription);
  }

  of(topic: string): ReadonlyMap<string, DeliveryCounts> {
    return this.#byTopic.get(topic) ?? none;
  }

  clear(): void {
    this.#byTopic.clear();
  }
}
