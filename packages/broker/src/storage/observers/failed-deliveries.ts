/**
 * The number of failed deliveries of each topic, and the latest of them, for people who look for a message that never
 * arrived. A reader of the event stream. Bounded; remembered only for the life of the process.
 */

import type { DeliveryFailedEvent, Event } from '../../core/events.ts';
import type { FailedDeliveries } from '../backend.ts';

const perTopicMax = 100;

const none: FailedDeliveries = { count: 0, latest: [] };

export class DeliveryFailures {
  readonly #byTopic: Map<string, { count: number; latest: DeliveryFailedEvent[] }> = new Map();

  note(event: Event): void {
    if (event.type === 'topic-deleted') this.#byTopic.delete(event.topic);
    if (event.type !== 'delivery-failed') return;
    const failures = this.#byTopic.get(event.topic) ?? { count: 0, latest: [] };
    this.#byTopic.set(event.topic, failures);
    failures.count += 1;
    failures.latest.push(event);
    if (failures.latest.length > perTopicMax) failures.latest.shift();
  }

  of(topic: string): FailedDeliveries {
    return this.#byTopic.get(topic) ?? none;
  }

  clear(): void {
    this.#byTopic.clear();
  }
}
