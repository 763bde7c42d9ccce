/**
 * `GET /_oncemq/events`: everything that happens, as it happens, to whoever reads along. It never slows the queue: an
 * event is written down once for all who read it in the same form, a write never waits, and a reader that takes less
 * than comes is told `dropped` and let go. Without a reader the backend is not listened to, so nothing is made at all.
 *
 * Nothing is replayed: a reader gets what happens while it is there. Ids rise by one with each event while anybody reads;
 * a filter leaves gaps.
 *
 * Bounds: readers, and the bytes that wait for each of them.
 */

import type { Writable } from 'node:stream';
import type { Event } from '../../core/events.ts';
import type { Backend } from '../../storage/backend.ts';
import { failed, type InspectResponse } from './answers.ts';
import { type EventFilter, eventFilter } from './event-filter.ts';
import { eventFrame } from './event-frame.ts';

export const readersMax = 100;
/** Written for a reader and not taken by it. */
export const waitingBytesMax: number = 1024 * 1024;
/** Proxies close what is silent for longer; 30 s is their shortest usual patience. */
const heartbeatMs = 15_000;
/** How long a reader that was dropped may take to read why. */
const farewellMs = 30_000;
/** What a browser waits before it asks again, in milliseconds. */
const greeting = 'retry: 2000\n: what happens from now on\n\n';

interface Reader {
  readonly out: Writable;
  readonly filter: EventFilter;
  /** Was told that it is too slow, and has not gone yet. */
  isDropped: boolean;
}

export class EventStream {
  readonly #backend: Backend;
  readonly #readers: Set<Reader> = new Set();
  #lastId = 0;
  #isEnded = false;
  #stopListening: () => void = () => {};
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** The answer to a new reader: the stream, or why it gets none. */
  answer(query: URLSearchParams): InspectResponse {
    const filter = eventFilter(query);
    if (typeof filter === 'string') return failed(400, 'InvalidRequest', filter);
    if (this.#isEnded) return failed(503, 'ServiceUnavailable', 'The server is stopping.');
    if (this.#readers.size >= readersMax) {
      const text = `${readersMax} readers follow the events already, and no more are taken.`;
      return failed(503, 'TooManyReaders', text);
    }
    const stream = (out: Writable): void => this.#open({ out, filter, isDropped: false });
    return { status: 200, body: undefined, stream };
  }

  /** Lets all readers go, for good. One that is behind is not waited for. */
  end(): void {
    this.#isEnded = true;
    for (const { out } of this.#readers) {
      if (out.writableLength > 0) out.destroy();
      else out.end();
    }
  }

  #open(reader: Reader): void {
    const { out } = reader;
    if (out.destroyed) return;
    out.once('close', () => this.#forget(reader));
    this.#readers.add(reader);
    if (this.#readers.size === 1) {
      this.#stopListening = this.#backend.listen((event) => this.#tell(event));
      this.#heartbeat = setInterval(() => this.#writeToAll(':\n\n'), heartbeatMs).unref();
    }
    out.write(greeting);
    if (this.#isEnded) out.end();
  }

  #forget(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#stopListening();
  }

  #tell(event: Event): void {
    this.#lastId += 1;
    let plain: string | undefined;
    let withBodies: string | undefined;
    for (const reader of this.#readers) {
      if (!reader.filter.accepts(event)) continue;
      if (reader.filter.hasBodies) {
        withBodies ??= eventFrame(this.#lastId, event, true);
        write(reader, withBodies);
      } else {
        plain ??= eventFrame(this.#lastId, event, false);
        write(reader, plain);
      }
    }
  }

  #writeToAll(text: string): void {
    for (const reader of this.#readers) write(reader, text);
  }
}

function write(reader: Reader, text: string): void {
  const { out, isDropped } = reader;
  if (isDropped || out.writableEnded || out.destroyed) return;
  if (out.writableLength <= waitingBytesMax) {
    out.write(text);
    return;
  }
  reader.isDropped = true;
  const reason = `More than ${waitingBytesMax} bytes waited for you. Read faster, or filter.`;
  out.end(`event: dropped\ndata: ${JSON.stringify({ reason })}\n\n`);
  const farewell = setTimeout(() => out.destroy(), farewellMs).unref();
  out.once('close', () => clearTimeout(farewell));
}
