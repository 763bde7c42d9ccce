/**
 * Those who read the event stream: what the backend itself remembers for people who look, and whoever listens. Nobody
 * is told of anything before it is kept, and of nothing that was lost. A listener that fails fails for itself: neither the
 * send that it was told of nor another listener notices.
 */

import type { Event } from '../../core/events.ts';
import type { Deliveries } from '../../core/turn.ts';
import { CountedDeliveries } from './delivery-counts.ts';
import { DeliveryFailures } from './failed-deliveries.ts';
import { type ContentOf, SuppressedSends } from './suppressed-sends.ts';

/** What a command left behind for those who read. */
interface Happened {
  readonly events: readonly Event[];
  readonly deliveries: readonly Deliveries[];
}

interface Reader {
  readonly listener: (event: Event) => void;
  readonly onReset?: (() => void) | undefined;
}

export class EventReaders {
  readonly suppressed: SuppressedSends;
  readonly failures: DeliveryFailures = new DeliveryFailures();
  readonly counts: CountedDeliveries = new CountedDeliveries();
  #listeners: readonly Reader[] = [];
  /** What is told once that promise resolves; one for all commands of a commit. */
  #waiting: Happened[] = [];
  #awaited: Promise<void> | undefined;
  readonly #onError: (error: unknown) => void;

  /** `contentOf` reads what a message that is still in its queue says; `onError` is told why a listener failed. */
  constructor(contentOf: ContentOf, onError: (error: unknown) => void) {
    this.suppressed = new SuppressedSends(contentOf);
    this.#onError = onError;
  }

  /** Whether anybody wants more than what the backend remembers. */
  get isObserved(): boolean {
    return this.#listeners.length > 0;
  }

  listen(reader: Reader): () => void {
    this.#listeners = [...this.#listeners, reader];
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== reader);
    };
  }

  tellReset(): void {
    for (const { onReset } of this.#listeners) onReset?.();
  }

  /** `kept` is when what the events tell of is kept; undefined if it is. */
  tell(happened: Happened, kept: Promise<void> | undefined): void {
    if (kept === undefined) {
      this.#tell(happened);
      return;
    }
    if (kept !== this.#awaited) this.#await(kept);
    // Not what was given, which may hold more than these: until the commit is over there are many of them.
    const { events, deliveries } = happened;
    this.#waiting.push({ events, deliveries });
  }

  clear(): void {
    this.suppressed.clear();
    this.failures.clear();
    this.counts.clear();
  }

  #await(kept: Promise<void>): void {
    const waiting: Happened[] = [];
    this.#waiting = waiting;
    this.#awaited = kept;
    const end = (told: readonly Happened[]): void => {
      if (this.#awaited === kept) this.#awaited = undefined;
      for (const happened of told) this.#tell(happened);
    };
    kept.then(
      () => end(waiting),
      () => end([]),
    );
  }

  #tell({ events, deliveries }: Happened): void {
    for (const each of deliveries) this.counts.count(each);
    for (const event of events) {
      if (!isEveryday(event)) this.#remember(event);
      for (const { listener } of this.#listeners) this.#call(listener, event);
    }
  }

  #remember(event: Event): void {
    this.suppressed.note(event);
    this.failures.note(event);
    this.counts.note(event);
  }

  #call(listener: (event: Event) => void, event: Event): void {
    try {
      listener(event);
    } catch (error) {
      this.#onError(error);
    }
  }
}

/** Nearly all that happens, and nothing that the backend itself remembers. */
function isEveryday({ type }: Event): boolean {
  return type === 'sent' || type === 'delivered' || type === 'deleted';
}
