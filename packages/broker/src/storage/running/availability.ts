/**
 * What a backend accepts, by how much of it can be kept. Its modes:
 *
 *   open        everything is accepted.
 *   full        nothing can be added, as on a full disk. Commands that look, receive or remove are answered; ticks stop,
 *               because move tasks and replays add messages. Ends when the store has room again.
 *   frozen      no change can be kept, after a commit failed. Only commands that look are answered; long polls still time
 *               out. The store retries a commit until one succeeds.
 *   incomplete  what is kept could not be loaded again, so the in-memory state may no longer match it. Nothing is
 *               answered. Ends with a restart.
 *   closed      the server is stopping: requests that are under way are answered, and nobody waits any more.
 *
 * The store decides between the first four (`Keeping`); closing is final. While a tick has left something expired, the
 * backend also rests between ticks: see expiry-turns.ts.
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
