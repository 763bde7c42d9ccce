/**
 * A writer decides how commands become durable changes. The local writer applies a command at once, and the store commits its
 * changes in groups. A writer over a database locks, absorbs what others have written, applies, appends and commits.
 * Everything above it (long polls, expiry, HTTP deliveries, queries) is the same for both.
 *
 * Commands are applied in the order of their calls, at once or later. `kept` and `answer` refer to everything applied so far.
 */

import type { Change, OwnerId } from '../../core/changes.ts';
import type { Command, QueueDescription } from '../../core/commands.ts';
import type { Applied } from '../../core/engine.ts';
import type { Cluster, Commit, Losses } from '../backend.ts';
import type { NowOrLater } from '../now-or-later.ts';

/** What can be kept at the moment. */
export interface Keeping {
  /** Why nothing can be added; undefined if something can. */
  unavailable(): string | undefined;
  /** Whether stored messages cannot be received or removed either. */
  readonly isFrozen: boolean;
  /** Whether not even reads can be answered. */
  readonly isIncomplete: boolean;
}

export interface Writer extends Keeping {
  /** The name of its store, as shown to users. */
  readonly kind: string;

  /** Applies one command. If that fails, the command leaves nothing behind. `now` is the clock's time. */
  step<C extends Command>(command: C, now: number): NowOrLater<Applied<C['type']>>;

  /** Resolves once everything applied so far is kept; undefined if it is. */
  kept(): Promise<void> | undefined;

  /** Resolves with what `prepare` makes of the outcome once everything applied so far is kept. */
  answer<O, A>(outcome: O, prepare: (outcome: O) => A): Promise<A>;

  /** Keeps the current time, although nothing changed: a call has moved it by so much. */
  noteTime(movedMs: number): void;

  /** When a tick has something to do; undefined if nothing is due, ever. */
  nextDueAt(): number | undefined;

  /** Whether something that expired by `since` is still where the command looks. */
  isBehind(command: Command, since: number): boolean;

  /** What the store has lost although it was committed. Only where others keep it. */
  losses?(): Losses;

  /** Who shares the store. Only where others write too. */
  cluster?(): Cluster;

  /** What queues hold, if the store says it without loading them. Only where others write too. */
  held?(queues: readonly OwnerId[]): Promise<ReadonlyMap<OwnerId, QueueDescription>>;

  /** No tick does the work of this queue or topic before then. */
  postpone(owner: OwnerId, until: number): void;

  /** A receiver waits for something to come to this queue. Only where others write too. */
  awaited?(queue: OwnerId, until: number): void;

  /** Brings the clock to where others have moved it. Only where others write too. */
  readTime?(): Promise<void>;

  /** Makes known here what falls due until then, before time is moved. Only where others write too. */
  loadDue?(until: number): Promise<void>;

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
  /** Others have made these changes, and they are kept. */
  absorbed(changes: readonly Change[]): void;
  /** Others have written to these queues, or to any; or time has moved. */
  stirred(queues: readonly OwnerId[] | 'all'): void;
  /** Less is accepted than before (`Keeping`). */
  suspend(): void;
  /** More is accepted again. */
  resume(): void;
  committed(commit: Commit): void;
}

/** For callers without `prepare`: the outcome is the answer. */
export function asItIs<A>(outcome: unknown): A {
  return outcome as A;
}
