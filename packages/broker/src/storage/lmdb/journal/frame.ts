/**
 * A frame is one commit in the journal. It is complete or it does not count.
 *
 *   checksum of all that follows (4 bytes), length of the records (4), run (8), number (8), number of the frame before (8),
 *   and the records: length of the key (2), length of the value (4; all bits set for a removal), key, value with its
 *   checksum (seal.ts)
 *
 * A run is one process's use of the data directory; numbers rise within it. Each frame names its predecessor. So neither the
 * leftovers of an earlier use of the file nor a frame whose write failed, once another has followed, counts as a frame.
 */

import type { Writes } from '../file/lmdb-file.ts';
import { checksumOf } from '../records/checksum.ts';
import { sealBytes } from '../records/seal.ts';

export interface FrameHead {
  readonly run: number;
  readonly number: number;
  /** The number of the frame before it. */
  readonly after: number;
}

/** Where in its bytes a frame has its records, and which it is. */
export interface Frame extends FrameHead {
  readonly start: number;
  readonly end: number;
}

const lengthAt = 4;
export const runAt = 8;
const numberAt = 16;
const afterAt = 24;
export const headBytes = 32;

const valueLengthAt = 2;
const recordHeadBytes = 6;
const removal = 0xffffffff;

/** Writes a frame from `start` on; undefined if there is not enough room in the bytes. */
export function writeFrame(
  bytes: Buffer,
  start: number,
  head: FrameHead,
  writes: Writes,
): Frame | undefined {
  let at = start + headBytes;
  writes((key, value) => {
    const valueAt = at + recordHeadBytes + key.length;
    const end = valueAt + (value === null ? 0 : value.length + sealBytes);
    if (end <= bytes.length) {
      bytes.writeUInt16LE(key.length, at);
      bytes.writeUInt32LE(value === null ? removal : end - valueAt, at + valueLengthAt);
      bytes.set(key, at + recordHeadBytes);
      if (value !== null) {
        bytes.set(value, valueAt);
        const keyAndValue = bytes.subarray(at + recordHeadBytes, end - sealBytes);
        bytes.writeUInt32LE(checksumOf(keyAndValue), end - sealBytes);
      }
    }
    at = end;
  });
  if (at > bytes.length) return undefined;
  bytes.writeUInt32LE(at - start - headBytes, start + lengthAt);
  bytes.writeDoubleLE(head.run, start + runAt);
  bytes.writeDoubleLE(head.number, start + numberAt);
  bytes.writeDoubleLE(head.after, start + afterAt);
  bytes.writeUInt32LE(checksumOf(bytes.subarray(start + lengthAt, at)), start);
  return { ...head, start: start + headBytes, end: at };
}

/** The frames that the bytes begin with, up to the first that is not whole or does not follow the one before it. */
export function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let frame = frameAt(bytes, 0); frame !== undefined; frame = frameAt(bytes, frame.end)) {
    const before = frames.at(-1);
    const isNext = frame.run === before?.run && frame.after === before.number;
    if (before !== undefined && !isNext) break;
    frames.push(frame);
  }
  return frames;
}

/** The frame that begins here; undefined if there is none that is whole. */
export function frameAt(bytes: Buffer, at: number): Frame | undefined {
  const start = at + headBytes;
  if (start > bytes.length) return undefined;
  const end = start + bytes.readUInt32LE(at + lengthAt);
  if (end > bytes.length) return undefined;
  if (checksumOf(bytes.subarray(at + lengthAt, end)) !== bytes.readUInt32LE(at)) return undefined;
  return { ...headAt(bytes, at), start, end };
}

/** What the bytes say here, if they are a frame's; there must be `headBytes` of them. */
export function headAt(bytes: Buffer, at: number): FrameHead {
  return {
    run: bytes.readDoubleLE(at + runAt),
    number: bytes.readDoubleLE(at + numberAt),
    after: bytes.readDoubleLE(at + afterAt),
  };
}

/** Where each record begins. */
export function* recordsIn(bytes: Buffer, { start, end }: Frame): Generator<number> {
  for (
    let at = start;
    at < end;
    at += recordHeadBytes + keyLength(bytes, at) + valueLength(bytes, at)
  ) {
    yield at;
  }
}

export function keyAt(bytes: Buffer, record: number): Buffer {
  const start = record + recordHeadBytes;
  return bytes.subarray(start, start + keyLength(bytes, record));
}

/** The same as a text with a character for each byte, which sorts as LMDB sorts keys. */
export function keyTextAt(bytes: Buffer, record: number): string {
  const start = record + recordHeadBytes;
  return bytes.toString('latin1', start, start + keyLength(bytes, record));
}

/** Null if the record is removed. */
export function valueAt(bytes: Buffer, record: number): Buffer | null {
  if (bytes.readUInt32LE(record + valueLengthAt) === removal) return null;
  const start = record + recordHeadBytes + keyLength(bytes, record);
  return bytes.subarray(start, start + valueLength(bytes, record));
}

function keyLength(bytes: Buffer, record: number): number {
  return bytes.readUInt16LE(record);
}

function valueLength(bytes: Buffer, record: number): number {
  const length = bytes.readUInt32LE(record + valueLengthAt);
  return length === removal ? 0 : length;
}
