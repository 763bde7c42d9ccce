/**
 * Decides how commands become kept changes. The local writer applies a command at once and lets a store commit its changes
 * in groups. A writer over a database locks, absorbs what others have written, applies, appends and commits. Whatever runs
 * above it (long polls, expiry, endpoints, queries) is the same for both.
 *
 * A command is applied after all that came before it, whether it is applied now or later. `kept` and `answer` speak about
 * everything that was applied so far.
 */

import type { OwnerId } from '../../core/changes.ts';
import type { Command } from '../../core/commands.ts';
import type { Applied } from '../../core/engine.ts';
import type { Commit } from '../backend.ts';
import type { NowOrLater } from '../now-or-later.ts';

/** What can be kept at the moment. */
export interface Keeping {
  /** Why nothing can be added; undefined when all is well. */
  unavailable(): string | undefined;
  /** Whether what is there cannot be received or removed either. */
  readonly isFrozen: boolean;
  /** Whether not even reads can be answered. */
  readonly isIncomplete: boolean;
}

export interface Writer extends Keeping {
  /** Its store's name for people. */
  readonly kind: string;

  /** Applies one command. If that fails, the command leaves nothing behind. `now` is the clock's time. */
  step<C extends Command>(command: C, now: number): NowOrLater<Applied<C['type']>>;

  /** Resolves once everything applied so far is kept; undefined if it is. */
  kept(): Promise<void> | undefined;

  /** Resolves with what `prepare` makes of the outcome once everything applied so far is kept. */
  answer<O, A>(outcome: O, prepare: (outcome: O) => A): Promise<A>;

  /** Keeps the current time, although nothing changed. */
  noteTime(): void;

  /** When a tick has something to do; undefined if nothing is due, ever. */
  nextDueAt(): number | undefined;

  /** Whether something that expired by `since` is still where the command looks. */
  isBehind(command: Command, since: number): boolean;

  /** No tick does the work of this queue or topic before then. */
  postpone(owner: OwnerId, until: number): void;

  /** Removes every queue and topic. */
  reset(): NowOrLater<void>;

  /** Loads what is kept. */
  load(onProgress: (changes: number) => void): Promise<void>;

  /** The store's size on disk; undefined if it is not there. */
  fileBytes(): number | undefined;

  close(): Promise<void>;
}

/** What a writer asks of the backend that uses it. */
export interface WriterUser {
  now(): number;
  /** A command was applied; its changes are not kept yet. */
  applied(applied: Applied<Command['type']>): void;
  /** Less is accepted than before (`Keeping`). */
  suspend(): void;
  /** More is accepted again. */
  resume(): void;
  committed(commit: Commit): void;
}

/** For outcomes that are the answer: whoever prepares nothing gets them unchanged. */
export function asItIs<A>(outcome: unknown): A {
  return outcome as A;
}
