/**
 * Those who read the event stream: what the backend itself remembers for people who look, and whoever listens. Nobody
 * is told of anything before it is kept, and of nothing that was lost.
 */

import type { Event } from '../../core/events.ts';
import { DeliveryFailures } from './failed-deliveries.ts';
import { SuppressedSends } from './suppressed-sends.ts';

export class EventReaders {
  readonly suppressed: SuppressedSends = new SuppressedSends();
  readonly failures: DeliveryFailures = new DeliveryFailures();
  #listeners: readonly ((event: Event) => void)[] = [];
  /** What is told once that promise resolves; one for all commands of a commit. */
  #waiting: Event[] = [];
  #awaited: Promise<void> | undefined;

  /** Whether anybody wants more than what the backend remembers. */
  get isObserved(): boolean {
    return this.#listeners.length > 0;
  }

  listen(listener: (event: Event) => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  /** `kept` is when what the events tell of is kept; undefined if it is. */
  tell(events: readonly Event[], kept: Promise<void> | undefined): void {
    if (kept === undefined) {
      this.#tell(events);
      return;
    }
    if (kept !== this.#awaited) this.#await(kept);
    for (const event of events) this.#waiting.push(event);
  }

  clear(): void {
    this.suppressed.clear();
    this.failures.clear();
  }

  #await(kept: Promise<void>): void {
    const waiting: Event[] = [];
    this.#waiting = waiting;
    this.#awaited = kept;
    const end = (told: readonly Event[]): void => {
      if (this.#awaited === kept) this.#awaited = undefined;
      this.#tell(told);
    };
    kept.then(
      () => end(waiting),
      () => end([]),
    );
  }

  #tell(events: readonly Event[]): void {
    for (const event of events) {
      this.suppressed.note(event);
      this.failures.note(event);
      for (const listener of this.#listeners) listener(event);
    }
  }
}
