/**
 * The latest suppressed duplicates of each queue and topic, for the explain call and the console. A reader of the event
 * stream. Bounded; remembered only for the life of the process. The window itself is durable, this history is not.
 *
 * For the latest suppressed sends to queues it also remembers the content of the duplicate and of its original, since both
 * may be received and deleted before anybody asks. The original is read only if the two differ; otherwise one content serves
 * for both.
 */

import { type MessageContent, type OwnerId, topicOwner } from '../../core/changes.ts';
import { detached } from '../../core/detached.ts';
import type { DuplicateEvent, DuplicatePublicationEvent, Event } from '../../core/events.ts';
import {
  type RememberedContent,
  type RememberedSend,
  rememberedBodyCharsMax,
  type SuppressedSend,
} from '../backend.ts';
import { andThen, type NowOrLater } from '../now-or-later.ts';

/** Undefined for a message that is no longer in the queue. */
export type ContentOf = (queue: string, sequence: number) => NowOrLater<MessageContent | undefined>;

const perOwnerMax = 1000;
/** Of all contents together. */
const contentBytesMax = 8 * 1024 * 1024;

interface OwnersSends {
  readonly sends: SuppressedSend[];
  /** How many came before these. */
  forgotten: number;
}

interface SuppressedContents {
  readonly content: RememberedContent;
  readonly original: RememberedContent | undefined;
  readonly bytes: number;
}

const none: OwnersSends = { sends: [], forgotten: 0 };

export class SuppressedSends {
  readonly #contentOf: ContentOf;
  readonly #byOwner: Map<OwnerId, OwnersSends> = new Map();
  /** Oldest first, in order of insertion. */
  readonly #contents: Map<SuppressedSend, SuppressedContents> = new Map();
  #contentBytes = 0;

  constructor(contentOf: ContentOf) {
    this.#contentOf = contentOf;
  }

  note(event: Event): void {
    const owner = 'topic' in event ? topicOwner(event.topic) : event.queue;
    if (event.type === 'duplicate' || event.type === 'duplicate-publication') {
      const remembered = this.#byOwner.get(owner) ?? { sends: [], forgotten: 0 };
      this.#byOwner.set(owner, remembered);
      const { sends } = remembered;
      const send = withoutContent(event);
      sends.push(send);
      if (event.type === 'duplicate') this.#remember(send, event);
      // Drops half of a list at a time, so that a full list costs no more per send.
      if (sends.length > perOwnerMax * 2) {
        for (const forgotten of sends.splice(0, perOwnerMax)) this.#forget(forgotten);
        remembered.forgotten += perOwnerMax;
      }
    } else if (forgetting.has(event.type)) {
      for (const forgotten of this.#byOwner.get(owner)?.sends ?? []) this.#forget(forgotten);
      this.#byOwner.delete(owner);
    }
  }

  /** The suppressed sends whose original has this sequence, oldest first. */
  of(owner: OwnerId, sequence: number): SuppressedSend[] {
    const { sends } = this.#byOwner.get(owner) ?? none;
    return sends.filter(({ original }) => original.sequence === sequence);
  }

  /** All that are remembered of a queue, oldest first, with their contents. */
  ofQueue(queue: string): RememberedSend[] {
    const { sends, forgotten } = this.#byOwner.get(queue) ?? none;
    return (sends as Omit<DuplicateEvent, 'content'>[]).map((send, index) => {
      const contents = this.#contents.get(send);
      return {
        ...send,
        number: forgotten + index,
        content: contents?.content,
        originalContent: contents?.original,
      };
    });
  }

  clear(): void {
    this.#byOwner.clear();
    this.#contents.clear();
    this.#contentBytes = 0;
  }

  #remember(send: SuppressedSend, { queue, original, differed, content }: DuplicateEvent): void {
    const own = remembered(content);
    if (!differed.body && !differed.attributes) {
      this.#add(send, { content: own, original: own, bytes: bytesOf(own) });
      return;
    }
    void andThen(this.#contentOf(queue, original.sequence), (found) => {
      const other = found && remembered(found);
      const bytes = bytesOf(own) + (other === undefined ? 0 : bytesOf(other));
      this.#add(send, { content: own, original: other, bytes });
    });
  }

  #add(send: SuppressedSend, contents: SuppressedContents): void {
    this.#contents.set(send, contents);
    this.#contentBytes += contents.bytes;
    for (const oldest of this.#contents.keys()) {
      if (this.#contentBytes <= contentBytesMax) break;
      this.#forget(oldest);
    }
  }

  #forget(send: SuppressedSend): void {
    this.#contentBytes -= this.#contents.get(send)?.bytes ?? 0;
    this.#contents.delete(send);
  }
}

function withoutContent(event: DuplicateEvent | DuplicatePublicationEvent): SuppressedSend {
  if (event.type === 'duplicate') {
    const { content: _, ...rest } = event;
    return rest;
  }
  const { message: _, ...rest } = event;
  return rest;
}

function remembered({ body, attributes }: MessageContent): RememberedContent {
  const cut =
    body.length > rememberedBodyCharsMax ? detached(body.slice(0, rememberedBodyCharsMax)) : body;
  return { body: cut, bodyLength: body.length, attributes };
}

/** Its approximate size in memory: two bytes for a character, and the objects around them. */
function bytesOf({ body, attributes }: RememberedContent): number {
  const overhead = 400;
  const attributeBytes = attributes.reduce(
    (sum, { name, type, value }) => sum + 2 * (name.length + type.length + value.length) + 100,
    0,
  );
  return 2 * body.length + attributeBytes + overhead;
}

const forgetting: ReadonlySet<Event['type']> = new Set([
  'queue-deleted',
  'queue-purged',
  'window-forgotten',
  'topic-deleted',
  'topic-window-forgotten',
]);
