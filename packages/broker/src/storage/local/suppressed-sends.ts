/**
 * The latest suppressed duplicates of each queue, for the explain call: a reader of the event stream. Bounded, in
 * memory, and gone with the process; the window itself is kept, its history of suppressed sends is not.
 */

import type { DuplicateEvent, Event } from '../../core/events.ts';

const perQueueMax = 1000;

export class SuppressedSends {
  readonly #byQueue: Map<string, DuplicateEvent[]> = new Map();

  note(event: Event): void {
    if (event.type === 'duplicate') {
      const events = this.#byQueue.get(event.queue) ?? [];
      this.#byQueue.set(event.queue, events);
      events.push(event);
      // Forgotten by halves, so that a full list costs nothing more for each send.
      if (events.length > perQueueMax * 2) events.splice(0, perQueueMax);
    } else if (forgetting.has(event.type)) {
      this.#byQueue.delete(event.queue);
    }
  }

  /** The suppressed sends whose original has this sequence, oldest first. */
  of(queue: string, sequence: number): DuplicateEvent[] {
    const events = this.#byQueue.get(queue) ?? [];
    return events.filter(({ original }) => original.sequence === sequence);
  }

  clear(): void {
    this.#byQueue.clear();
  }
}

const forgetting: ReadonlySet<Event['type']> = new Set([
  'queue-deleted',
  'queue-purged',
  'window-forgotten',
]);
