/**
 * One reader of the event stream: its filter and its buffer. All events of one turn of the event loop are written
 * together, and a write never waits. A reader that falls too far behind gets a last event that says so, and is
 * disconnected. Frames are not copied: what waits for many readers is in memory once.
 */

import type { Writable } from 'node:stream';
import type { EventFilter } from './event-filter.ts';

/** How many bytes of earlier turns may wait for a reader. */
export const unreadBytesMax: number = 1024 * 1024;
/**
 * How many bytes a single turn may add. It can produce many events before a reader can take any of them: a commit of hundreds
 * of sends with bodies, a publication to many queues, thousands of messages that expire.
 */
export const turnBytesMax: number = 8 * 1024 * 1024;
/** How long a dropped reader may take to read the reason. */
const farewellMs = 30_000;

export class EventFollower {
  readonly filter: EventFilter;
  readonly #out: Writable;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  readonly #onDrop: () => void;

  constructor(out: Writable, filter: EventFilter, onDrop: () => void) {
    this.#out = out;
    this.filter = filter;
    this.#onDrop = onDrop;
  }

  /** Buffers a frame for the next flush. Frames are bytes, since a stream counts waiting strings in characters. */
  add(frame: Buffer): void {
    if (this.#isOver) return;
    this.#gathered.push(frame);
    this.#gatheredBytes += frame.length;
    if (this.#out.writableLength > unreadBytesMax) this.#drop(unreadBytesMax);
    else if (this.#gatheredBytes > turnBytesMax) this.#drop(turnBytesMax);
  }

  flush(): void {
    if (this.#gathered.length === 0 || this.#isOver) return;
    this.#write();
  }

  /** Disconnects the reader, without waiting for one that is behind. */
  end(): void {
    if (this.#isOver || this.#out.writableLength > 0) {
      this.#out.destroy();
      return;
    }
    this.#write();
    this.#out.end();
  }

  get #isOver(): boolean {
    return this.#out.writableEnded || this.#out.destroyed;
  }

  /** Passes the gathered frames on, in one write to the socket. */
  #write(): void {
    this.#out.cork();
    for (const frame of this.#gathered) this.#out.write(frame);
    this.#out.uncork();
    this.#gathered = [];
    this.#gatheredBytes = 0;
  }

  #drop(limit: number): void {
    const reason = `The connection was closed, because more than ${limit} bytes waited to be read. Read faster, or filter the events.`;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#out.end(Buffer.from(`event: dropped\ndata: ${JSON.stringify({ reason })}\n\n`));
    this.#onDrop();
    const patience = setTimeout(() => this.#out.destroy(), farewellMs).unref();
    this.#out.once('close', () => clearTimeout(patience));
  }
}
