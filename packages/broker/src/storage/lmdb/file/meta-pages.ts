/**
 * Checks LMDB's two meta pages before LMDB maps the file. LMDB trusts its file: a truncated file, or one that is no LMDB file
 * at all, would crash the process instead of giving an error.
 *
 * Pages at the end that a commit allocated and freed again are never written, so an intact file can be slightly short. A
 * writer extends it; if such a page is needed after all, LMDB then reports an empty page instead of crashing on a missing
 * one. The file is extended only under the lock, since another process could be extending it too, and before any other page
 * is read. LMDB has mapped the file by then, which makes no difference.
 *
 * A reader may run beside a server. A commit writes pages first and a meta page last, and the file never shrinks. So the meta
 * pages are read before the size, and cannot refer to pages beyond it.
 */

import { closeSync, existsSync, fstatSync, openSync, readSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { DataError, damaged } from './data-error.ts';

const magic = 0xbeefc0de;

// The offsets of the fields in a meta page.
const magicAt = 24;
const pageSizeAt = 48;
const lastPageAt = 144;
const transactionAt = 152;
const metaBytes = 160;

const unwrittenPagesMax = 16;

export function checkMetaPages(file: string, isReadOnly: boolean): void {
  if (!existsSync(file)) return;
  const { size, whole } = sizesOf(file);
  if (size === 0) {
    // A server that was killed before its first commit leaves an empty file.
    if (!isReadOnly) return;
    throw new DataError(`There is no server data in ${dirname(file)}: data.mdb is empty.`);
  }
  if (whole === undefined) throw damaged(dirname(file), 'data.mdb is not an LMDB file');
  if (size < whole.least) {
    const text = `data.mdb was cut off: it has ${size} bytes instead of ${whole.most}`;
    throw damaged(dirname(file), text);
  }
}

/** Only for the process that has the lock. */
export function extendToWhole(file: string): void {
  const { size, whole } = sizesOf(file);
  if (whole !== undefined && size < whole.most) truncateSync(file, whole.most);
}

interface WholeSize {
  readonly least: number;
  readonly most: number;
}

/** `whole` is undefined if it is not an LMDB file. */
function sizesOf(file: string): { size: number; whole: WholeSize | undefined } {
  const descriptor = openSync(file, 'r');
  try {
    const whole = wholeSize(descriptor);
    return { size: fstatSync(descriptor).size, whole };
  } finally {
    closeSync(descriptor);
  }
}

/** The size of an intact file; undefined if it is not an LMDB file. */
function wholeSize(descriptor: number): WholeSize | undefined {
  const first = metaAt(descriptor, 0);
  const pageSize = first?.readUInt32LE(pageSizeAt) ?? 0;
  const isPower = pageSize >= 512 && (pageSize & (pageSize - 1)) === 0;
  const second = isPower ? metaAt(descriptor, pageSize) : undefined;
  if (first === undefined || second === undefined) return undefined;
  const isFirst = first.readBigUInt64LE(transactionAt) > second.readBigUInt64LE(transactionAt);
  const pages = Number((isFirst ? first : second).readBigUInt64LE(lastPageAt)) + 1;
  return { least: (pages - unwrittenPagesMax) * pageSize, most: pages * pageSize };
}

function metaAt(descriptor: number, position: number): Buffer | undefined {
  const page = Buffer.alloc(metaBytes);
  const read = readSync(descriptor, page, 0, metaBytes, position);
  return read === metaBytes && page.readUInt32LE(magicAt) === magic ? page : undefined;
}
