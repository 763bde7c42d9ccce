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
  #all: Waiting[] = [];

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
      const until = performance.now() + waitMsMax;
      this.#all.push({ command, now, until, resolve: resolve as Waiting['resolve'], reject });
    });
  }

  /** They wait no longer: whoever calls this answers them. */
  remove(ended: Iterable<Waiting>): void {
    const gone = new Set(ended);
    this.#all = this.#all.filter((waiting) => !gone.has(waiting));
  }

  reject(refused: readonly Waiting[], error: unknown): void {
    this.remove(refused);
    for (const { reject } of refused) reject(error);
  }

  rejectAll(error: unknown): void {
    this.reject(this.#all, error);
  }

  rejectLate(): void {
    const now = performance.now();
    const late = this.#all.filter(({ until }) => until < now);
    if (late.length === 0) return;
    this.reject(late, new Unavailable('what the request needs is locked by another node'));
  }
}
