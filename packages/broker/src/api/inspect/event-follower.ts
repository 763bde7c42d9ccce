/**
 * One reader of the event stream: its filter and its buffer. All events of one turn of the event loop are written
 * together, and a write never waits. A reader that falls too far behind gets a last event that says so, and is
 * disconnected.
 */

import type { Writable } from 'node:stream';
import type { EventFilter } from './event-filter.ts';

/**
 * How many bytes may wait for one reader. A single turn can produce many events before a reader can take any of them: a
 * commit of hundreds of sends with bodies, a publication to many queues, thousands of messages that expire.
 */
export const waitingBytesMax: number = 8 * 1024 * 1024;
/** How long a dropped reader may take to read the reason. */
const farewellMs = 30_000;

export class EventFollower {
  readonly filter: EventFilter;
  readonly #out: Writable;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;

  constructor(out: Writable, filter: EventFilter) {
    this.#out = out;
    this.filter = filter;
  }

  /** Buffers a frame for the next flush. Frames are bytes, since a stream counts waiting strings in characters. */
  add(frame: Buffer): void {
    if (this.#isOver) return;
    this.#gathered.push(frame);
    this.#gatheredBytes += frame.length;
    if (this.#gatheredBytes + this.#out.writableLength > waitingBytesMax) this.#drop();
  }

  flush(): void {
    if (this.#gathered.length === 0 || this.#isOver) return;
    this.#out.write(this.#taken());
  }

  /** Disconnects the reader, without waiting for one that is behind. */
  end(): void {
    if (this.#isOver || this.#out.writableLength > 0) this.#out.destroy();
    else this.#out.end(this.#taken());
  }

  get #isOver(): boolean {
    return this.#out.writableEnded || this.#out.destroyed;
  }

  /** Empties the buffer and returns its content in one piece. */
  #taken(): Buffer {
    const taken = Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    return taken;
  }

  #drop(): void {
    const reason = `The connection was closed, because more than ${waitingBytesMax} bytes waited to be read. Read faster, or filter the events.`;
    const farewell = `event: dropped\ndata: ${JSON.stringify({ reason })}\n\n`;
    this.#out.end(Buffer.concat([this.#taken(), Buffer.from(farewell)]));
    const patience = setTimeout(() => this.#out.destroy(), farewellMs).unref();
    this.#out.once('close', () => clearTimeout(patience));
  }
}
