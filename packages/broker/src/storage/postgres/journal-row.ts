/**
 * The changes column of a journal row: a format byte, the batch's time, the id of the row before it, the owner's changes.
 * A row of the catalog has settings of several owners instead, each with the owner's number and version.
 */

import { type Change, catalog, type OwnerId, ownerOf } from '../../core/changes.ts';
import { ByteReader, ByteWriter } from '../records/bytes.ts';
import { ChangeWriter, readChanges } from './change-codec.ts';
import type { JournalRow } from './journal.ts';

/** The latest format that this version reads and, as long as all nodes read it (nodes.ts), writes. */
export const latestFormat = 1;

/** A later version wrote the row. */
export class UnknownFormat extends Error {
  override readonly name: string = 'UnknownFormat';
  readonly owner: OwnerId;

  constructor(owner: OwnerId, found: number, reads: number) {
    const what = owner === catalog ? 'the list of queues and topics' : owner;
    super(
      `${what} was written by a later version of OnceMQ (format ${found}; this server reads up to ${reads}): upgrade this server`,
    );
    this.owner = owner;
  }
}

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

export function writtenRow(
  head: RowHead,
  changes: readonly Change[],
  format: number = latestFormat,
): Buffer {
  const writer = new ChangeWriter();
  writer.head(format, head.now, head.previous);
  for (const change of changes) writer.add(change);
  return writer.bytes();
}

export function writtenCatalogRow(
  head: RowHead,
  entries: readonly CatalogEntry[],
  format: number = latestFormat,
): Buffer {
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
  reads: number = latestFormat,
): RowHead & { readonly changes: Iterable<Change> } {
  const reader = new ByteReader(changes);
  return { ...readHead(reader, owner, reads), changes: readChanges(reader, owner) };
}

export function readCatalogRow(
  { changes }: JournalRow,
  reads: number = latestFormat,
): RowHead & { readonly entries: readonly CatalogEntry[] } {
  const reader = new ByteReader(changes);
  const head = readHead(reader, catalog, reads);
  return { ...head, entries: JSON.parse(reader.text()) as CatalogEntry[] };
}

/** The bytes at the beginning of a row from which its time can be read. */
export const rowHeadBytes = 24;

/** When the row was written; undefined if a later version wrote it. */
export function timeOfRow(head: Buffer, reads: number = latestFormat): number | undefined {
  const reader = new ByteReader(head);
  return reader.f64() > reads ? undefined : reader.f64();
}

/** The entry that a change makes in the catalog. */
export function entryOf(change: Change, owner: { number: number; version: number }): CatalogEntry {
  return { owner: ownerOf(change), ...owner, change };
}

function readHead(reader: ByteReader, owner: OwnerId, reads: number): RowHead {
  const found = reader.f64();
  if (found > reads) throw new UnknownFormat(owner, found, reads);
  return { now: reader.f64(), previous: reader.f64() };
}
