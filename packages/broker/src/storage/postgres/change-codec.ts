/**
 * The bytes of changes, in the journal and in records: a tag, an id, and what the kind of change has. What is written for
 * every message is binary; everything rare is JSON. The queue or topic is not among them, since a journal row and a record
 * belong to one.
 *
 * What a sender wrote is not here but beside it (content-codec.ts): an engine needs none of it, and a node that catches up
 * does not read it.
 */

import {
  type Change,
  type ContentFrom,
  type KeptDelivery,
  type KeptMessage,
  type KeptWindowEntry,
  type OwnerId,
  type Publication,
  topicIn,
  type WindowDigests,
} from '../../core/changes.ts';
import { isOf } from '../record-families.ts';
import { type ByteReader, ByteWriter, DamagedError } from '../records/bytes.ts';
import { readDeliveryState, writeDeliveryState } from '../records/delivery-record.ts';

const tags = {
  json: 0,
  counter: 1,
  message: 2,
  messageGone: 3,
  delivery: 4,
  deliveryGone: 5,
  window: 6,
  windowGone: 7,
} as const;

/** In place of a content that is kept beside the change. */
const beside: ContentFrom = { from: { queue: '', sequence: 0 } };

const overheadBytes = 160;

/** Changes of one queue or topic. */
export class ChangeWriter {
  readonly #writer: ByteWriter = new ByteWriter(4096);
  #isEmpty = true;

  constructor() {
    this.#writer.begin(overheadBytes);
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Writes numbers before the first change. */
  head(...numbers: readonly number[]): void {
    for (const number of numbers) this.#writer.f64(number);
  }

  add(change: Change): void {
    this.#isEmpty = false;
    const writer = this.#writer;
    if (isOf('message', change)) {
      if (change.value === null) this.#gone(tags.messageGone, change.id);
      else writeMessage(writer, change.id, change.value);
    } else if (isOf('window', change)) {
      if (change.value === null) this.#gone(tags.windowGone, change.id);
      else writeWindowEntry(writer, change.id, change.value, change.digests);
    } else if (isOf('counter', change)) this.#gone(tags.counter, change.value);
    else if (change.kind === 'delivery') {
      if (change.value === null) this.#gone(tags.deliveryGone, change.id);
      else writeDelivery(writer, change.id, change.value);
    } else writeJson(writer, withoutContent(change));
  }

  /** Everything that was added, copied out. */
  bytes(): Buffer {
    return Buffer.from(this.#writer.record());
  }

  #gone(tag: number, id: number): void {
    this.#writer.goOn(overheadBytes);
    this.#writer.u8(tag);
    this.#writer.f64(id);
  }
}

/** The changes of this queue or topic up to the end of the bytes. */
export function* readChanges(reader: ByteReader, owner: OwnerId): Generator<Change> {
  const topic = topicIn(owner);
  const named = topic === undefined ? { queue: owner } : { topic };
  const change = (kind: string, rest: object): Change => ({ kind, ...named, ...rest }) as Change;
  const [counter, window] =
    topic === undefined ? ['counter', 'window'] : ['topic-counter', 'topic-window'];
  while (reader.left > 0) {
    const tag = reader.u8();
    switch (tag) {
      case tags.json:
        yield { ...(JSON.parse(reader.text()) as object), ...named } as Change;
        break;
      case tags.counter:
        yield change(counter, { value: reader.f64() });
        break;
      case tags.message:
        yield change('message', { id: reader.f64(), value: readMessage(reader) });
        break;
      case tags.messageGone:
        yield change('message', { id: reader.f64(), value: null });
        break;
      case tags.delivery:
        yield change('delivery', { id: reader.f64(), value: readDeliveryState(reader) });
        break;
      case tags.deliveryGone:
        yield change('delivery', { id: reader.f64(), value: null });
        break;
      case tags.window:
        yield change(window, { id: reader.f64(), ...readWindowEntry(reader) });
        break;
      case tags.windowGone:
        yield change(window, { id: reader.f64(), value: null });
        break;
      default:
        throw new DamagedError(`${owner} has a change of the unknown kind ${tag}`);
    }
  }
}

/** What topics hold of a publication or a call; the texts are beside it. */
function withoutContent(change: Change): Change {
  if (change.kind === 'archived' && change.value !== null) {
    const { publishedAt } = change.value;
    return { ...change, value: { publishedAt } as Publication };
  }
  if (change.kind !== 'post' || change.value === null) return change;
  const { subscription, publication, baseUrl } = change.value;
  const named = publication && ({ messageId: publication.messageId } as Publication);
  return { ...change, value: { subscription, publication: named, baseUrl } };
}

function writeJson(writer: ByteWriter, change: Change): void {
  const { queue: _, topic: __, ...rest } = change as Change & { queue?: string; topic?: string };
  const text = JSON.stringify(rest);
  writer.goOn(overheadBytes + 3 * text.length);
  writer.u8(tags.json);
  writer.text(text);
}

const hasMessageId = 1;
const hasGroupId = 2;
const hasDeduplicationId = 4;
const hasSource = 8;
const hasReceivedElsewhere = 16;

function writeMessage(writer: ByteWriter, id: number, message: KeptMessage): void {
  const { messageId, groupId, deduplicationId, deadLetterSource, receivedElsewhere } = message;
  const texts = [messageId, groupId, deduplicationId, deadLetterSource];
  writer.goOn(texts.reduce((sum, text = '') => sum + 3 * text.length, overheadBytes));
  writer.u8(tags.message);
  writer.f64(id);
  writer.f64(message.sentAt);
  writer.u32(message.delayMs);
  writer.u8(
    (messageId === undefined ? 0 : hasMessageId) |
      (groupId === undefined ? 0 : hasGroupId) |
      (deduplicationId === undefined ? 0 : hasDeduplicationId) |
      (deadLetterSource === undefined ? 0 : hasSource) |
      (receivedElsewhere === undefined ? 0 : hasReceivedElsewhere),
  );
  for (const text of texts) if (text !== undefined) writer.text(text);
  if (receivedElsewhere !== undefined) writer.u32(receivedElsewhere);
}

function readMessage(reader: ByteReader): KeptMessage {
  const sentAt = reader.f64();
  const delayMs = reader.u32();
  const flags = reader.u8();
  return {
    sentAt,
    delayMs,
    messageId: (flags & hasMessageId) === 0 ? undefined : reader.text(),
    groupId: (flags & hasGroupId) === 0 ? undefined : reader.text(),
    deduplicationId: (flags & hasDeduplicationId) === 0 ? undefined : reader.text(),
    deadLetterSource: (flags & hasSource) === 0 ? undefined : reader.text(),
    receivedElsewhere: (flags & hasReceivedElsewhere) === 0 ? undefined : reader.u32(),
    content: beside,
  };
}

function writeDelivery(writer: ByteWriter, id: number, delivery: KeptDelivery): void {
  writer.goOn(overheadBytes);
  writer.u8(tags.delivery);
  writer.f64(id);
  writeDeliveryState(writer, delivery);
}

const isContent = 1;
const hasAttributes = 2;
const hasBodyHash = 4;
const hasDigests = 8;

const md5Bytes = 16;

function writeWindowEntry(
  writer: ByteWriter,
  id: number,
  entry: KeptWindowEntry,
  digests: WindowDigests | undefined,
): void {
  const { deduplicationId, groupId, bodyHash } = entry;
  const chars = deduplicationId.length + groupId.length + (bodyHash?.length ?? 0);
  writer.goOn(overheadBytes + 3 * chars);
  writer.u8(tags.window);
  writer.f64(id);
  writer.f64(entry.acceptedAt);
  writer.u8(
    (entry.source === 'content' ? isContent : 0) |
      (entry.attributesMd5 === '' ? 0 : hasAttributes) |
      (bodyHash === undefined ? 0 : hasBodyHash) |
      (digests === undefined ? 0 : hasDigests),
  );
  writer.text(deduplicationId);
  writer.text(groupId);
  writer.hex(entry.bodyMd5);
  if (entry.attributesMd5 !== '') writer.hex(entry.attributesMd5);
  if (bodyHash !== undefined) writer.text(bodyHash);
  if (digests === undefined) return;
  for (const name of digestNames) writer.i32(digests[name]);
}

const digestNames: readonly (keyof WindowDigests)[] = [
  'id0',
  'id1',
  'id2',
  'id3',
  'group0',
  'group1',
  'group2',
  'body',
  'attributes',
];

function readWindowEntry(reader: ByteReader): {
  readonly value: KeptWindowEntry;
  readonly digests?: WindowDigests;
} {
  const acceptedAt = reader.f64();
  const flags = reader.u8();
  const value: KeptWindowEntry = {
    deduplicationId: reader.text(),
    groupId: reader.text(),
    acceptedAt,
    source: (flags & isContent) === 0 ? 'explicit' : 'content',
    bodyMd5: reader.raw(md5Bytes, 'hex'),
    attributesMd5: (flags & hasAttributes) === 0 ? '' : reader.raw(md5Bytes, 'hex'),
    bodyHash: (flags & hasBodyHash) === 0 ? undefined : reader.text(),
  };
  if ((flags & hasDigests) === 0) return { value };
  // Field by field, so that all of them have one hidden class.
  const digests: WindowDigests = {
    id0: reader.i32(),
    id1: reader.i32(),
    id2: reader.i32(),
    id3: reader.i32(),
    group0: reader.i32(),
    group1: reader.i32(),
    group2: reader.i32(),
    body: reader.i32(),
    attributes: reader.i32(),
  };
  return { value, digests };
}
