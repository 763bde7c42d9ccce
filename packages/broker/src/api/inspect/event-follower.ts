/**
 * One reader of the event stream: what it wants, and what waits for it. What comes in one turn of the event loop is written
 * in one go, and a write never waits. A reader for which too much waits is told so, as the last thing that it gets, and
 * its connection ends.
 */

import type { Writable } from 'node:stream';
import type { EventFilter } from './event-filter.ts';

/** For one reader: written and not taken by it. */
export const waitingBytesMax: number = 1024 * 1024;
/** How long a reader that was dropped may take to read why. */
const farewellMs = 30_000;

export class EventFollower {
  readonly filter: EventFilter;
  readonly #out: Writable;
  #gathered = '';

  constructor(out: Writable, filter: EventFilter) {
    this.#out = out;
    this.filter = filter;
  }

  /** Takes note of what is to be written by the next flush. */
  add(text: string): void {
    if (this.#isOver) return;
    this.#gathered += text;
    if (this.#gathered.length + this.#out.writableLength > waitingBytesMax) this.#drop();
  }

  flush(): void {
    if (this.#gathered === '' || this.#isOver) return;
    this.#out.write(this.#gathered);
    this.#gathered = '';
  }

  /** Lets the reader go. One that is behind is not waited for. */
  end(): void {
    if (this.#isOver || this.#out.writableLength > 0) this.#out.destroy();
    else this.#out.end(this.#gathered);
  }

  get #isOver(): boolean {
    return this.#out.writableEnded || this.#out.destroyed;
  }

  #drop(): void {
    const reason = `More than ${waitingBytesMax} bytes waited for you. Read faster, or filter.`;
    const farewell = `event: dropped\ndata: ${JSON.stringify({ reason })}\n\n`;
    this.#out.end(`${this.#gathered}${farewell}`);
    this.#gathered = '';
    const patience = setTimeout(() => this.#out.destroy(), farewellMs).unref();
    this.#out.once('close', () => clearTimeout(patience));
  }
}
