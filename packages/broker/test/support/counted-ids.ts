/**
 * Ids that can be foretold: the nth call gives the nth id. Two sources that have given out equally many go on alike,
 * which lets two engines, or an engine and a model, be compared to the letter.
 */

import type { Ids } from '../../src/core/engine.ts';

export class CountedIds implements Ids {
  #given: number;

  constructor(given = 0) {
    this.#given = given;
  }

  uuid(): string {
    this.#given += 1;
    return `00000000-0000-4000-8000-${this.#given.toString(16).padStart(12, '0')}`;
  }

  /** A second source that goes on where this one stands. */
  fork(): CountedIds {
    return new CountedIds(this.#given);
  }
}
