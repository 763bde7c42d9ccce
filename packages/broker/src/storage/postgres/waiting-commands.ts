/**
 * Commands that wait for a batch, in the order of their calls. Each ends in one of three ways: answered, refused with an error,
 * or refused because the database kept it waiting for too long.
 */

import type { Command } from '../../core/commands.ts';
import type { Applied } from '../../core/engine.ts';
import { Unavailable } from '../backend.ts';

/** How many commands wait, and how long each waits for the database. */
const waitingMax = 100_000;
const waitMsMax = 10_000;

export interface Waiting {
  readonly command: Command;
  readonly now: number;
  /** In real time. */
  readonly until: number;
  resolve(applied: Applied<Command['type']>): void;
  reject(error: unknown): void;
}

/** What became of a command in a batch that may still fail. */
export interface Done {
  readonly waiting: Waiting;
  readonly applied: Applied<Command['type']>;
}

export class WaitingCommands {
  readonly #waitMs: number;
  #all: Waiting[] = [];
  /** Who waits for commands to end: for which ones still. */
  #watchers: { readonly left: Set<Waiting>; resolve(): void }[] = [];
  /** Who waits for the next command. */
  #added: { readonly promise: Promise<void>; resolve(): void } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(waitMs: number = waitMsMax) {
    this.#waitMs = waitMs;
  }

  get size(): number {
    return this.#all.length;
  }

  [Symbol.iterator](): Iterator<Waiting> {
    return this.#all.values();
  }

  /** Resolves once the command's changes are committed. */
  add<C extends Command>(command: C, now: number): Promise<Applied<C['type']>> {
    if (this.#all.length >= waitingMax) {
      return Promise.reject(new Unavailable('too much is waiting'));
    }
    return new Promise((resolve, reject) => {
      const until = performance.now() + this.#waitMs;
      this.#all.push({ command, now, until, resolve: resolve as Waiting['resolve'], reject });
      this.#plan();
      this.#added?.resolve();
      this.#added = undefined;
    });
  }

  /** Resolves when another command comes. */
  added(): Promise<void> {
    if (this.#added === undefined) {
      let resolve = (): void => {};
      const promise = new Promise<void>((then) => {
        resolve = then;
      });
      this.#added = { promise, resolve };
    }
    return this.#added.promise;
  }

  /** They wait no longer: whoever calls this answers them. */
  remove(ended: Iterable<Waiting>): void {
    const gone = new Set(ended);
    this.#all = this.#all.filter((waiting) => !gone.has(waiting));
    if (this.#watchers.length > 0) this.#tellWatchers(gone);
  }

  /** Resolves once every command that waits now has ended. */
  ended(): Promise<void> {
    if (this.#all.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#watchers.push({ left: new Set(this.#all), resolve });
    });
  }

  reject(refused: readonly Waiting[], error: unknown): void {
    this.remove(refused);
    for (const { reject } of refused) reject(error);
  }

  rejectAll(error: unknown): void {
    this.reject(this.#all, error);
  }

  #tellWatchers(gone: Iterable<Waiting>): void {
    for (const waiting of gone) for (const { left } of this.#watchers) left.delete(waiting);
    const ended = this.#watchers.filter(({ left }) => left.size === 0);
    this.#watchers = this.#watchers.filter(({ left }) => left.size > 0);
    for (const { resolve } of ended) resolve();
  }

  /** Whatever the database is doing meanwhile: what becomes of a command that it may be committing is not known. */
  #plan(): void {
    const [oldest] = this.#all;
    if (this.#timer !== undefined || oldest === undefined) return;
    const rejectLate = (): void => {
      this.#timer = undefined;
      const now = performance.now();
      const late = this.#all.filter(({ until }) => until <= now);
      const text = `the database kept the request waiting for more than ${this.#waitMs / 1000} s`;
      this.reject(late, new Unavailable(text));
      this.#plan();
    };
    this.#timer = setTimeout(rejectLate, Math.ceil(oldest.until - performance.now()));
    this.#timer.unref();
  }
}
