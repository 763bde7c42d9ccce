/**
 * How many publications were delivered, filtered out or failed for each subscription, since the start. Bounded by the
 * number of subscriptions: the ends of topics and subscriptions are always reported. In memory, and gone with the process.
 */

import type { Event } from '../../core/events.ts';
import type { Deliveries } from '../../core/transaction.ts';
import type { DeliveryCounts } from '../backend.ts';

type Counts = { -readonly [Outcome in keyof DeliveryCounts]: number };

const outcomeNames = ['delivered', 'filteredOut', 'failed'] as const;
const none: ReadonlyMap<string, DeliveryCounts> = new Map();

export class CountedDeliveries {
  readonly #byTopic: Map<string, Map<string, Counts>> = new Map();

  count({ topic, ...outcomes }: Deliveries): void {
    let counts = this.#byTopic.get(topic);
    if (counts === undefined) {
      counts = new Map();
      this.#byTopic.set(topic, counts);
    }
    for (const outcome of outcomeNames) {
      for (const subscription of outcomes[outcome]) {
        let count = counts.get(subscription);
        if (count === undefined) {
          count = { delivered: 0, filteredOut: 0, failed: 0 };
          counts.set(subscription, count);
        }
        count[outcome] += 1;
      }
    }
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
