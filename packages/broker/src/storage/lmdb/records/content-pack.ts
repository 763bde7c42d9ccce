/**
 * A pack is one record with the contents of several messages. Contents that arrive at one queue in one commit, directly one
 * after the other, share a pack of about twenty small messages, because a put costs as much as everything else that is done
 * to keep a small message. A pack fits on one page. Its messages belong to one block, which knows where each pack begins
 * (block.ts). The pack is removed with the last of its messages.
 *
 * In format 1 each content is a record of its own, without the mark.
 */

// Imported, as in every file on this path: the global `Buffer` is a getter, and took a third of the time to encode a message.
import { Buffer } from 'node:buffer';
import type { MessageContent } from '../../../core/changes.ts';
import { ByteReader, type ByteWriter, DamagedError } from '../../records/bytes.ts';
import { contentBytesMax, writeContent } from '../../records/delivery-record.ts';
import { slotOf } from './block.ts';
import { sealBytes } from './seal.ts';

/** The first byte; that of a content has flags below it. */
const packMark = 0x80;

/**
 * What fits on one of LMDB's pages. Records from 2,016 bytes on have pages of their own: one page is always found, several
 * must be side by side. A content that is longer is a pack of one.
 */
export const packBytesMax: number = 4_072 - sealBytes;

const markBytes = 1;
/** Its slot in the block, and its length. */
const itemHeadBytes = 5;

/** The length of the content's body, which is counted once; a moved content comes as the bytes that were kept of it. */
export function bodyBytesOf(content: MessageContent | Buffer): number {
  return Buffer.isBuffer(content) ? content.length : Buffer.byteLength(content.body);
}

/** The most bytes that a content takes in a pack, or as a pack. */
export function itemBytesMax(content: MessageContent | Buffer, bodyBytes: number): number {
  const bytes = Buffer.isBuffer(content) ? bodyBytes : contentBytesMax(content, bodyBytes);
  return markBytes + itemHeadBytes + bytes;
}

export function beginPack(writer: ByteWriter, bytesMax: number): void {
  writer.begin(bytesMax);
  writer.u8(packMark);
}

/** There must be room for it. */
export function addToPack(
  writer: ByteWriter,
  sequence: number,
  content: MessageContent | Buffer,
  bodyBytes: number,
): void {
  writer.u8(slotOf(sequence));
  const lengthAt = writer.end;
  writer.u32(0);
  if (Buffer.isBuffer(content)) writer.copy(content);
  else writeContent(writer, content, bodyBytes);
  writer.setU32(lengthAt, writer.end - lengthAt - 4);
}

/** The part of the record that is the content of this message. */
export function contentIn(record: Buffer, sequence: number): Buffer {
  const wanted = slotOf(sequence);
  let found: Buffer | undefined;
  eachItem(record, sequence, (slot, start, end) => {
    if (slot === wanted) found = record.subarray(start, end);
    return found === undefined;
  });
  if (found !== undefined) return found;
  throw new DamagedError(`a record lacks the content of message ${sequence}`);
}

/** The slots of all messages whose content is in the record; `key` is the record's. */
export function slotsIn(record: Buffer, key: number): number[] {
  const slots: number[] = [];
  eachItem(record, key, (slot) => slots.push(slot) > 0);
  return slots;
}

/** Ends when `visit` returns false. A record of format 1 has one content, that of the message asked for. */
function eachItem(
  record: Buffer,
  sequence: number,
  visit: (slot: number, start: number, end: number) => boolean,
): void {
  const isPack = ((record[0] ?? 0) & packMark) !== 0;
  if (!isPack) {
    visit(slotOf(sequence), 0, record.length);
    return;
  }
  const reader = new ByteReader(record);
  reader.skip(markBytes);
  let goesOn = true;
  while (goesOn && reader.left > 0) {
    const slot = reader.u8();
    const length = reader.u32();
    const start = reader.at;
    reader.skip(length);
    goesOn = visit(slot, start, start + length);
  }
}
