/**
 * Requests that are due at fixed times, like those of users who do not wait for each other. The latency of a request that
 * is written late, because every connection is waiting for a response, counts from when it was due: otherwise a server
 * that stalls for a second would get fewer requests in that second and look good.
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

  /** Takes the next request if it is due and returns when it was due; undefined if none is. */
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
