/**
 * A look at LMDB's two meta pages before it maps the file. LMDB trusts its file: one that was cut off, or is something
 * else altogether, would end the process with a signal where a word is due.
 *
 * Pages at the end that a commit gave out and took back are never written, so a whole file can end a little early. It is
 * filled up: if they are missed after all, LMDB then finds an empty page and says so, instead of no page.
 */

import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { damaged } from './data-error.ts';

const magic = 0xbeefc0de;

// Where the fields stand in a meta page.
const magicAt = 24;
const pageSizeAt = 48;
const lastPageAt = 144;
const transactionAt = 152;
const metaBytes = 160;

const unwrittenPagesMax = 16;

export function checkMetaPages(file: string): void {
  if (!existsSync(file)) return;
  const descriptor = openSync(file, 'r+');
  try {
    const { size } = fstatSync(descriptor);
    // A server that was killed before its first commit leaves an empty file.
    if (size === 0) return;
    const whole = wholeSize(descriptor);
    if (whole === undefined) throw damaged(dirname(file), 'data.mdb is not a data file');
    if (size < whole.least) {
      const text = `data.mdb has ${size} bytes and should have ${whole.most}: it was cut off`;
      throw damaged(dirname(file), text);
    }
    if (size < whole.most) ftruncateSync(descriptor, whole.most);
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
