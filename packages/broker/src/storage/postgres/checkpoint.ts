/**
 * Turns journal rows into records: the records that are to be written and removed so that they are the owner's state after
 * these rows. A pure function; what was written and removed within the rows leaves no trace.
 */

import { type Change, catalog, isSetting, type OwnerId } from '../../core/changes.ts';
import { type ChangeOf, isOf, rowFamilies, rowKinds } from '../record-families.ts';
import { ChangeWriter } from './change-codec.ts';
import type { Content, ContentKind } from './content-codec.ts';
import { isContentKind } from './content-codec.ts';
import type { JournalRow } from './journal.ts';
import { latestFormat, readCatalogRow, readRow } from './journal-row.ts';
import {
  contentByte,
  type Family,
  familyByte,
  type KeyRange,
  keyOf,
  rangeOf,
  settingKey,
  settingsRange,
} from './record-keys.ts';

export interface Checkpoint {
  /** Removed first. */
  readonly ranges: readonly KeyRange[];
  readonly removed: readonly Buffer[];
  readonly written: readonly { readonly key: Buffer; readonly value: Buffer }[];
}

/** Rows of one owner, with the contents beside them, in order. */
export interface RowWithContents {
  readonly row: JournalRow;
  readonly contents: Iterable<Content>;
}

export function checkpointOf(
  owner: OwnerId,
  rows: readonly RowWithContents[],
  reads: number = latestFormat,
): Checkpoint {
  const records = new Records();
  if (owner === catalog) for (const { row } of rows) addSettings(records, row, reads);
  else for (const row of rows) addRow(records, owner, row, reads);
  return records;
}

class Records implements Checkpoint {
  /** By key, a character for each byte; null for one that is removed. */
  readonly #values: Map<string, Buffer | null> = new Map();
  readonly #ranges: Map<string, KeyRange> = new Map();

  get ranges(): KeyRange[] {
    return [...this.#ranges.values()];
  }

  get removed(): Buffer[] {
    return [...this.#values].filter(([, value]) => value === null).map(([key]) => bytesOf(key));
  }

  get written(): { key: Buffer; value: Buffer }[] {
    return [...this.#values].flatMap(([key, value]) =>
      value === null ? [] : [{ key: bytesOf(key), value }],
    );
  }

  set(key: Buffer, value: Buffer | null): void {
    this.#values.set(key.toString('latin1'), value);
  }

  clear(range: KeyRange): void {
    const [start, end] = [range.start.toString('latin1'), range.end.toString('latin1')];
    this.#ranges.set(start, range);
    for (const key of this.#values.keys()) {
      if (key >= start && key < end) this.#values.delete(key);
    }
  }
}

function bytesOf(key: string): Buffer {
  return Buffer.from(key, 'latin1');
}

function addRow(
  records: Records,
  owner: OwnerId,
  { row, contents }: RowWithContents,
  reads: number,
): void {
  const besides = new Map<string, Buffer>();
  for (const { kind, id, bytes } of contents) besides.set(`${kind} ${id}`, bytes);
  for (const change of readRow(row, owner, reads).changes) {
    // Settings are the catalog's.
    if (isSetting(change) || isOf('settings', change) || isOf('name', change)) continue;
    if (isOf('cleared', change)) {
      for (const family of clearedBy(change)) records.clear(rangeOf(family));
      continue;
    }
    const id = isOf('counter', change) ? 0 : change.id;
    const key = keyOf(familyByte(familyOf(change)), id);
    if (change.value === null) records.set(key, null);
    else records.set(key, written(change));
    if (!isContentKind(change.kind)) continue;
    const content = change.value === null ? null : besides.get(`${change.kind} ${id}`);
    if (content !== undefined) records.set(keyOf(contentByte(change.kind), id), content);
  }
}

function familyOf(change: ChangeOf<'counter' | 'message' | 'window' | 'row'>): Family {
  if (isOf('counter', change)) return 'counter';
  if (isOf('window', change)) return 'window';
  return isOf('message', change) ? 'message' : change.kind;
}

function written(change: Change): Buffer {
  const writer = new ChangeWriter();
  writer.add(change);
  return writer.bytes();
}

function addSettings(records: Records, row: JournalRow, reads: number): void {
  for (const entry of readCatalogRow(row, reads).entries) {
    const { number, change } = entry;
    const value = 'value' in change ? change.value : null;
    const isOwner = change.kind === 'queue' || change.kind === 'topic';
    if (isOwner && value === null) records.clear(settingsRange(number));
    else {
      const bytes = value === null ? null : Buffer.from(JSON.stringify(entry), 'utf8');
      records.set(settingKey(number, change), bytes);
    }
  }
}

/** The families that such a change empties. */
function clearedBy({ what }: ChangeOf<'cleared'>): number[] {
  if (what === 'window') return [familyByte('window')];
  const cause = what === 'archive' ? 'archive' : 'purge';
  const rows = rowKinds.filter((kind) => rowFamilies[kind].clearedBy === cause);
  const content: ContentKind = what === 'archive' ? 'archived' : 'message';
  const others = what === 'archive' ? [] : [familyByte('message'), familyByte('window')];
  return [...others, ...rows.map(familyByte), contentByte(content)];
}
