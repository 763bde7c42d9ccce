/**
 * `GET /_oncemq/events`: streams every event to its readers as it happens. It never slows the queues: an event is encoded
 * once for all readers that want it in the same form, no write waits, and a reader that cannot keep up is dropped. Events
 * exist anyway, since every server counts them; without readers they are not encoded.
 *
 * Nothing is replayed: a reader gets what happens while it is connected. Ids increase by one with each event while there
 * are readers; a filter leaves gaps.
 */

import type { Writable } from 'node:stream';
import type { Event } from '../../core/events.ts';
import type { Backend } from '../../storage/backend.ts';
import { failed, type InspectResponse } from '../inspect-response.ts';
import { type EventFilter, eventFilter } from './event-filter.ts';
import { EventFollower } from './event-follower.ts';
import { eventFrame } from './event-frame.ts';

export const readersMax = 100;
/** Proxies close silent connections; 30 s is the shortest usual timeout. */
const heartbeatMs = 15_000;
const heartbeat = Buffer.from(':\n\n');
/** `retry` is how long a browser waits before it reconnects, in milliseconds. */
const greeting = 'retry: 2000\n: events from now on\n\n';

export class EventStream {
  readonly #backend: Backend;
  readonly #readers: Set<EventFollower> = new Set();
  #lastId = 0;
  #isEnded = false;
  #isFlushing = false;
  #stopListening: () => void = () => {};
  #heart: NodeJS.Timeout | undefined;

  readonly #onDrop: () => void;

  /** `onDrop` is called for each reader that is dropped because it does not read. */
  constructor(backend: Backend, onDrop: () => void) {
    this.#backend = backend;
    this.#onDrop = onDrop;
  }

  /** The answer to a new reader: the stream, or the reason for a refusal. */
  answer(query: URLSearchParams): InspectResponse {
    const filter = eventFilter(query);
    if (typeof filter === 'string') return failed(400, 'InvalidRequest', filter);
    if (this.#isEnded) return failed(503, 'ServiceUnavailable', 'The server is stopping.');
    if (this.#readers.size >= readersMax) {
      const text = `There are already ${readersMax} readers of events, the maximum. Try again later.`;
      return failed(503, 'TooManyReaders', text);
    }
    return { status: 200, body: undefined, stream: (out) => this.#open(out, filter) };
  }

  /** Disconnects all readers and accepts no new ones. */
  end(): void {
    this.#isEnded = true;
    for (const reader of this.#readers) reader.end();
  }

  #open(out: Writable, filter: EventFilter): void {
    if (out.destroyed) return;
    out.write(greeting);
    const reader = new EventFollower(out, filter, this.#onDrop);
    this.#readers.add(reader);
    out.once('close', () => this.#forget(reader));
    if (this.#isEnded) reader.end();
    if (this.#readers.size > 1) return;
    this.#stopListening = this.#backend.listen((event) => this.#tell(event));
    this.#heart = setInterval(() => this.#beat(), heartbeatMs).unref();
  }

  #forget(reader: EventFollower): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    clearInterval(this.#heart);
    this.#stopListening();
  }

  #tell(event: Event): void {
    this.#lastId += 1;
    let plain: Buffer | undefined;
    let withBodies: Buffer | undefined;
    for (const reader of this.#readers) {
      if (!reader.filter.accepts(event)) continue;
      if (reader.filter.hasBodies) {
        withBodies ??= eventFrame(this.#lastId, event, true);
        reader.add(withBodies);
      } else {
        plain ??= eventFrame(this.#lastId, event, false);
        reader.add(plain);
      }
    }
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushing = false;
    for (const reader of this.#readers) reader.flush();
  }

  #beat(): void {
    for (const reader of this.#readers) reader.add(heartbeat);
    this.#flush();
  }
}
