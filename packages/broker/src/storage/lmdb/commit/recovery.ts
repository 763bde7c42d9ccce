/**
 * Decides when nothing may be added, and how the store recovers.
 *
 * - Full: the remaining room is kept for removals (`Room`). What is stored can be received and removed. The room is measured
 *   after each commit and once a second; no test commits are made.
 * - Frozen: a commit failed, and nothing may be changed. Once a second a small test commit is tried. After one succeeds, what
 *   is stored can be received and removed, which frees more room.
 * - Failed, but no longer frozen: nothing may be added before a test commit succeeds that is as large as what was lost, up to
 *   a megabyte.
 */

import type { Room } from '../file/environment.ts';
import { diskIsFull } from '../file/lmdb-file.ts';

export type Attempt = 'drain' | 'add';

/** Additions are accepted again once there is this share more room than removals need. */
const againShare = 1 / 8;

const attemptBytesMin = 64 * 1024;
/**
 * The most seconds between two small test commits. They become rarer, because after one that fails much may have to be loaded
 * again.
 */
const patienceMax = 60;

export class Recovery {
  #reason: string | undefined;
  #isFull = false;
  #isFrozen = false;
  /** How often it froze since it was last open. Each time, it waits longer before a small test commit. */
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

  /** Takes a measurement of the room; undefined if there is enough. Returns whether more or less can be done than before. */
  measured(room: Room | undefined): boolean {
    const isFull = this.#isFull ? !hasSpare(room) : this.#reason === undefined && isTight(room);
    if (isFull === this.#isFull) return false;
    this.#isFull = isFull;
    this.#reason = isFull ? diskIsFull : undefined;
    return true;
  }

  /** A commit failed, and this much was lost with it. */
  failed(reason: string, lostBytes: number): void {
    this.#isFull = false;
    this.#attemptBytes = Math.max(lostBytes, attemptBytesMin);
    this.#failedLast = undefined;
    this.#freeze(reason);
  }

  committed(): void {
    this.#hasDrained = this.#reason !== undefined;
  }

  /** What to try now. The free space may be reserved for other users, so a frozen store does not insist on a large commit. */
  next(hasRoom: (bytes: number) => boolean, room?: Room): Attempt | undefined {
    if (this.#isFull) return undefined;
    const isInsisting = this.#isFrozen && this.#failedLast === 'add';
    const isPromising = this.#hasDrained || (!isInsisting && hasRoom(2 * this.#attemptBytes));
    if (isPromising && hasSpare(room)) return 'add';
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

function isTight(room: Room | undefined): boolean {
  return room !== undefined && room.bytes < room.drainingBytes;
}

function hasSpare(room: Room | undefined): boolean {
  return room === undefined || room.bytes >= room.drainingBytes * (1 + againShare);
}
