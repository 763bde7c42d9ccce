/**
 * A look at LMDB's two meta pages before it maps the file. LMDB trusts its file: one that was cut off, or is something
 * else altogether, would end the process with a signal where a word is due.
 *
 * Pages at the end that a commit gave out and took back are never written, so a whole file can end a little early. It is
 * filled up by who may write: if they are missed after all, LMDB then finds an empty page and says so, instead of no
 * page.
 *
 * Who only reads may do so beside a running server. Its commits write pages first and a meta page last, and a file never
 * gets shorter; so the meta pages are read before the size, and then ask for no more than is there.
 */

import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { DataError, damaged } from './data-error.ts';

const magic = 0xbeefc0de;

// Where the fields stand in a meta page.
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
      throw new DataError(`${dirname(file)} holds no data of a server: data.mdb is empty.`);
    }
    if (whole === undefined) throw damaged(dirname(file), 'data.mdb is not a data file');
    if (size < whole.least) {
      const text = `data.mdb has ${size} bytes and should have ${whole.most}: it was cut off`;
      throw damaged(dirname(file), text);
    }
    if (size < whole.most && !isReadOnly) ftruncateSync(descriptor, whole.most);
  } finally {
    closeSync(descriptor);
  }
}

/** How long the file is if nothing is missing; undefined if it is none of LMDB's. */
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
