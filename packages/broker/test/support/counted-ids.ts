/**
 * Predictable ids: the nth call gives the nth id. Two sources that have given out equally many continue alike, so that two
 * engines, or an engine and a model, can be compared exactly.
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

  /** A second source that continues from where this one is. */
  fork(): CountedIds {
    return new CountedIds(this.#given);
  }
}
