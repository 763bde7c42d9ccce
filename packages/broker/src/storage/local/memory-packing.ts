/**
 * How memory mode takes messages and window entries apart (by-sequence.ts): those that nearly all are, without
 * attributes, trace header, or a past in another queue. The others stay objects.
 */

import type { KeptMessage, KeptWindowEntry, MessageContent } from '../../core/changes.ts';
import type { Packing } from './by-sequence.ts';

export interface ResolvedMessage extends KeptMessage {
  readonly content: MessageContent;
}

const noAttributes: MessageContent['attributes'] = [];

export const messagePacking: Packing<ResolvedMessage> = {
  texts: 6,
  numbers: 2,

  pack(message, { texts, numbers }, textAt, numberAt) {
    const { content } = message;
    const isPlain =
      content.attributes.length === 0 &&
      content.traceHeader === undefined &&
      message.messageId === undefined &&
      message.deduplicationId === undefined &&
      message.deadLetterSource === undefined &&
      message.receivedElsewhere === undefined;
    if (!isPlain) return false;
    texts[textAt] = content.body;
    texts[textAt + 1] = content.bodyMd5;
    texts[textAt + 2] = content.deduplicationId;
    texts[textAt + 3] = content.senderId;
    texts[textAt + 4] = content.groupId;
    texts[textAt + 5] = message.groupId;
    numbers[numberAt] = message.sentAt;
    numbers[numberAt + 1] = message.delayMs;
    return true;
  },

  unpack({ texts, numbers }, textAt, numberAt) {
    return {
      sentAt: numbers[numberAt] as number,
      delayMs: numbers[numberAt + 1] as number,
      groupId: texts[textAt + 5],
      content: {
        body: texts[textAt] as string,
        bodyMd5: texts[textAt + 1] as string,
        attributes: noAttributes,
        attributesMd5: '',
        traceHeader: undefined,
        senderId: texts[textAt + 3],
        groupId: texts[textAt + 4],
        deduplicationId: texts[textAt + 2],
      },
    };
  },
};

export const windowPacking: Packing<KeptWindowEntry> = {
  texts: 4,
  numbers: 1,

  pack(entry, { texts, numbers }, textAt, numberAt) {
    if (entry.attributesMd5 !== '' || entry.bodyHash !== undefined) return false;
    texts[textAt] = entry.deduplicationId;
    texts[textAt + 1] = entry.groupId;
    texts[textAt + 2] = entry.bodyMd5;
    texts[textAt + 3] = entry.source;
    numbers[numberAt] = entry.acceptedAt;
    return true;
  },

  unpack({ texts, numbers }, textAt, numberAt) {
    return {
      deduplicationId: texts[textAt] as string,
      groupId: texts[textAt + 1] as string,
      acceptedAt: numbers[numberAt] as number,
      source: texts[textAt + 3] as KeptWindowEntry['source'],
      bodyMd5: texts[textAt + 2] as string,
      attributesMd5: '',
      bodyHash: undefined,
    };
  },
};
