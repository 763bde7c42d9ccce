/**
 * A block is one record with all messages and window entries that a queue accepted under 64 neighboring sequences. A start
 * reads blocks instead of messages, about thirty times fewer records, and a send costs a fraction of a put. A block only
 * grows, and only while it is the last one of its queue; afterward it stays unchanged until everything in it is removed. A
 * separate record has one bit for each removed message.
 *
 * In a block, each message is followed by its window entry, which leaves out what the two have in common.
 */

import type {
  ContentFrom,
  KeptMessage,
  KeptWindowEntry,
  OwnerId,
  WindowDigests,
} from '../../../core/changes.ts';
import { groupDigest, type WindowDigester } from '../../../core/deduplication/window-digests.ts';
import { ByteReader, ByteWriter, DamagedError } from '../../records/bytes.ts';

export const sequencesPerBlock = 64;

export function blockOf(sequence: number): number {
  return Math.floor(sequence / sequencesPerBlock);
}

export function slotOf(sequence: number): number {
  return sequence % sequencesPerBlock;
}

// The kinds of record, in the low two bits of their first byte; their flags follow.
const messageKind = 1;
/** Up to format 2: with the SHA-256 of its id, which is no longer read. */
const sha256WindowKind = 2;
const windowKind = 3;
const kindMask = 3;

const hasDelay = 4;
const wasMoved = 8;
/** Its content is in the same record as that of the message before it (content-pack.ts). */
const sharesRecord = 16;

const isContent = 4;
/** The id is 64 hexadecimal digits, kept as 32 bytes. */
const isHexId = 8;
const hasBodyMd5 = 16;
const hasAttributesMd5 = 32;
const hasBodyHash = 64;
/** Group and time are those of the message record before it. */
const isAsMessage = 128;

const md5Bytes = 16;
const sha256Bytes = 32;
const hexIdLength = 64;
const hexId = /^[0-9a-f]{64}$/;

/** The part of a message's record that only moved ones have, as JSON. */
type Moved = Pick<
  KeptMessage,
  'messageId' | 'deduplicationId' | 'deadLetterSource' | 'receivedElsewhere'
>;

/** The smallest initial size of a block's buffer. It doubles as needed, so a queue with few messages takes little. */
const blockBytesMin = 2048;
/** Room that is asked for before an entry is written, and for blocks that become a little longer than the one before. */
const blockBytesSpare = 1024;

interface BlockBeginning {
  readonly bytes?: Buffer | undefined;
  readonly likelyBytes?: number | undefined;
}

/** The block of a queue that is still growing. */
export class GrowingBlock {
  readonly number: number;
  readonly #writer: ByteWriter;
  /** The last message, whose window entry may follow. */
  #lastSequence = -1;
  #lastSentAt = 0;
  #lastGroupId: string | undefined;

  /** Begins with these bytes, or with nothing; `likelyBytes` is how long it may become. */
  constructor(number: number, { bytes, likelyBytes = 0 }: BlockBeginning = {}) {
    this.number = number;
    this.#writer = new ByteWriter(Math.max(blockBytesMin, likelyBytes + blockBytesSpare));
    if (bytes === undefined) return;
    this.#writer.goOn(bytes.length);
    this.#writer.copy(bytes);
  }

  get length(): number {
    return this.#writer.end - this.#writer.start;
  }

  /** Its record so far. Bytes that were handed out are never overwritten. */
  bytes(): Buffer {
    return this.#writer.record();
  }

  /** `isFirst`: its content is the first in its record. */
  addMessage(sequence: number, message: KeptMessage, isFirst: boolean): void {
    this.#lastSequence = sequence;
    this.#lastSentAt = message.sentAt;
    this.#lastGroupId = message.groupId;
    const { groupId = '', delayMs } = message;
    const { messageId, deduplicationId, deadLetterSource, receivedElsewhere } = message;
    const isMoved = (messageId ?? deduplicationId ?? deadLetterSource) !== undefined;
    const moved: Moved = { messageId, deduplicationId, deadLetterSource, receivedElsewhere };
    const movedText = isMoved ? JSON.stringify(moved) : '';
    const writer = this.#writer;
    writer.goOn(64 + 3 * (groupId.length + movedText.length));
    writer.u8(
      messageKind |
        (delayMs > 0 ? hasDelay : 0) |
        (isMoved ? wasMoved : 0) |
        (isFirst ? 0 : sharesRecord),
    );
    writer.u8(slotOf(sequence));
    writer.f64(message.sentAt);
    writer.text(groupId);
    if (delayMs > 0) writer.u32(delayMs);
    if (isMoved) writer.text(movedText);
  }

  addWindowEntry(sequence: number, entry: KeptWindowEntry, digests: WindowDigests): void {
    const { deduplicationId, groupId, bodyMd5, attributesMd5, bodyHash } = entry;
    const isShared =
      this.#lastSequence === sequence &&
      this.#lastGroupId === groupId &&
      this.#lastSentAt === entry.acceptedAt;
    const isHex = deduplicationId.length === hexIdLength && hexId.test(deduplicationId);
    const writer = this.#writer;
    writer.goOn(256 + 3 * (deduplicationId.length + groupId.length));
    writer.u8(
      windowKind |
        (entry.source === 'content' ? isContent : 0) |
        (isHex ? isHexId : 0) |
        (bodyMd5 === '' ? 0 : hasBodyMd5) |
        (attributesMd5 === '' ? 0 : hasAttributesMd5) |
        (bodyHash === undefined ? 0 : hasBodyHash) |
        (isShared ? isAsMessage : 0),
    );
    writer.u8(slotOf(sequence));
    if (!isShared) {
      writer.f64(entry.acceptedAt);
      writer.text(groupId);
    }
    writer.i32(digests.id0);
    writer.i32(digests.id1);
    writer.i32(digests.id2);
    writer.i32(digests.id3);
    if (bodyMd5 !== '') writer.hex(bodyMd5);
    if (attributesMd5 !== '') writer.hex(attributesMd5);
    if (bodyHash !== undefined) writer.hex(bodyHash);
    if (isHex) writer.hex(deduplicationId);
    else writer.text(deduplicationId);
  }
}

/** The queue or topic of a block. */
export interface BlockOwner {
  readonly id: OwnerId;
  readonly digester: WindowDigester;
}

/** A block's record, and where it belongs. */
export interface BlockRecord {
  readonly owner: BlockOwner;
  readonly number: number;
  readonly bytes: Buffer;
}

/** Gets the records of a block, in the order in which they were added. */
export interface BlockVisitor {
  /** `isFirst`: its content is the first in its record. */
  message(sequence: number, message: KeptMessage, isFirst: boolean): void;
  windowEntry(sequence: number, entry: LoadedWindowEntry, digests: WindowDigests): void;
}

export function readBlock(
  { owner, number, bytes }: BlockRecord,
  groups: GroupTexts,
  visitor: BlockVisitor,
): void {
  const reader = new ByteReader(bytes);
  let sequence = -1;
  let message: KeptMessage | undefined;
  while (reader.left > 0) {
    const flags = reader.u8();
    const at = number * sequencesPerBlock + reader.u8();
    const kind = flags & kindMask;
    if (kind === messageKind && at > sequence) {
      sequence = at;
      message = readMessage(reader, flags, groups, { queue: owner.id, sequence: at });
      visitor.message(at, message, (flags & sharesRecord) === 0);
    } else if ((kind === windowKind || kind === sha256WindowKind) && at >= sequence) {
      const isShared = (flags & isAsMessage) !== 0;
      if (isShared && at !== sequence) throw new DamagedError('a window entry has no message');
      sequence = at;
      const acceptedAt = isShared ? (message as KeptMessage).sentAt : reader.f64();
      const groupId = isShared ? (message?.groupId as string) : groups.read(reader);
      // Also right if the entry shares the group of its message: that group was read last.
      const { group0, group1, group2 } = groups.digest;
      const id0 = reader.i32();
      const id1 = reader.i32();
      const id2 = reader.i32();
      const id3 = reader.i32();
      const entry = new LoadedWindowEntry({ flags, acceptedAt, groupId }, reader);
      const { body, attributes } = entry;
      const digests =
        kind === windowKind
          ? { id0, id1, id2, id3, group0, group1, group2, body, attributes }
          : owner.digester.of(entry);
      visitor.windowEntry(at, entry, digests);
    } else {
      throw new DamagedError(`a block contains a record of unexpected kind ${kind}`);
    }
  }
}

/** All messages have the same fields, so that an engine that takes millions of them sees one shape. */
function readMessage(
  reader: ByteReader,
  flags: number,
  groups: GroupTexts,
  from: ContentFrom['from'],
): KeptMessage {
  const sentAt = reader.f64();
  const text = groups.read(reader);
  const groupId = text === '' ? undefined : text;
  const delayMs = (flags & hasDelay) === 0 ? 0 : reader.u32();
  const moved = (flags & wasMoved) === 0 ? unmoved : (JSON.parse(reader.text()) as Moved);
  const { messageId, deduplicationId, deadLetterSource, receivedElsewhere } = moved;
  return {
    messageId,
    sentAt,
    delayMs,
    groupId,
    deduplicationId,
    deadLetterSource,
    receivedElsewhere,
    content: { from },
  };
}

const unmoved: Moved = {};

/** A window entry whose texts are decoded only on access; loading an engine does not access them. */
export class LoadedWindowEntry implements KeptWindowEntry {
  readonly groupId: string;
  readonly acceptedAt: number;
  /** The first four bytes of the digests: what an engine holds of them. */
  readonly body: number;
  readonly attributes: number;
  readonly bodyHash: string | undefined;
  readonly #flags: number;
  readonly #bytes: Buffer;
  readonly #bodyMd5At: number;
  readonly #attributesMd5At: number;
  readonly #idAt: number;
  readonly #idLength: number;

  constructor(
    { flags, acceptedAt, groupId }: { flags: number; acceptedAt: number; groupId: string },
    reader: ByteReader,
  ) {
    this.#flags = flags;
    this.#bytes = reader.source;
    this.groupId = groupId;
    this.acceptedAt = acceptedAt;
    this.#bodyMd5At = reader.at;
    this.body = (flags & hasBodyMd5) === 0 ? 0 : reader.i32be();
    if ((flags & hasBodyMd5) !== 0) reader.skip(md5Bytes - 4);
    this.#attributesMd5At = reader.at;
    this.attributes = (flags & hasAttributesMd5) === 0 ? 0 : reader.i32be();
    if ((flags & hasAttributesMd5) !== 0) reader.skip(md5Bytes - 4);
    this.bodyHash = (flags & hasBodyHash) === 0 ? undefined : reader.raw(sha256Bytes, 'hex');
    this.#idLength = (flags & isHexId) === 0 ? reader.u32() : sha256Bytes;
    this.#idAt = reader.at;
    reader.skip(this.#idLength);
  }

  get source(): 'content' | 'explicit' {
    return (this.#flags & isContent) === 0 ? 'explicit' : 'content';
  }

  get deduplicationId(): string {
    const encoding = (this.#flags & isHexId) === 0 ? 'utf8' : 'hex';
    return this.#bytes.toString(encoding, this.#idAt, this.#idAt + this.#idLength);
  }

  get bodyMd5(): string {
    const length = (this.#flags & hasBodyMd5) === 0 ? 0 : md5Bytes;
    return this.#bytes.toString('hex', this.#bodyMd5At, this.#bodyMd5At + length);
  }

  get attributesMd5(): string {
    const length = (this.#flags & hasAttributesMd5) === 0 ? 0 : md5Bytes;
    return this.#bytes.toString('hex', this.#attributesMd5At, this.#attributesMd5At + length);
  }

  /** A copy with all its texts, independent of the record that it was read from. */
  whole(): KeptWindowEntry {
    const { deduplicationId, groupId, acceptedAt, source, bodyMd5, attributesMd5, bodyHash } = this;
    return { deduplicationId, groupId, acceptedAt, source, bodyMd5, attributesMd5, bodyHash };
  }
}

const groupSlots = 8192;

type GroupDigest = ReturnType<typeof groupDigest>;

/** Interns group ids as they are read: a recent one gives the same string again, without decoding it. */
export class GroupTexts {
  readonly #texts: string[] = new Array<string>(groupSlots).fill('');
  readonly #digests: GroupDigest[] = new Array<GroupDigest>(groupSlots).fill(groupDigest(''));
  /** Of the text that was read last. */
  digest: GroupDigest = groupDigest('');

  read(reader: ByteReader): string {
    const length = reader.u32();
    const at = reader.at;
    reader.skip(length);
    const bytes = reader.source;
    let hash = length;
    for (let index = at; index < at + length; index += 1) {
      hash = Math.imul(hash ^ (bytes[index] as number), 0x01000193);
    }
    const slot = (hash ^ (hash >>> 15)) & (groupSlots - 1);
    const known = this.#texts[slot] as string;
    if (known.length === length && isText(known, bytes, at)) {
      this.digest = this.#digests[slot] as GroupDigest;
      return known;
    }
    const text = bytes.toString('utf8', at, at + length);
    this.digest = groupDigest(text);
    this.#texts[slot] = text;
    this.#digests[slot] = this.digest;
    return text;
  }
}

function isText(text: string, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) !== bytes[at + index]) return false;
  }
  return true;
}
