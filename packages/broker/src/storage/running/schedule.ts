/**
 * Runs ticks, long polls and requests in the order of time. One timer is set to the next moment at which something is due, in
 * the engine or for a waiting receiver. The timer may be late, so each request first applies what is already due; otherwise a
 * new request could overtake a waiting one.
 */

import type { Command } from '../../core/commands.ts';
import type { Clock } from '../clock.ts';
import { andThen, type NowOrLater } from '../now-or-later.ts';
import type { Availability } from './availability.ts';
import { DueTimer } from './due-timer.ts';
import type { ExpiryTurns } from './expiry-turns.ts';
import type { LongPolls } from './long-polls.ts';
import type { OutsideWork } from './outside-work.ts';
import type { Writer } from './writer.ts';

export interface ScheduleOptions {
  readonly clock: Clock;
  readonly writer: Writer;
  readonly availability: Availability;
  readonly turns: ExpiryTurns;
  readonly polls: LongPolls;
  readonly work: OutsideWork;
}

export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #timer: DueTimer;
  #advancing: Promise<unknown> = Promise.resolve();

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#timer = new DueTimer(options.clock, () => void this.doWhatIsDue());
  }

  /** Calls `go` with the current time: now or, if the last tick left something where the command looks, after it is gone. */
  whenCurrent<T>(command: Command, go: (now: number) => Promise<T>): Promise<T> {
    const { turns, availability } = this.#options;
    return andThen(this.#catchUp(), (now) => {
      if (!turns.isBehind(command)) {
        try {
          return go(now);
        } catch (error) {
          return Promise.reject(error);
        }
      }
      return turns.rested().then(() => {
        availability.requireRunning();
        return this.whenCurrent(command, go);
      });
    });
  }

  /** After a change: serves those who wait for it, and sets the timer. */
  serve(): void {
    const { writer, polls } = this.#options;
    if (!writer.isFrozen) polls.serve();
    this.set();
  }

  /** Never rejects. */
  doWhatIsDue(): NowOrLater<void> {
    const { clock, writer, turns, polls } = this.#options;
    this.#timer.clear();
    const now = clock.now();
    const ticked = writer.isFrozen ? undefined : turns.tickIfDue(now);
    return andThen(ticked, () => {
      if (!writer.isFrozen) {
        polls.stirDue(now);
        polls.serve();
      }
      polls.giveUpOverdue(now);
      this.set();
    });
  }

  /** Sets the timer to what falls due next. */
  set(): void {
    const { turns, polls } = this.#options;
    this.#timer.set(turns.isResting ? polls.nextDeadline() : this.#nextAt());
  }

  /** Sets the timer anew: the time that it was set to is nearer now, or gone. */
  setAnew(): void {
    this.#timer.clear();
    this.set();
  }

  /** Moves time forward and does what falls due on the way, in order. One call after the other: two that come together move time by both. */
  advance(milliseconds: number): Promise<void> {
    const advanced = this.#advancing.then(() => this.#advance(milliseconds));
    // A failed call does not keep the next from trying.
    this.#advancing = advanced.catch(() => {});
    return advanced;
  }

  /** Nothing falls due any more. */
  end(): void {
    this.#timer.end();
  }

  async #advance(milliseconds: number): Promise<void> {
    const { clock, writer, availability, turns, work } = this.#options;
    // Calls to endpoints take real time, which does not count here: those in flight end before time moves, and so does a tick.
    await turns.settled();
    await work.settled();
    await writer.readTime?.();
    const target = clock.now() + milliseconds;
    await writer.loadDue?.(target);
    let due = this.#nextAt();
    while (due !== undefined && due <= target) {
      availability.requireOpen();
      clock.moveTo(due);
      await this.doWhatIsDue();
      await turns.settled();
      await work.settled();
      await writer.kept();
      // Lets answers out, and other requests in, while time moves on.
      await new Promise((resolve) => setImmediate(resolve));
      due = this.#nextAt();
    }
    availability.requireOpen();
    clock.moveTo(target);
    this.setAnew();
  }

  /** While a backlog expires, waiting receivers are served only when it is its turn. Returns now. */
  #catchUp(): NowOrLater<number> {
    const { clock } = this.#options;
    const now = clock.now();
    if (now < this.#timer.quietUntil) return now;
    return andThen(this.doWhatIsDue(), () => clock.now());
  }

  #nextAt(): number | undefined {
    const { writer, turns, polls } = this.#options;
    // While the store is frozen, ticks stop, but long polls still time out.
    if (writer.isFrozen) return polls.nextDeadline();
    const due = turns.nextAt();
    const wake = polls.nextAt();
    return due === undefined || wake === undefined ? (due ?? wake) : Math.min(due, wake);
  }
}
