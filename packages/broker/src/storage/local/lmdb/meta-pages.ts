/**
 * A look at LMDB's two meta pages before it maps the file. LMDB trusts its file: one that was cut off, or is something
 * else altogether, would end the process with a signal where a word is due.
 */

import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { damaged } from './data-error.ts';

const magic = 0xbeefc0de;

// Where the fields stand in a meta page.
const magicAt = 24;
const pageSizeAt = 48;
const lastPageAt = 144;
const transactionAt = 152;
const metaBytes = 160;

/** Pages at the end that a commit gave out and took back are never written, so a whole file can end a little early. */
const unwrittenPagesMax = 16;

export function checkMetaPages(file: string): void {
  if (!existsSync(file)) return;
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    // A server that was killed before its first commit leaves an empty file.
    const wrong = size === 0 ? undefined : wrongIn(descriptor, size);
    if (wrong !== undefined) throw damaged(dirname(file), wrong);
  } finally {
    closeSync(descriptor);
  }
}

function wrongIn(descriptor: number, size: number): string | undefined {
  const first = metaAt(descriptor, 0);
  const pageSize = first?.readUInt32LE(pageSizeAt) ?? 0;
  const isPower = pageSize >= 512 && (pageSize & (pageSize - 1)) === 0;
  const second = isPower ? metaAt(descriptor, pageSize) : undefined;
  if (first === undefined || second === undefined) return 'data.mdb is not a data file';
  const isFirst = first.readBigUInt64LE(transactionAt) > second.readBigUInt64LE(transactionAt);
  const pages = Number((isFirst ? first : second).readBigUInt64LE(lastPageAt)) + 1;
  return size < (pages - unwrittenPagesMax) * pageSize
    ? `data.mdb has ${size} bytes and should have ${pages * pageSize}: it was cut off`
    : undefined;
}

function metaAt(descriptor: number, position: number): Buffer | undefined {
  const page = Buffer.alloc(metaBytes);
  const read = readSync(descriptor, page, 0, metaBytes, position);
  return read === metaBytes && page.readUInt32LE(magicAt) === magic ? page : undefined;
}
