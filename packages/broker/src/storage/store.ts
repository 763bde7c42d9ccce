/**
 * What keeps the entries behind an engine: changes go in, and come out again to load another engine. Memory keeps them
 * as long as the process lives (memory-entries.ts), LMDB beyond it (lmdb/lmdb-entries.ts); the backend above does not
 * know which it has.
 */

import type {
  Change,
  KeptPost,
  KeptWindowEntry,
  MessageContent,
  Publication,
} from '../core/changes.ts';

export interface Store {
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
   * `prepare` is called while the disk works.
   */
  answer<O, A>(outcome: O, prepare: (outcome: O) => A): Promise<A>;

  /** Why nothing can be added at the moment. */
  unavailable(): string | undefined;

  /** While nothing can be added: whether what is there cannot be received or removed either. */
  readonly isFrozen: boolean;

  /** Whether what is kept could not be loaded again, so that not even reads can be answered. */
  readonly isIncomplete: boolean;

  /** What the sender wrote, if the message is still there. */
  content(queue: string, sequence: number): MessageContent | undefined;

  /** Undefined for one that is not kept. */
  windowEntries(queue: string, sequences: readonly number[]): (KeptWindowEntry | undefined)[];

  readonly topics: TopicReader;

  /** The store's size on disk; undefined if it is not there. */
  fileBytes(): number | undefined;

  /** All entries, piece by piece, as the puts that load an engine: each queue's settings before its contents. */
  load(): Iterable<readonly Change[]>;

  /** The entries of these queues and topics (`ownerOf`) with everything applied so far, kept or not, in the same form. */
  applied(owners: ReadonlySet<string>): Iterable<readonly Change[]>;

  /** What is kept could not be loaded again: nothing is answered any more. */
  abandon(error: unknown): void;

  /** Removes every entry. */
  clear(): void;

  close(): Promise<void>;
}

/** What can be read of topics. */
export interface TopicReader {
  windowEntries(topic: string, sequences: readonly number[]): (KeptWindowEntry | undefined)[];
  archived(topic: string, sequence: number): Publication | undefined;
  post(topic: string, id: number): KeptPost | undefined;
}

/** A commit that succeeded. */
export interface Commit {
  readonly records: number;
  /** Of the values; keys and LMDB's own overhead come on top. */
  readonly bytes: number;
  /** In real time, from handing it over until it is as durable as configured. */
  readonly ms: number;
}

/** What entries ask of the backend that uses them. */
export interface StoreUser {
  /** The time to keep with each commit: a later start does not go back before it. */
  now(): number;
  /** Applied changes of these queues and topics were lost: their state is what these entries say. */
  takeBack(owners: ReadonlySet<string>, kept: Iterable<readonly Change[]>): void;
  /** A commit failed: it is frozen. */
  suspend(): void;
  committed(commit: Commit): void;
  /** It is no longer frozen, or no longer unavailable. */
  resume(): void;
}
