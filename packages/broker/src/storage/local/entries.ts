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
} from '../../core/changes.ts';

export interface Entries {
  /** What a person calls it. */
  readonly kind: string;

  /** Takes one command's changes, in their order. */
  apply(changes: readonly Change[]): void;

  /** Keeps what time it is, although nothing changed. */
  noteTime(): void;

  /** When everything applied so far is kept; undefined if it is. Rejects with Unavailable, and then none of it is. */
  kept(): Promise<void> | undefined;

  /** Why nothing can be changed at the moment. */
  unavailable(): string | undefined;

  /** What the sender wrote, if the message is still there. */
  content(queue: string, sequence: number): MessageContent | undefined;

  /** Undefined for one that is not kept. */
  windowEntries(queue: string, sequences: readonly number[]): (KeptWindowEntry | undefined)[];

  readonly topics: TopicEntriesReader;

  /** What the store takes on the disk; undefined if it is not there. */
  fileBytes(): number | undefined;

  /** All entries, piece by piece, as the puts that load an engine: each queue's settings before its contents. */
  load(): Iterable<readonly Change[]>;

  /** Removes every entry. */
  clear(): void;

  close(): Promise<void>;
}

/** What can be asked for of topics. */
export interface TopicEntriesReader {
  windowEntries(topic: string, sequences: readonly number[]): (KeptWindowEntry | undefined)[];
  archived(topic: string, sequence: number): Publication | undefined;
  post(topic: string, id: number): KeptPost | undefined;
}

/** A commit that succeeded. */
export interface Commit {
  readonly records: number;
  /** Of the values; keys and what LMDB writes around them come on top. */
  readonly bytes: number;
  /** Of real time, from handing it over to its being as durable as asked for. */
  readonly ms: number;
}

/** What entries ask of the backend that uses them. */
export interface EntriesUser {
  /** The time to note with what is kept: a later start does not go behind it. */
  now(): number;
  /** Changes of these queues and topics were lost, applied though they were: their state is what these entries say. */
  takeBack(places: ReadonlySet<string>, kept: Iterable<readonly Change[]>): void;
  committed(commit: Commit): void;
  /** Changes can be kept again. */
  resume(): void;
}
