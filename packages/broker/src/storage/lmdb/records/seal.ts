/**
 * The seal is the checksum at the end of each record: a CRC-32 of its key and value. It detects a changed byte and a record
 * under a wrong key; LMDB's pages have no checksums. It is added when a record enters the journal or LMDB's file and compared
 * whenever the record is read, in one file (environment.ts); no other code sees it.
 */

import type { Put } from '../file/lmdb-file.ts';
import { checksumOf } from './checksum.ts';

export const sealBytes = 4;

/** A copy of the value with its checksum. */
export function sealed(key: Buffer, value: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(value.length + sealBytes);
  bytes.set(value);
  bytes.writeUInt32LE(checksumOf(value, checksumOf(key)), value.length);
  return bytes;
}

/** Seals what is put; null, a removal, stays what it is. */
export function sealing(put: Put): Put {
  return (key, value) => put(key, value && sealed(key, value));
}

/** The value without its checksum; undefined if it is damaged. */
export function opened(key: Buffer, bytes: Buffer): Buffer | undefined {
  const end = bytes.length - sealBytes;
  if (end < 0) return undefined;
  const value = bytes.subarray(0, end);
  return checksumOf(value, checksumOf(key)) === bytes.readUInt32LE(end) ? value : undefined;
}
