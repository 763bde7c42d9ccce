/**
 * What the matching of one request may cost, and how much of it is left. A publication with many values, times policies
 * with many conditions, times subscriptions, would otherwise hold up every other request for seconds. The unit is about
 * what one comparison of short values takes; `limits.ts` has the bound.
 */

import { filterWorkMax } from '../../limits.ts';

/** Characters that are compared, or searched for a pattern character, in the time of one comparison. */
const charsPerUnit = 64;

export class FilterWork {
  readonly #units: number;
  #left: number;

  constructor(units: number = filterWorkMax) {
    this.#units = units;
    this.#left = units;
  }

  get spent(): number {
    return this.#units - this.#left;
  }

  get left(): number {
    return this.#left;
  }

  /** Whether more was asked for than there was: no answer that was given since then means anything. */
  get isExceeded(): boolean {
    return this.#left < 0;
  }

  /** Returns whether there is enough left. */
  spend(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }
}

export function unitsOf(chars: number): number {
  return Math.ceil(chars / charsPerUnit);
}
