/**
 * The changes column of a journal row: a format byte, the batch's time, the id of the row before it, the owner's changes.
 * A row of the catalog has settings of several owners instead, each with the owner's number and version.
 */

import { type Change, catalog, type OwnerId, ownerOf } from '../../core/changes.ts';
import { ByteReader, ByteWriter, DamagedError } from '../records/bytes.ts';
import { ChangeWriter, readChanges } from './change-codec.ts';
import type { JournalRow } from './journal.ts';

const format = 1;

export interface RowHead {
  readonly now: number;
  readonly previous: number;
}

/** A setting that was changed by the row of this version of its owner. */
export interface CatalogEntry {
  readonly owner: OwnerId;
  /** 0 for a name that is only taken. */
  readonly number: number;
  readonly version: number;
  readonly change: Change;
}

export function writtenRow(head: RowHead, changes: readonly Change[]): Buffer {
  const writer = new ChangeWriter();
  writer.head(format, head.now, head.previous);
  for (const change of changes) writer.add(change);
  return writer.bytes();
}

export function writtenCatalogRow(head: RowHead, entries: readonly CatalogEntry[]): Buffer {
  const text = JSON.stringify(entries);
  const writer = new ByteWriter(64);
  writer.begin(64 + 3 * text.length);
  for (const number of [format, head.now, head.previous]) writer.f64(number);
  writer.text(text);
  return Buffer.from(writer.record());
}

/** What the row says; the changes are read as they are taken. */
export function readRow(
  { changes }: JournalRow,
  owner: OwnerId,
): RowHead & { readonly changes: Iterable<Change> } {
  const reader = new ByteReader(changes);
  return { ...readHead(reader, owner), changes: readChanges(reader, owner) };
}

export function readCatalogRow({ changes }: JournalRow): RowHead & {
  readonly entries: readonly CatalogEntry[];
} {
  const reader = new ByteReader(changes);
  const head = readHead(reader, catalog);
  return { ...head, entries: JSON.parse(reader.text()) as CatalogEntry[] };
}

/** The entry that a change makes in the catalog. */
export function entryOf(change: Change, owner: { number: number; version: number }): CatalogEntry {
  return { owner: ownerOf(change), ...owner, change };
}

function readHead(reader: ByteReader, owner: OwnerId): RowHead {
  const found = reader.f64();
  if (found !== format) throw new DamagedError(`${owner} has a journal row of format ${found}`);
  return { now: reader.f64(), previous: reader.f64() };
}
