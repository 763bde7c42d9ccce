/**
 * What a backend accepts in each of its modes, which engine-backend.ts describes. The writer decides between open, full, frozen
 * and incomplete (`Keeping`); closing is final.
 */

import { isDraining, isLooking } from '../../core/command-effects.ts';
import type { Command } from '../../core/commands.ts';
import { Unavailable } from '../backend.ts';
import type { Keeping } from './writer.ts';

const stopping = 'the server is stopping';

export class Availability {
  readonly #keeping: Keeping;
  isClosed = false;

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
  }

  /** Whether time may do its work: ticks add, so they need a store that does, too. */
  get isOpen(): boolean {
    return this.#keeping.unavailable() === undefined;
  }

  get isFrozen(): boolean {
    return this.#keeping.isFrozen;
  }

  /** Why this command is not accepted now; undefined if it is. */
  refusalOf(command: Command): Unavailable | undefined {
    const reason = this.#keeping.unavailable();
    if (reason === undefined) return undefined;
    if (isLooking(command) && !this.#keeping.isIncomplete) return undefined;
    if (isDraining(command) && !this.#keeping.isFrozen) return undefined;
    return new Unavailable(reason);
  }

  /** Why what is in memory cannot be relied upon; undefined if it can. */
  unreliable(): Unavailable | undefined {
    return this.#keeping.isIncomplete ? this.#error() : undefined;
  }

  /** Why no change can be kept at all; undefined if some can. */
  frozen(): Unavailable | undefined {
    return this.#keeping.isFrozen ? this.#error() : undefined;
  }

  /** Throws if what falls due could not be done and kept, or if the server is stopping. */
  requireOpen(): void {
    if (!this.isOpen) throw this.#error();
    this.requireRunning();
  }

  requireRunning(): void {
    if (this.isClosed) throw new Unavailable(stopping);
  }

  #error(): Unavailable {
    return new Unavailable(this.#keeping.unavailable() ?? '');
  }
}
