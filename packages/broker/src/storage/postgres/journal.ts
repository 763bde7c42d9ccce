/**
 * The journal that all nodes share, as a batch sees it: a transaction that locks owners (queues and topics), reads what
 * others have appended, and appends. `postgres-journal.ts` keeps it in PostgreSQL; tests have one in memory.
 *
 * Every owner has a number, and versions that count its rows. The catalog is number 0: the settings of all owners, in the
 * order in which they were changed.
 */

import type { Content } from './content-codec.ts';

export const catalogNumber = 0;

/** What one batch appended to one owner. */
export interface JournalRow {
  readonly number: number;
  readonly version: number;
  /** Of the batch; random. */
  readonly id: number;
  /** Its time, the id of the owner's row before it, and changes (journal-row.ts). */
  readonly changes: Buffer;
}

/** How far an owner's journal is known. */
export interface Known {
  readonly number: number;
  readonly version: number;
}

/** The last row of an owner, as a node knows it. */
export interface KnownRow extends Known {
  /** Of the owner. */
  readonly name: string;
  /** The row's id. */
  readonly tail: number;
}

export interface LockedOwner extends Known {
  /** The id of its last row. */
  readonly tail: number;
  /** The time of its last row. */
  readonly time: number;
  readonly isGone: boolean;
  /** Until when a receiver waits for it at some node. */
  readonly waitingUntil: number;
}

export interface LockRequest {
  readonly owners: readonly Known[];
  readonly catalog: number;
  /** Whether it waits for what others have locked; else it is left out. */
  readonly waits: boolean;
}

export interface Begun {
  readonly locked: readonly LockedOwner[];
  /** The rows of the owners asked for, locked or not, and of the catalog, beyond the known versions and in order. */
  readonly rows: readonly JournalRow[];
  /** The catalog's version and the id of its last row, before its rows were read. */
  readonly catalog: { readonly version: number; readonly tail: number };
  /** The database's time or, if nodes share a virtual or manual clock, that clock's. */
  readonly now: number;
}

/** What a batch appends to one owner. */
export interface Appended extends JournalRow {
  /** Of the owner. */
  readonly name: string;
  /** The id of its row before this one. */
  readonly previous: number;
  readonly isNew: boolean;
  readonly isGone: boolean;
  readonly contents: readonly Content[];
  /** When something of it falls due; undefined for never. */
  readonly dueAt: number | undefined;
  /** What a queue holds now, for those who look at many queues (held.ts). */
  readonly held: string | undefined;
}

/** An owner that has something due, by the database. */
export interface Due extends Known {
  readonly dueAt: number;
}

/** What is due at an owner and a version of it after all. */
export interface StillDue extends Known, Pick<Appended, 'dueAt' | 'held'> {}

/** An owner's state up to a version: records, and the rows that are not in them. */
export interface LoadedState {
  readonly rows: readonly JournalRow[];
  readonly version: number;
  readonly tail: number;
  /** The catalog's version at the same moment. */
  readonly catalogVersion: number;
}

export interface Loaded extends LoadedState {
  /** The records in order, a part at a time; to be read to the end, or left with `return`. */
  readonly records: AsyncIterable<readonly Buffer[]>;
}

export interface Journal {
  begin(request: LockRequest): Promise<Begun>;
  /** Rows of further owners; in the transaction that was begun, if there is one. */
  rowsOf(owners: readonly Known[]): Promise<readonly JournalRow[]>;
  /** Resolves once it is committed. Rejects with Unavailable if it is not, or nobody knows. */
  commit(appended: readonly Appended[], now: number): Promise<void>;
  rollback(): Promise<void>;
  /** Rejects with the reason if nothing can be appended; on new connections, since settings may have changed meanwhile. */
  tryAppend(): Promise<void>;
  /** Those whose row is not the one of that version any more, with the owner's version now. Outside of any transaction. */
  lost(known: readonly KnownRow[]): Promise<readonly Known[]>;
  /** Outside of any transaction. Undefined if there is no such owner any more. */
  load(number: number): Promise<Loaded | undefined>;
}
