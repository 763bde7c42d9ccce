/**
 * One reader of the event stream: what it wants, and what waits for it. What comes in one turn of the event loop is written
 * in one go, and a write never waits. A reader for which too much waits is told so, as the last thing that it gets, and
 * its connection ends.
 */

import type { Writable } from 'node:stream';
import type { EventFilter } from './event-filter.ts';

/**
 * For one reader: written and not taken by it. One moment can bring much, of which a reader can take nothing before it is
 * over: a commit of hundreds of sends with bodies, a publication to many queues, thousands of messages that expire.
 */
export const waitingBytesMax: number = 8 * 1024 * 1024;
/** How long a reader that was dropped may take to read why. */
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

  /** Takes note of what is to be written by the next flush. Bytes, since what waits of a text is counted in characters. */
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

  /** Lets the reader go. One that is behind is not waited for. */
  end(): void {
    if (this.#isOver || this.#out.writableLength > 0) this.#out.destroy();
    else this.#out.end(this.#taken());
  }

  get #isOver(): boolean {
    return this.#out.writableEnded || this.#out.destroyed;
  }

  /** What has gathered, in one piece. */
  #taken(): Buffer {
    const taken = Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    return taken;
  }

  #drop(): void {
    const reason = `More than ${waitingBytesMax} bytes waited for you. Read faster, or filter.`;
    const farewell = `event: dropped\ndata: ${JSON.stringify({ reason })}\n\n`;
    this.#out.end(Buffer.concat([this.#taken(), Buffer.from(farewell)]));
    const patience = setTimeout(() => this.#out.destroy(), farewellMs).unref();
    this.#out.once('close', () => clearTimeout(patience));
  }
}
