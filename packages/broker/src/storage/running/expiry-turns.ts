/**
 * Ticks apply what time alone changes: expiry, timeouts, move tasks, replays, HTTP deliveries. If more has expired than one
 * tick removes, ticks and requests alternate: after each tick the backend rests until the changes are durable and other
 * requests have had a turn of the event loop. Meanwhile a request for a queue or topic that still holds expired items waits.
 *
 * No client waits for a tick, so a failed tick is logged, and the work that failed is postponed; otherwise it would be due
 * again at once.
 */

import type { OwnerId } from '../../core/changes.ts';
import type { Command, Outcome } from '../../core/commands.ts';
import { CommandFailed } from '../../core/engine.ts';
import { Unavailable } from '../backend.ts';
import { andThen, type NowOrLater } from '../now-or-later.ts';
import type { Availability } from './availability.ts';
import type { Writer } from './writer.ts';

/** After a failed tick no other follows for this long, and none does the work that failed for this long. */
const failedTickMs = 1_000;
const failedWorkMs = 60_000;

export interface ExpiryTurnsOptions {
  readonly writer: Writer;
  readonly availability: Availability;
  readonly now: () => number;
  /** Does what the tick asks for and core cannot do itself. */
  readonly follow: (tick: Outcome<'tick'> & { readonly ok: true }) => NowOrLater<void>;
  /** The next tick may be due at another time than before. */
  readonly onChange: () => void;
  /** Called with a failure that no client waits for. */
  readonly onFailure: (error: unknown) => void;
}

export class ExpiryTurns {
  readonly #options: ExpiryTurnsOptions;
  /** After a tick that left something expired, until the next one may follow. */
  #rest: Promise<void> | undefined;
  /** A tick that is not over yet. */
  #ticking: Promise<void> | undefined;
  #tickedAt = 0;
  /** After a tick that failed. */
  #noTickBefore = 0;

  constructor(options: ExpiryTurnsOptions) {
    this.#options = options;
  }

  get isResting(): boolean {
    return this.#rest !== undefined;
  }

  /** When the next tick is due. None while nothing can be added; what expires then does so with other commands. */
  nextAt(): number | undefined {
    const { writer, availability } = this.#options;
    const due = availability.isOpen && this.#ticking === undefined ? writer.nextDueAt() : undefined;
    return due === undefined ? undefined : Math.max(due, this.#noTickBefore);
  }

  /** Ticks if a tick is due and it is its turn. */
  tickIfDue(now: number): NowOrLater<void> {
    const due = this.nextAt();
    if (due === undefined || due > now || this.isResting) return this.#ticking;
    const ticked = this.#tick(now);
    if (!(ticked instanceof Promise)) return undefined;
    this.#ticking = ticked.finally(() => {
      this.#ticking = undefined;
      this.#options.onChange();
    });
    return this.#ticking;
  }

  /** Resolves when no tick is under way. */
  async settled(): Promise<void> {
    await this.#ticking;
  }

  /** Resolves when the backend has rested. */
  async rested(): Promise<void> {
    await this.#rest;
  }

  /** What has expired since the last tick does not count: where something always expires, requests would never get a turn. */
  isBehind(command: Command): boolean {
    return this.isResting && this.#options.writer.isBehind(command, this.#tickedAt);
  }

  /** Reports a failure that no client waits for, and postpones the work of the queue or topic concerned. */
  putOff(owner: OwnerId | undefined, error: unknown): void {
    const { writer, now, onChange, onFailure } = this.#options;
    // The availability callback tells that.
    if (!(error instanceof Unavailable)) onFailure(error);
    if (owner !== undefined) writer.postpone(owner, now() + failedWorkMs);
    onChange();
  }

  #tick(now: number): NowOrLater<void> {
    const failed = (error: unknown): void => {
      this.#noTickBefore = now + failedTickMs;
      this.putOff(error instanceof CommandFailed ? error.working : undefined, error);
    };
    try {
      const ticked = andThen(this.#options.writer.step({ type: 'tick' }, now), ({ outcome }) => {
        this.#tickedAt = now;
        if (outcome.ok && outcome.isUnfinished) this.#rest = this.#takeRest();
        return outcome.ok ? this.#options.follow(outcome) : undefined;
      });
      return ticked instanceof Promise ? ticked.catch(failed) : undefined;
    } catch (error) {
      failed(error);
      return undefined;
    }
  }

  /** Ends when what the tick did is kept, so that little waits to be written, and other requests have had their turn. */
  async #takeRest(): Promise<void> {
    await this.#options.writer.kept()?.catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    this.#rest = undefined;
    this.#options.onChange();
  }
}
