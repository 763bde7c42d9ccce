/**
 * The inner port: what keeps an engine's state. Changes go in, and come out again to load another engine. Memory keeps
 * them as long as the process lives (memory/), LMDB beyond it (lmdb/). The code above does not know which it has.
 *
 * Everything that is read comes now or later: memory and LMDB return values, a database returns promises.
 */

import type {
  Change,
  KeptPost,
  KeptWindowEntry,
  MessageContent,
  OwnerId,
  Publication,
} from '../core/changes.ts';
import type { Commit } from './backend.ts';
import type { NowOrLater } from './now-or-later.ts';

/** What is read for answers: contents and texts, which no engine holds. */
export interface StoreReader {
  /** What the sender wrote, if the message is still there. Throws if it is damaged. */
  content(queue: string, sequence: number): NowOrLater<MessageContent | undefined>;

  /** Of a queue or topic. Undefined for one that is not kept. */
  windowEntries(
    owner: OwnerId,
    sequences: readonly number[],
  ): NowOrLater<readonly (KeptWindowEntry | undefined)[]>;

  archived(topic: string, sequence: number): NowOrLater<Publication | undefined>;

  post(topic: string, id: number): NowOrLater<KeptPost | undefined>;
}

/** A store with one writer, which is told to keep changes after an engine has made them (running/local-writer.ts). */
export interface Store extends StoreReader {
  /** Its name for people. */
  readonly kind: string;

  /** Takes one command's changes, in their order. */
  apply(changes: readonly Change[]): void;

  /** Keeps the current time, although nothing changed. */
  noteTime(): void;

  /** Resolves once everything applied so far is kept; undefined if it is. After a rejection with Unavailable none of it is. */
  kept(): Promise<void> | undefined;

  /**
   * Resolves with what `prepare` makes of the outcome once everything applied so far is kept. If that takes a commit,
   * `prepare` is called while the commit is in progress.
   */
  answer<O, A>(outcome: O, prepare: (outcome: O) => A): Promise<A>;

  /** Why nothing can be added at the moment. */
  unavailable(): string | undefined;

  /** While nothing can be added: whether what is there cannot be received or removed either. */
  readonly isFrozen: boolean;

  /** Whether what is kept could not be loaded again, so that not even reads can be answered. */
  readonly isIncomplete: boolean;

  /** The store's size on disk; undefined if it is not there. */
  fileBytes(): number | undefined;

  /** Everything, piece by piece, as the puts that load an engine: each queue's settings before its contents. */
  load(): Iterable<readonly Change[]> | AsyncIterable<readonly Change[]>;

  /** These queues and topics with everything applied so far, kept or not, in the same form. */
  applied(owners: ReadonlySet<OwnerId>): Iterable<readonly Change[]>;

  /** What is kept could not be loaded again: nothing is answered any more. */
  abandon(error: unknown): void;

  /** Removes everything. */
  clear(): void;

  close(): Promise<void>;
}

/** What a store asks of its writer. */
export interface StoreUser {
  /** The time to keep with each commit: a later start does not go back before it. */
  now(): number;
  /** Applied changes of these queues and topics were lost: their state is what these changes say. */
  takeBack(owners: ReadonlySet<OwnerId>, kept: Iterable<readonly Change[]>): void;
  /** A commit failed, or the disk is full: less is accepted than before. */
  suspend(): void;
  /** More is accepted again. */
  resume(): void;
  committed(commit: Commit): void;
}
