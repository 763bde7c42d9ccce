/**
 * Counts, for each subscription, the publications that were delivered, filtered out or failed. A reader of the event stream.
 * Bounded by the number of subscriptions; remembered only for the life of the process.
 */

import type { Event } from '../../core/events.ts';
import type { DeliveryCounts } from '../backend.ts';

type Counts = { -readonly [Outcome in keyof DeliveryCounts]: number };

const none: ReadonlyMap<string, DeliveryCounts> = new Map();

export class CountedDeliveries {
  readonly #byTopic: Map<string, Map<string, Counts>> = new Map();

  note(event: Event): void {
    switch (event.type) {
      case 'fanned-out':
      case 'posted':
        this.#countsOf(event).delivered += 1;
        break;
      case 'filtered-out':
        this.#countsOf(event).filteredOut += 1;
        break;
      case 'delivery-failed':
        this.#countsOf(event).failed += 1;
        break;
      case 'unsubscribed':
        this.#byTopic.get(event.topic)?.delete(event.subscription);
        break;
      case 'topic-deleted':
        this.#byTopic.delete(event.topic);
        break;
      default:
    }
  }

  of(topic: string): ReadonlyMap<string, DeliveryCounts> {
    return this.#byTopic.get(topic) ?? none;
  }

  clear(): void {
    this.#byTopic.clear();
  }

  #countsOf({ topic, subscription }: { topic: string; subscription: string }): Counts {
    let ofTopic = this.#byTopic.get(topic);
    if (ofTopic === undefined) {
      ofTopic = new Map();
      this.#byTopic.set(topic, ofTopic);
    }
    let counts = ofTopic.get(subscription);
    if (counts === undefined) {
      counts = { delivered: 0, filteredOut: 0, failed: 0 };
      ofTopic.set(subscription, counts);
    }
    return counts;
  }
}
