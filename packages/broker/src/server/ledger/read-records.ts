/**
 * Reads a ledger from its oldest record to its newest, a block at a time, so that hundreds of megabytes take seconds and
 * little memory. Most blocks hold nothing of interest, so `mayHold` tests a block as bytes first, and only those that may
 * match are parsed.
 *
 * Anything that cannot be parsed as a record is skipped: a line that is still being written, or a fragment left by a kill.
 * So is a segment that the server removes meanwhile to make room.
 */

import { open } from 'node:fs/promises';
import type { LedgerRecord } from './record.ts';
import { segmentsIn } from './segments.ts';

const blockBytes = 256 * 1024;
const newline = 10;

export async function* readRecords(
  directory: string,
  mayHold: (block: Buffer) => boolean,
): AsyncGenerator<LedgerRecord> {
  for (const path of await segmentsIn(directory)) {
    for await (const block of wholeLines(path)) {
      if (mayHold(block)) yield* recordsIn(block);
    }
  }
}

/** The file in blocks of whole lines, without an unfinished line at the end. Nothing if the file no longer exists. */
async function* wholeLines(path: string): AsyncGenerator<Buffer> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return;
  let rest: Buffer = Buffer.alloc(0);
  for await (const read of file.createReadStream({ highWaterMark: blockBytes })) {
    const block = rest.length === 0 ? (read as Buffer) : Buffer.concat([rest, read as Buffer]);
    const end = block.lastIndexOf(newline) + 1;
    rest = block.subarray(end);
    if (end > 0) yield block.subarray(0, end);
  }
}

function* recordsIn(block: Buffer): Generator<LedgerRecord> {
  for (const line of block.toString('utf8').split('\n')) {
    const record = line === '' ? undefined : recordOf(line);
    if (record !== undefined) yield record;
  }
}

function recordOf(line: string): LedgerRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as LedgerRecord) : undefined;
  } catch {
    return undefined;
  }
}
