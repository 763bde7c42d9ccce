/**
 * The inner port: a store keeps the state of an engine. Changes go in, and come out again to load another engine. The memory
 * store (memory/) keeps them for the life of the process, the LMDB store (lmdb/) on disk. The code above does not know which
 * one it uses.
 *
 * Every read returns a value or a promise (now-or-later.ts): memory and LMDB answer at once, a database later.
 */

import type {
  Change,
  KeptPost,
  KeptWindowEntry,
  MessageContent,
  OwnerId,
  OwnerPut,
  Publication,
  QueueSize,
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

/** A store with one writer, which passes on the changes after an engine has made them (running/local-writer.ts). */
export interface Store extends StoreReader {
  /** Its name, as shown to users. */
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

  /** While nothing can be added: whether stored messages cannot be received or removed either. */
  readonly isFrozen: boolean;

  /** Whether the kept state could not be loaded again, so that not even reads can be answered. */
  readonly isIncomplete: boolean;

  /** The store's size on disk; undefined if it is not there. */
  fileBytes(): number | undefined;

  /** Everything, piece by piece, as the puts that load an engine: each queue's settings before its contents. */
  load(): Iterable<readonly Change[]> | AsyncIterable<readonly Change[]>;

  /** These queues and topics with everything applied so far, kept or not, in the same form. */
  applied(owners: ReadonlySet<OwnerId>): Iterable<readonly Change[]>;

  /** The kept state could not be loaded again: nothing is answered until a restart. */
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
  /** Window entries of this queue or topic that were accepted at this time or before have expired: they need not be loaded. */
  windowExpiredUntil(owner: OwnerPut): number;
  /** The changes that are loaded next fill this queue: room can be made for them at once. */
  reserve(queue: string, size: QueueSize): void;
  /** A commit failed, or the disk is full: less is accepted than before. */
  suspend(): void;
  /** More is accepted again. */
  resume(): void;
  committed(commit: Commit): void;
}
