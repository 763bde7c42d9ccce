/**
 * The binary form of a message's content, which is a part of a record (content-pack.ts), and of its delivery state, which is a
 * record of its own. Blocks are written by block.ts; rare records are JSON.
 *
 * Most bodies are plain ASCII. Those are written as one byte per character, which is fastest to write and to read.
 */

import type { KeptDelivery, MessageAttribute, MessageContent } from '../../core/changes.ts';
import { ByteReader, type ByteWriter } from './bytes.ts';

const isPlain = 1;
const hasAttributes = 2;
const hasTraceHeader = 4;
const hasSenderId = 8;
const hasGroupId = 16;
const hasDeduplicationId = 32;

const digestBytes = 16;
/** Beyond the texts of a content: flags, digests, lengths, counts. */
const overheadBytes = 64;
const attributeOverheadBytes = 16;

/** There must be room for `contentBytesMax`; `bodyBytes` is the length of the body in UTF-8. */
export function writeContent(writer: ByteWriter, content: MessageContent, bodyBytes: number): void {
  const { body, attributes, traceHeader, senderId, groupId, deduplicationId } = content;
  writer.u8(
    (bodyBytes === body.length ? isPlain : 0) |
      (attributes.length > 0 ? hasAttributes : 0) |
      (traceHeader === undefined ? 0 : hasTraceHeader) |
      (senderId === undefined ? 0 : hasSenderId) |
      (groupId === undefined ? 0 : hasGroupId) |
      (deduplicationId === undefined ? 0 : hasDeduplicationId),
  );
  writer.hex(content.bodyMd5);
  if (attributes.length > 0) writeAttributes(writer, content);
  if (traceHeader !== undefined) writer.text(traceHeader);
  if (senderId !== undefined) writer.text(senderId);
  if (groupId !== undefined) writer.text(groupId);
  if (deduplicationId !== undefined) writer.text(deduplicationId);
  writer.raw(body, bodyBytes === body.length ? 'latin1' : 'utf8');
}

export function readContent(bytes: Buffer): MessageContent {
  const reader = new ByteReader(bytes);
  const flags = reader.u8();
  const bodyMd5 = reader.raw(digestBytes, 'hex');
  const attributesMd5 = (flags & hasAttributes) === 0 ? '' : reader.raw(digestBytes, 'hex');
  const attributes = (flags & hasAttributes) === 0 ? [] : readAttributes(reader);
  const traceHeader = (flags & hasTraceHeader) === 0 ? undefined : reader.text();
  const senderId = (flags & hasSenderId) === 0 ? undefined : reader.text();
  const groupId = (flags & hasGroupId) === 0 ? undefined : reader.text();
  const deduplicationId = (flags & hasDeduplicationId) === 0 ? undefined : reader.text();
  const body = reader.raw(reader.left, (flags & isPlain) === 0 ? 'utf8' : 'latin1');
  return {
    body,
    bodyMd5,
    attributes,
    attributesMd5,
    traceHeader,
    senderId,
    groupId,
    deduplicationId,
  };
}

/** The most bytes that `writeContent` writes. */
export function contentBytesMax(
  {
    attributes,
    traceHeader = '',
    senderId = '',
    groupId = '',
    deduplicationId = '',
  }: MessageContent,
  bodyBytes: number,
): number {
  const characters = traceHeader.length + senderId.length + groupId.length + deduplicationId.length;
  let bytes = bodyBytes + overheadBytes + 3 * characters;
  for (const { name, type, value } of attributes) {
    bytes += attributeOverheadBytes + 3 * (name.length + type.length + value.length);
  }
  return bytes;
}

function writeAttributes(writer: ByteWriter, { attributes, attributesMd5 }: MessageContent): void {
  writer.hex(attributesMd5);
  writer.u8(attributes.length);
  for (const { name, type, value } of attributes) {
    writer.text(name);
    writer.text(type);
    writer.u8(typeof value === 'string' ? 0 : 1);
    if (typeof value === 'string') writer.text(value);
    else {
      writer.u32(value.length);
      writer.copy(value);
    }
  }
}

function readAttributes(reader: ByteReader): MessageAttribute[] {
  return Array.from({ length: reader.u8() }, () => {
    const name = reader.text();
    const type = reader.text();
    const isBinary = reader.u8() === 1;
    return { name, type, value: isBinary ? reader.bytes(reader.u32()) : reader.text() };
  });
}

const deliveryBytes = 45;

export function writeDelivery(writer: ByteWriter, delivery: KeptDelivery): void {
  writer.begin(deliveryBytes);
  writeDeliveryState(writer, delivery);
}

export function readDelivery(bytes: Buffer): KeptDelivery {
  return readDeliveryState(new ByteReader(bytes));
}

/** As a part of something longer; there must be room for `deliveryBytes`. */
export function writeDeliveryState(writer: ByteWriter, delivery: KeptDelivery): void {
  writer.u32(delivery.receiveCount);
  writer.f64(delivery.firstReceivedAt);
  writer.f64(delivery.receivedAt);
  writer.f64(delivery.visibleAt);
  writer.f64(delivery.stamp);
  writer.f64(delivery.receipt);
  writer.u8(delivery.isChanged ? 1 : 0);
}

export function readDeliveryState(reader: ByteReader): KeptDelivery {
  return {
    receiveCount: reader.u32(),
    firstReceivedAt: reader.f64(),
    receivedAt: reader.f64(),
    visibleAt: reader.f64(),
    stamp: reader.f64(),
    receipt: reader.f64(),
    isChanged: reader.u8() === 1,
  };
}
