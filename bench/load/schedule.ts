/**
 * Requests that are due at fixed times, as users send them who do not wait for each other. One that is written late,
 * because every connection waits for an answer, counts from when it was due: otherwise a server that stops for a second
 * would be asked less in that second, and look good.
 */

import { percentile } from '../report/statistics.ts';
import type { Latency, Pace } from './order.ts';

export class Schedule {
  readonly #startAt: number = performance.now();
  readonly #betweenMs: number;
  readonly #measureAt: number;
  readonly #endAt: number;
  readonly #latenciesMs: number[] = [];
  #taken = 0;

  constructor({ perSecond, warmUpMs, measureMs }: Extract<Pace, { kind: 'rate' }>) {
    this.#betweenMs = 1000 / perSecond;
    this.#measureAt = this.#startAt + warmUpMs;
    this.#endAt = this.#measureAt + measureMs;
  }

  /** When the next request was due; undefined as long as none is. */
  takeDue(): number | undefined {
    const dueAt = this.#startAt + this.#taken * this.#betweenMs;
    if (dueAt >= this.#endAt || dueAt > performance.now()) return undefined;
    this.#taken += 1;
    return dueAt;
  }

  answered(dueAt: number): void {
    if (dueAt >= this.#measureAt) this.#latenciesMs.push(performance.now() - dueAt);
  }

  latency(): Latency {
    return {
      requests: this.#latenciesMs.length,
      p50Ms: percentile(this.#latenciesMs, 0.5),
      p99Ms: percentile(this.#latenciesMs, 0.99),
      maxMs: percentile(this.#latenciesMs, 1),
    };
  }
}
