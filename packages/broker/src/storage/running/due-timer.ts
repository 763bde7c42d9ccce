/**
 * The backend's only timer, and the time before which nothing is due. A timer that fires early finds nothing due and is set
 * again, which is cheaper than moving it with every command. A manual clock does not advance by itself, so there the timer
 * is set only for what is due now.
 */

import type { Clock } from '../clock.ts';

/** Node's timers overflow beyond this; a later moment is waited for in steps. */
const timerMsMax = 2 ** 31 - 1;

export class DueTimer {
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
    // Waiting for time to pass must not keep the process alive.
    this.#timer.unref();
  }

  /** Forgets the time it was set to, which has passed, is nearer now or is gone; `set` starts afresh. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  /** It never rings again. */
  end(): void {
    this.#hasEnded = true;
    this.clear();
  }
}
