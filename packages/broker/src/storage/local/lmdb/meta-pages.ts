/**
 * Checks LMDB's two meta pages before it maps the file. LMDB trusts its file: one that was cut off, or is something else
 * altogether, would kill the process with a signal instead of giving an error.
 *
 * Pages at the end that a commit allocated and freed again are never written, so an intact file can be a little short. A
 * writer extends it: if such a page is needed after all, LMDB then finds an empty page and says so, instead of no page.
 *
 * A reader may run beside a server. A commit writes pages first and a meta page last, and a file never gets shorter; so
 * the meta pages are read before the size, and then refer to no more than is there.
 */

import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
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
  const descriptor = openSync(file, isReadOnly ? 'r' : 'r+');
  try {
    const whole = wholeSize(descriptor);
    const { size } = fstatSync(descriptor);
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
    if (size < whole.most && !isReadOnly) ftruncateSync(descriptor, whole.most);
  } finally {
    closeSync(descriptor);
  }
}

/** The size of an intact file; undefined if it is not an LMDB file. */
function wholeSize(descriptor: number): { least: number; most: number } | undefined {
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
