/**
 * The latest suppressed duplicates of each queue and topic, for the explain call: a reader of the event stream. Bounded,
 * in memory, and gone with the process; the window itself is kept, its history of suppressed sends is not.
 */

import { topicPlace } from '../../core/changes.ts';
import type { DuplicateEvent, DuplicatePublicationEvent, Event } from '../../core/events.ts';
import type { SuppressedSend } from '../backend.ts';

const perPlaceMax = 1000;

export class SuppressedSends {
  readonly #byPlace: Map<string, SuppressedSend[]> = new Map();

  note(event: Event): void {
    const place = 'topic' in event ? topicPlace(event.topic) : event.queue;
    if (event.type === 'duplicate' || event.type === 'duplicate-publication') {
      const events = this.#byPlace.get(place) ?? [];
      this.#byPlace.set(place, events);
      events.push(remembered(event));
      // Forgotten by halves, so that a full list costs nothing more for each send.
      if (events.length > perPlaceMax * 2) events.splice(0, perPlaceMax);
    } else if (forgetting.has(event.type)) {
      this.#byPlace.delete(place);
    }
  }

  /** The suppressed sends whose original has this sequence, oldest first. */
  of(place: string, sequence: number): SuppressedSend[] {
    const events = this.#byPlace.get(place) ?? [];
    return events.filter(({ original }) => original.sequence === sequence);
  }

  clear(): void {
    this.#byPlace.clear();
  }
}

function remembered(event: DuplicateEvent | DuplicatePublicationEvent): SuppressedSend {
  if (event.type === 'duplicate') {
    const { content: _, ...rest } = event;
    return rest;
  }
  const { message: _, ...rest } = event;
  return rest;
}

const forgetting: ReadonlySet<Event['type']> = new Set([
  'queue-deleted',
  'queue-purged',
  'window-forgotten',
  'topic-deleted',
  'topic-window-forgotten',
]);
