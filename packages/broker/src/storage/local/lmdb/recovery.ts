/**
 * What to try after a commit has failed, once a second, until all is well again.
 *
 * At first the store is frozen: nothing is changed. A small commit needs no more room than the file has in pages that are
 * free; if it succeeds, what is there can be received and removed, which frees more. Nothing is added before a commit
 * succeeds that is as large as what was lost, up to a megabyte.
 */

export type Attempt = 'drain' | 'add';

const attemptBytesMin = 64 * 1024;
/** How many times a small commit is left out, at most: if the next one fails too, much may have to be loaded again. */
const patienceMax = 60;

export class Recovery {
  #reason: string | undefined;
  #isFrozen = false;
  /** Since all was well; each time it waits longer before a small commit. */
  #freezes = 0;
  #patience = 0;
  #attemptBytes = 0;
  /** Something was committed since the last large attempt: there may be more room in the file. */
  #hasDrained = false;
  #failedLast: Attempt | undefined;

  /** Why nothing can be added at the moment. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Whether nothing at all can be changed. */
  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** The size of a commit that shows that there is room again. */
  get attemptBytes(): number {
    return this.#attemptBytes;
  }

  /** A commit failed, and this much was lost with it. */
  failed(reason: string, lostBytes: number): void {
    this.#attemptBytes = Math.max(lostBytes, attemptBytesMin);
    this.#failedLast = undefined;
    this.#freeze(reason);
  }

  committed(): void {
    this.#hasDrained = this.#reason !== undefined;
  }

  /** What to try now. A disk can have room for others only: so a frozen store does not insist on a large commit. */
  next(hasRoom: (bytes: number) => boolean): Attempt | undefined {
    const isInsisting = this.#isFrozen && this.#failedLast === 'add';
    if (this.#hasDrained || (!isInsisting && hasRoom(2 * this.#attemptBytes))) return 'add';
    this.#patience -= 1;
    return this.#isFrozen && this.#patience <= 0 ? 'drain' : undefined;
  }

  succeeded(attempt: Attempt): void {
    this.#isFrozen = false;
    if (attempt === 'drain') return;
    this.#reason = undefined;
    this.#freezes = 0;
  }

  attemptFailed(attempt: Attempt, reason: string): void {
    this.#reason = reason;
    this.#hasDrained = false;
    this.#failedLast = attempt;
    if (attempt === 'drain') this.#freeze(reason);
  }

  #freeze(reason: string): void {
    this.#reason = reason;
    this.#isFrozen = true;
    this.#hasDrained = false;
    this.#patience = Math.min(2 ** this.#freezes, patienceMax);
    this.#freezes += 1;
  }
}
