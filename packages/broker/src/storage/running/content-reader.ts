/**
 * What the senders of messages wrote, as it is read for deliveries. A message whose content cannot be read must fail nobody
 * but the receiver that it is for, and lose nobody else's.
 */

import type { MessageContent } from '../../core/changes.ts';
import type { Delivered, Received } from '../backend.ts';

type Found = Omit<Delivered, 'content'>;

export class ContentReader {
  /** Undefined if the message has none; throws if it is damaged. */
  readonly #read: (queue: string, sequence: number) => MessageContent | undefined;
  readonly #onUnreadable: (error: unknown) => void;

  constructor(
    read: (queue: string, sequence: number) => MessageContent | undefined,
    onUnreadable: (error: unknown) => void,
  ) {
    this.#read = read;
    this.#onUnreadable = onUnreadable;
  }

  /** The messages with their contents. Those that cannot be read are left out; throws if there are no others. */
  delivered(queue: string, messages: readonly Found[]): Received {
    try {
      return { ok: true, messages: messages.map((message) => this.#whole(queue, message)) };
    } catch (problem) {
      const readable = this.#readableOf(queue, messages);
      if (readable.length === 0) throw problem;
      this.#onUnreadable(problem);
      return { ok: true, messages: readable };
    }
  }

  of(queue: string, sequence: number): MessageContent {
    let reason = 'it has no content';
    let cause: unknown;
    try {
      const content = this.#read(queue, sequence);
      if (content !== undefined) return content;
    } catch (error) {
      cause = error;
      reason = (error as Error).message;
    }
    throw new Error(`message ${sequence} of ${queue} cannot be read: ${reason}`, { cause });
  }

  /** Undefined if it is no longer in the queue, or cannot be read. */
  ifReadable(queue: string, sequence: number): MessageContent | undefined {
    try {
      return this.#read(queue, sequence);
    } catch (error) {
      this.#onUnreadable(error);
      return undefined;
    }
  }

  /**
   * A message that cannot be read stays in flight until its timeout, and so do those of its group after it, which may not
   * overtake it. The others are delivered: it must not take them along to a dead-letter queue.
   */
  #readableOf(queue: string, messages: readonly Found[]): Delivered[] {
    const heldUp = new Set<string>();
    return messages.flatMap((message) => {
      const { groupId } = message;
      if (groupId !== undefined && heldUp.has(groupId)) return [];
      try {
        return [this.#whole(queue, message)];
      } catch {
        if (groupId !== undefined) heldUp.add(groupId);
        return [];
      }
    });
  }

  #whole(queue: string, message: Found): Delivered {
    return withContent(message, this.of(queue, message.sequence));
  }
}

/** Field by field: with a spread, V8 gives each message a hidden class of its own, and every access to it is slow. */
function withContent(message: Found, content: MessageContent): Delivered {
  return {
    messageId: message.messageId,
    sequence: message.sequence,
    sentAt: message.sentAt,
    receiveCount: message.receiveCount,
    firstReceivedAt: message.firstReceivedAt,
    groupId: message.groupId,
    deduplicationId: message.deduplicationId,
    deadLetterSource: message.deadLetterSource,
    receiptHandle: message.receiptHandle,
    content,
  };
}
