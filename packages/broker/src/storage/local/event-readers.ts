/**
 * Those who read the event stream: what the backend itself remembers for people who look, and whoever listens. Nobody
 * is told of anything before it is kept, and of nothing that was lost.
 */

import type { Event } from '../../core/events.ts';
import { DeliveryFailures } from './failed-deliveries.ts';
import { type ContentOf, SuppressedSends } from './suppressed-sends.ts';

export class EventReaders {
  readonly suppressed: SuppressedSends;
  readonly failures: DeliveryFailures = new DeliveryFailures();
  readonly #listeners: Set<(event: Event) => void> = new Set();

  /** `contentOf` reads what a message that is still in its queue says. */
  constructor(contentOf: ContentOf) {
    this.suppressed = new SuppressedSends(contentOf);
  }

  /** Whether anybody wants more than what the backend remembers. */
  get isObserved(): boolean {
    return this.#listeners.size > 0;
  }

  listen(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** `kept` is when what the events tell of is kept; undefined if it is. */
  tell(events: readonly Event[], kept: Promise<void> | undefined): void {
    if (kept === undefined) this.#tell(events);
    else
      kept.then(
        () => this.#tell(events),
        () => {},
      );
  }

  clear(): void {
    this.suppressed.clear();
    this.failures.clear();
  }

  #tell(events: readonly Event[]): void {
    for (const event of events) {
      this.suppressed.note(event);
      this.failures.note(event);
      for (const listener of this.#listeners) listener(event);
    }
  }
}
