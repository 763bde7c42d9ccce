/**
 * Keeps the view fresh without flooding the server or the page. Events from the server's stream trigger reloads; without
 * a stream, the view is polled every second. Loads never overlap and keep a minimum interval; while the tab is hidden
 * there are none. A stream with more events than anyone could follow is closed for a while.
 *
 * An unreachable server is retried with growing pauses; once it answers, everything continues.
 */

import { Unreachable } from './server.ts';

const apartMs = 400;
const pollMs = 1_000;
/** With a stream, for changes without an event, such as the passing of time. */
const slowPollMs = 2_000;
/** The wait is at least this many times the duration of the last load, so that a slow server is not kept busy. */
const patience = 5;
const retryMsMax = 5_000;
const eventsPerSecondMax = 200;
const streamPauseMs = 10_000;

/** The stream names each event, and EventSource delivers only the named types that have a listener. */
const eventTypes = [
  'queue-created queue-deleted queue-changed queue-purged window-forgotten sent duplicate collision',
  'contract-violation delivered visibility-changed deleted expired dead-lettered moved move-task',
  'topic-changed subscribed subscription-confirmed unsubscribed published duplicate-publication',
  'filtered-out fanned-out posted post-failed delivery-failed replay',
].flatMap((line) => line.split(' '));

export type Connection = 'starting' | 'live' | 'gone';

export class Live {
  #connection: Connection = 'starting';
  readonly #load: () => Promise<void>;
  readonly #onChange: () => void;
  #events: string | undefined;
  #stream: EventSource | undefined;
  #streamAgainAt = 0;
  #eventsSeen = 0;
  #secondStartedAt = 0;
  #timer = 0;
  #timerAt = Number.POSITIVE_INFINITY;
  #loadedAt = 0;
  #isLoading = false;
  #isWanted = false;
  /** The view changed while the previous one was loading. */
  #isUrgent = false;
  #failures = 0;

  /** `load` throws Unreachable if the server does not answer. */
  constructor(load: () => Promise<void>, onChange: () => void) {
    this.#load = load;
    this.#onChange = onChange;
    document.addEventListener('visibilitychange', () => this.#visibilityChanged());
  }

  get connection(): Connection {
    return this.#connection;
  }

  /** Switches to another view: loads it at once, and reloads it on these events. */
  follow(events: string | undefined): void {
    if (events !== this.#events) {
      this.#events = events;
      this.#closeStream();
    }
    this.#loadedAt = 0;
    this.#isUrgent = true;
    this.soon();
  }

  /** Loads as soon as the minimum interval allows. */
  soon(): void {
    if (this.#isLoading) this.#isWanted = true;
    else this.#loadAt(this.#loadedAt + apartMs);
  }

  #loadAt(at: number): void {
    if (document.hidden || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const run = (): void => void this.#run();
    this.#timer = setTimeout(run, Math.max(0, at - performance.now()));
  }

  async #run(): Promise<void> {
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#isLoading = true;
    this.#isWanted = false;
    this.#isUrgent = false;
    const startedAt = performance.now();
    try {
      await this.#load();
      this.#failures = 0;
      this.#set('live');
      this.#openStream();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      this.#failures += 1;
      this.#closeStream();
      this.#set('gone');
    } finally {
      this.#isLoading = false;
      this.#loadedAt = performance.now();
      this.#loadAt(this.#loadedAt + this.#waitMs(this.#loadedAt - startedAt));
    }
  }

  #waitMs(tookMs: number): number {
    if (this.#isUrgent) return 0;
    if (this.#failures > 0) return Math.min(this.#failures * 500, retryMsMax);
    const isOpen = this.#stream?.readyState === EventSource.OPEN;
    const usual = this.#isWanted ? apartMs : isOpen ? slowPollMs : pollMs;
    return Math.max(usual, patience * tookMs);
  }

  #set(connection: Connection): void {
    this.#connection = connection;
    this.#onChange();
  }

  #openStream(): void {
    const isDue = performance.now() >= this.#streamAgainAt;
    if (this.#events === undefined || this.#stream !== undefined || !isDue) return;
    const stream = new EventSource(new URL(`events?${this.#events}`, document.baseURI));
    const heard = (): void => this.#heard();
    for (const type of eventTypes) stream.addEventListener(type, heard);
    // The next load reopens the stream, and also finds out whether the server is still there.
    const lost = (): void => {
      this.#closeStream();
      this.soon();
    };
    stream.addEventListener('dropped', lost);
    stream.addEventListener('error', lost);
    this.#stream = stream;
  }

  #closeStream(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }

  #heard(): void {
    const now = performance.now();
    if (now - this.#secondStartedAt > 1_000) {
      this.#secondStartedAt = now;
      this.#eventsSeen = 0;
    }
    this.#eventsSeen += 1;
    if (this.#eventsSeen > eventsPerSecondMax) {
      this.#streamAgainAt = now + streamPauseMs;
      this.#closeStream();
    }
    this.soon();
  }

  #visibilityChanged(): void {
    if (document.hidden) {
      clearTimeout(this.#timer);
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.#closeStream();
    } else {
      this.soon();
    }
  }
}
