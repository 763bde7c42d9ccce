/**
 * Reads the contents of messages for their delivery. An unreadable message may fail only the receive that asked for it.
 */

import type { MessageContent } from '../../core/changes.ts';
import { type Delivered, type Received, Unavailable } from '../backend.ts';
import { allOf, andThen, type NowOrLater } from '../now-or-later.ts';
import type { StoreReader } from '../store.ts';

type Found = Omit<Delivered, 'content'>;

/** Why a message cannot be delivered. */
class UnreadableContent extends Error {
  override readonly name: string = 'Unreadable';
}

/** If the store does not answer now, nothing is wrong with the message. */
function failureOf(problem: UnreadableContent): unknown {
  return problem.cause instanceof Unavailable ? problem.cause : problem;
}

export class ContentReader {
  readonly #store: () => StoreReader;
  readonly #onUnreadable: (error: unknown) => void;

  constructor(store: () => StoreReader, onUnreadable: (error: unknown) => void) {
    this.#store = store;
    this.#onUnreadable = onUnreadable;
  }

  /** The messages with their contents. Those that cannot be read are left out; throws if there are no others. */
  delivered(queue: string, messages: readonly Found[]): NowOrLater<Received> {
    const contents = messages.map(({ sequence }) => this.#attempt(queue, sequence));
    return andThen(allOf(contents), (found) => this.#joined(messages, found));
  }

  /** Throws if it cannot be read. */
  of(queue: string, sequence: number): NowOrLater<MessageContent> {
    return andThen(this.#attempt(queue, sequence), (content) => {
      if (content instanceof UnreadableContent) throw failureOf(content);
      return content;
    });
  }

  /** Undefined if it is no longer in the queue, or cannot be read. */
  ifReadable(queue: string, sequence: number): NowOrLater<MessageContent | undefined> {
    const unreadable = (error: unknown): undefined => {
      this.#onUnreadable(error);
      return undefined;
    };
    try {
      const content = this.#store().content(queue, sequence);
      return content instanceof Promise ? content.catch(unreadable) : content;
    } catch (error) {
      return unreadable(error);
    }
  }

  #attempt(queue: string, sequence: number): NowOrLater<MessageContent | UnreadableContent> {
    const unreadable = (reason: string, cause?: unknown): UnreadableContent =>
      new UnreadableContent(`message ${sequence} of ${queue} cannot be read: ${reason}`, { cause });
    const failed = (error: unknown): UnreadableContent =>
      unreadable((error as Error).message, error);
    try {
      const content = this.#store().content(queue, sequence);
      if (!(content instanceof Promise)) return content ?? unreadable('it has no content');
      return content.then((found) => found ?? unreadable('it has no content'), failed);
    } catch (error) {
      return failed(error);
    }
  }

  /**
   * A message that cannot be read stays in flight until its timeout, and so do those of its group after it, which may not
   * overtake it. The others are delivered: it must not take them along to a dead-letter queue.
   */
  #joined(
    messages: readonly Found[],
    contents: readonly (MessageContent | UnreadableContent)[],
  ): Received {
    const delivered: Delivered[] = [];
    const heldUp = new Set<string | undefined>();
    let problem: UnreadableContent | undefined;
    for (const [index, message] of messages.entries()) {
      const content = contents[index] as MessageContent | UnreadableContent;
      if (content instanceof UnreadableContent) {
        problem ??= content;
        if (message.groupId !== undefined) heldUp.add(message.groupId);
      } else if (!heldUp.has(message.groupId)) {
        delivered.push(withContent(message, content));
      }
    }
    if (problem !== undefined) {
      if (delivered.length === 0) throw failureOf(problem);
      this.#onUnreadable(problem);
    }
    return { ok: true, messages: delivered };
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
