/**
 * The backend's one timer, and the moment up to which nothing falls due. A timer that comes too early finds nothing due and is
 * set again; that is cheaper than moving it with every command. On a manual clock only what is due now has one: time does
 * not get anywhere else by itself.
 */

import type { Clock } from '../clock.ts';

/** Node's timers overflow beyond this; a later moment is waited for in steps. */
const timerMsMax = 2 ** 31 - 1;

export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #hasEnded = false;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Nothing falls due before this, as of when it was last set. */
  get quietUntil(): number {
    return this.#quietUntil;
  }

  /** `at` is when something falls due next; undefined if nothing does. */
  set(at: number = Number.POSITIVE_INFINITY): void {
    this.#quietUntil = at;
    if (this.#hasEnded || at >= this.#timerAt) return;
    const now = this.#clock.now();
    if (this.#clock.kind === 'manual' && at > now) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(this.#ring, Math.min(Math.max(at - now, 0), timerMsMax));
    // Waiting for time to pass is no reason for a process to stay.
    this.#timer.unref();
  }

  /** The next moment counts anew: what it was set to has rung, or is nearer or gone. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  /** It does not ring from now on. */
  end(): void {
    this.#hasEnded = true;
    this.clear();
  }
}
