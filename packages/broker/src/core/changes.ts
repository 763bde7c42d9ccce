/**
 * What a command changed, as keyed puts and deletes: the whole truth about a queue. Whoever keeps these entries can
 * load an engine that behaves identically from there on, and an engine that absorbs another's changes stays equal
 * to it. A key is (kind, queue, id); `value: null` deletes it. A `cleared` change deletes every key of a range, so
 * that purging a million messages is one change.
 *
 * Bodies pass through here and are not held by the engine: a message's content is kept under its key, and a message
 * that moves to another queue says where its content stands (`from`) instead of carrying it. A store resolves `from`
 * against what was kept before this change; the delete of the old key always comes later in the same list.
 *
 * Numbers called sequence, stamp and receipt are all drawn from the queue's one counter, so they also order events.
 */

/** One attribute of a message, as checked: `value` is text for String and Number, bytes for Binary. */
export interface MessageAttribute {
  readonly name: string;
  readonly type: string;
  readonly value: string | Uint8Array;
}

/** What the sender wrote. Immutable; stays with the message through every queue it moves to. */
export interface MessageContent {
  readonly body: string;
  readonly bodyMd5: string;
  readonly attributes: readonly MessageAttribute[];
  /** Empty when there are none. */
  readonly attributesMd5: string;
  /** The AWSTraceHeader system attribute. */
  readonly traceHeader?: string | undefined;
  readonly senderId?: string | undefined;
  /** The message's own group on a standard queue (fair queues); a FIFO queue's groups are in KeptMessage. */
  readonly groupId?: string | undefined;
  /** The id given or computed when it was sent; KeptMessage has a newer one after a move. */
  readonly deduplicationId?: string | undefined;
}

/** Content that already stands under another message's key. */
export interface ContentFrom {
  readonly from: { readonly queue: string; readonly sequence: number };
}

export interface KeptMessage {
  /** The id it had in the queue it came from, for a dead letter; else its id follows from its sequence. */
  readonly messageId?: string | undefined;
  readonly sentAt: number;
  /** Delay of this message alone, on a standard queue; a FIFO queue's delay is always its current setting. */
  readonly delayMs: number;
  /** The message group, on a FIFO queue. */
  readonly groupId?: string | undefined;
  /** The deduplication id that a move gave it, instead of the one it was sent with. */
  readonly deduplicationId?: string | undefined;
  /** The ARN of the queue it died in, in a dead-letter queue. */
  readonly deadLetterSource?: string | undefined;
  readonly content: MessageContent | ContentFrom;
}

/** What receiving has made of a message: absent until its first receive. */
export interface KeptDelivery {
  readonly receiveCount: number;
  readonly firstReceivedAt: number;
  /** When the current receipt was handed out; its visibility can reach twelve hours from here. */
  readonly receivedAt: number;
  readonly visibleAt: number;
  /** Orders messages that become visible in the same millisecond. */
  readonly stamp: number;
  /** Names the current receipt handle; 0 when there is none (a dead letter that was not received here yet). */
  readonly receipt: number;
  /** Whether ChangeMessageVisibility touched the current receipt, which ends a receive attempt's replay. */
  readonly isChanged: boolean;
}

/** One accepted FIFO send, remembered for the deduplication window; its key is its sequence. */
export interface KeptWindowEntry {
  readonly deduplicationId: string;
  readonly groupId: string;
  readonly acceptedAt: number;
  readonly source: DeduplicationSource;
  readonly bodyMd5: string;
  /** Empty when there were no attributes. */
  readonly attributesMd5: string;
  /** SHA-256 of the body, where the queue also treats equal bodies as duplicates (profile yandex). */
  readonly bodyHash?: string | undefined;
}

export type DeduplicationSource = 'explicit' | 'content';

/** What a deduplication id in a group is filed under: 128 bits of the id's SHA-256, 96 of a plain hash of the group. */
export interface WindowKey {
  readonly id0: number;
  readonly id1: number;
  readonly id2: number;
  readonly id3: number;
  readonly group0: number;
  readonly group1: number;
  readonly group2: number;
}

/** All that an engine holds of a window entry's texts; the last two only tell whether two sends differed. */
export interface WindowDigests extends WindowKey {
  readonly body: number;
  readonly attributes: number;
}

export interface KeptAttempt {
  readonly receivedAt: number;
  readonly messages: readonly { readonly sequence: number; readonly receipt: number }[];
}

export type MoveTaskStatus = 'RUNNING' | 'COMPLETED' | 'CANCELLED' | 'FAILED';

export interface KeptMoveTask {
  readonly status: MoveTaskStatus;
  /** Rises with every task of the source queue: the newest has the largest. */
  readonly stamp: number;
  readonly startedAt: number;
  readonly destinationArn?: string | undefined;
  readonly perSecond?: number | undefined;
  readonly moved: number;
  readonly toMove: number;
  readonly failureReason?: string | undefined;
}

export interface KeptQueue {
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly purgedAt?: number | undefined;
  /** Makes receipt handles unguessable; never leaves the server. */
  readonly secret: string;
  /** Every attribute that differs from its default, in Amazon's spelling. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

export type Change =
  | { readonly kind: 'queue'; readonly queue: string; readonly value: KeptQueue }
  /** The queue is gone, with everything under its name. */
  | { readonly kind: 'queue'; readonly queue: string; readonly value: null }
  /** When a deleted queue's name may be used again. */
  | { readonly kind: 'name'; readonly queue: string; readonly value: number | null }
  | {
      readonly kind: 'counter';
      readonly queue: string;
      readonly value: number;
      /** How much of the queue follows, at most, when it is loaded: room is made for it at once. */
      readonly room?: { readonly messages: number; readonly windowEntries: number };
    }
  | {
      readonly kind: 'message';
      readonly queue: string;
      readonly id: number;
      readonly value: KeptMessage | null;
    }
  | {
      readonly kind: 'delivery';
      readonly queue: string;
      readonly id: number;
      readonly value: KeptDelivery | null;
    }
  | {
      readonly kind: 'window';
      readonly queue: string;
      readonly id: number;
      readonly value: KeptWindowEntry | null;
      /** Follow from the value; who keeps them too need not compute them again to load it. */
      readonly digests?: WindowDigests;
    }
  | {
      readonly kind: 'attempt';
      readonly queue: string;
      readonly id: string;
      readonly value: KeptAttempt | null;
    }
  | {
      readonly kind: 'task';
      readonly queue: string;
      readonly id: string;
      readonly value: KeptMoveTask | null;
    }
  /** All messages, deliveries, window entries and attempts of the queue, or its window entries alone. */
  | { readonly kind: 'cleared'; readonly queue: string; readonly what: 'contents' | 'window' };
