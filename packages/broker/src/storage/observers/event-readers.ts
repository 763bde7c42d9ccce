/**
 * The readers of the event stream: what the backend remembers for inspection, and external listeners. An event is passed on
 * only once the change it reports is durable; if that change was lost, the event is dropped. A listener that throws affects
 * neither the command nor other listeners.
 */

import type { Event } from '../../core/events.ts';
import { CountedDeliveries } from './delivery-counts.ts';
import { DeliveryFailures } from './failed-deliveries.ts';
import { type ContentOf, SuppressedSends } from './suppressed-sends.ts';

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
  #waiting: (readonly Event[])[] = [];
  #awaited: Promise<void> | undefined;
  readonly #onError: (error: unknown) => void;

  /** `contentOf` reads the content of a message that is still in its queue; `onError` gets what a listener threw. */
  constructor(contentOf: ContentOf, onError: (error: unknown) => void) {
    this.suppressed = new SuppressedSends(contentOf);
    this.#onError = onError;
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
  tell(events: readonly Event[], kept: Promise<void> | undefined): void {
    if (kept === undefined) {
      this.#tell(events);
      return;
    }
    if (kept !== this.#awaited) this.#await(kept);
    this.#waiting.push(events);
  }

  clear(): void {
    this.suppressed.clear();
    this.failures.clear();
    this.counts.clear();
  }

  #await(kept: Promise<void>): void {
    const waiting: (readonly Event[])[] = [];
    this.#waiting = waiting;
    this.#awaited = kept;
    const end = (told: readonly (readonly Event[])[]): void => {
      if (this.#awaited === kept) this.#awaited = undefined;
      for (const events of told) this.#tell(events);
    };
    kept.then(
      () => end(waiting),
      () => end([]),
    );
  }

  #tell(events: readonly Event[]): void {
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
