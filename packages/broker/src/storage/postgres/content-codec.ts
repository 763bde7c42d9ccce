/**
 * The bytes of what senders wrote: messages, archived publications and calls of endpoints that are still to be made. They
 * stand beside the changes of a journal row, so that a node that catches up can leave them, and become records of their own.
 */

import { Buffer } from 'node:buffer';
import type { Change, KeptPost, MessageContent, Publication } from '../../core/changes.ts';
import { ByteReader, ByteWriter } from '../records/bytes.ts';
import { contentBytesMax, readContent, writeContent } from '../records/delivery-record.ts';
import { jsonIn, jsonOf } from '../records/json-record.ts';

export type ContentKind = 'message' | 'archived' | 'post';

/** One content, by the kind and the id of its change. */
export interface Content {
  readonly kind: ContentKind;
  readonly id: number;
  readonly bytes: Buffer;
}

export function isContentKind(kind: Change['kind']): kind is ContentKind {
  return kind === 'message' || kind === 'archived' || kind === 'post';
}

export const contentBytes = {
  message: (content: MessageContent): Buffer => {
    const bodyBytes = Buffer.byteLength(content.body);
    const writer = new ByteWriter(contentBytesMax(content, bodyBytes));
    writer.begin(0);
    writeContent(writer, content, bodyBytes);
    return writer.record();
  },
  archived: (publication: Publication): Buffer => jsonOf(publication),
  post: (post: KeptPost): Buffer => jsonOf(post),
} as const;

export function messageIn(bytes: Buffer): MessageContent {
  return readContent(bytes);
}

export function publicationIn(bytes: Buffer): Publication {
  return jsonIn<Publication>(bytes, 'publication');
}

export function postIn(bytes: Buffer): KeptPost {
  return jsonIn<KeptPost>(bytes, 'post');
}

const kinds: readonly ContentKind[] = ['message', 'archived', 'post'];
const headBytes = 13;

/** All contents of a journal row. */
export function joinedContents(contents: readonly Content[]): Buffer {
  const length = contents.reduce((sum, { bytes }) => sum + headBytes + bytes.length, 0);
  const writer = new ByteWriter(Math.max(length, 1));
  writer.begin(length);
  for (const { kind, id, bytes } of contents) {
    writer.u8(kinds.indexOf(kind));
    writer.f64(id);
    writer.u32(bytes.length);
    writer.copy(bytes);
  }
  return writer.record();
}

export function* contentsIn(joined: Buffer): Generator<Content> {
  const reader = new ByteReader(joined);
  while (reader.left > 0) {
    const kind = kinds[reader.u8()] as ContentKind;
    const id = reader.f64();
    const length = reader.u32();
    const { at } = reader;
    reader.skip(length);
    yield { kind, id, bytes: joined.subarray(at, at + length) };
  }
}
