/**
 * The readers of the event stream: what the backend itself remembers for inspection, and whoever listens. Events are
 * passed on only once what they report is kept, and not at all if it was lost. A failing listener affects neither the
 * command whose event it got nor another listener.
 */

import type { Event } from '../../core/events.ts';
import type { Deliveries } from '../../core/transaction.ts';
import { CountedDeliveries } from './delivery-counts.ts';
import { DeliveryFailures } from './failed-deliveries.ts';
import { type ContentOf, SuppressedSends } from './suppressed-sends.ts';

/** What a command left behind for readers. */
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
  /** What is passed on once `#awaited` resolves; one promise for all commands of a commit. */
  #waiting: Happened[] = [];
  #awaited: Promise<void> | undefined;
  readonly #onError: (error: unknown) => void;

  /** `contentOf` reads the content of a message that is still in its queue; `onError` gets what a listener threw. */
  constructor(contentOf: ContentOf, onError: (error: unknown) => void) {
    this.suppressed = new SuppressedSends(contentOf);
    this.#onError = onError;
  }

  /** Whether anybody listens, and so needs more than what the backend remembers. */
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

  /** `kept` resolves once what the events report is kept; undefined if it already is. */
  tell(happened: Happened, kept: Promise<void> | undefined): void {
    if (kept === undefined) {
      this.#tell(happened);
      return;
    }
    if (kept !== this.#awaited) this.#await(kept);
    // Not `happened` itself, which may hold more than these: many of them wait until the commit is over.
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

/** Nearly all events are of these types, and the backend itself remembers none of them. */
function isEveryday({ type }: Event): boolean {
  return type === 'sent' || type === 'delivered' || type === 'deleted';
}
