/**
 * What a command changed, as keyed puts and deletes: the whole truth about a queue or topic. Whoever keeps these
 * entries can load an engine that behaves identically from there on, and an engine that absorbs another's changes stays
 * equal to it. A key is (kind, queue or topic, id); `value: null` deletes it. A `cleared` change deletes every key of a
 * range, so that purging a million messages is one change.
 *
 * Bodies pass through here and are not held by the engine: a message's content is kept under its key, and a message
 * that moves to another queue names where its content is kept (`from`) instead of carrying it. A store resolves `from`
 * against what was kept before this change; the delete of the old key always comes later in the same list.
 *
 * Numbers called sequence, stamp and receipt are all drawn from the queue's one counter, so they also order events. A
 * topic has such a counter too, and one publish is one list of changes: the topic's and those of every queue it reaches.
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

/** Content that is already kept under another message's key. */
export interface ContentFrom {
  readonly from: { readonly queue: string; readonly sequence: number };
}

export interface KeptMessage {
  /** For a dead letter, the id it had in its source queue; otherwise the id follows from the sequence. */
  readonly messageId?: string | undefined;
  readonly sentAt: number;
  /** Delay of this message alone, on a standard queue; a FIFO queue's delay is always its current setting. */
  readonly delayMs: number;
  /** The message group, on a FIFO queue. */
  readonly groupId?: string | undefined;
  /** The deduplication id that a move gave it, instead of the one it was sent with. */
  readonly deduplicationId?: string | undefined;
  /** In a dead-letter queue: the ARN of the queue it came from. */
  readonly deadLetterSource?: string | undefined;
  /** In a dead-letter queue: how often it was received before it came here. */
  readonly receivedElsewhere?: number | undefined;
  readonly content: MessageContent | ContentFrom;
}

/** A message's delivery state: absent until its first receive. */
export interface KeptDelivery {
  readonly receiveCount: number;
  readonly firstReceivedAt: number;
  /** When the current receipt was handed out; its visibility timeout can be extended up to twelve hours from here. */
  readonly receivedAt: number;
  readonly visibleAt: number;
  /** Orders messages that become visible in the same millisecond. */
  readonly stamp: number;
  /** Names the current receipt handle; 0 when there is none (a dead letter that was not received here yet). */
  readonly receipt: number;
  /** Whether ChangeMessageVisibility used the current receipt, which ends a receive attempt's replay. */
  readonly isChanged: boolean;
}

/** One accepted FIFO send, remembered for the deduplication window; its key is its sequence. */
export interface KeptWindowEntry {
  readonly deduplicationId: string;
  readonly groupId: string;
  readonly acceptedAt: number;
  readonly source: DeduplicationSource;
  readonly bodyMd5: string;
  /** Of the attributes that are compared (trace-context.ts); empty when there were none. */
  readonly attributesMd5: string;
  /** SHA-256 of the body, where the queue also treats equal bodies as duplicates (profile yandex). */
  readonly bodyHash?: string | undefined;
}

export type DeduplicationSource = 'explicit' | 'content';

/** The key of a deduplication id in a group: 128 bits of a keyed digest of the id, 96 of a plain hash of the group. */
export interface WindowKey {
  readonly id0: number;
  readonly id1: number;
  readonly id2: number;
  readonly id3: number;
  readonly group0: number;
  readonly group1: number;
  readonly group2: number;
}

/** All that an engine holds of a window entry's texts; the last two only serve to tell whether two sends differed. */
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
  /** Every attribute that was set, in Amazon's spelling. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  /** While a move task of this queue runs. It is a setting because the limit on running tasks counts those of every queue. */
  readonly isMoving?: true | undefined;
}

export interface KeptTopic {
  readonly createdAt: number;
  /** A FIFO topic derives its message ids from it. */
  readonly secret: string;
  /** Every attribute that was set, in Amazon's spelling. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly dataProtectionPolicy?: string | undefined;
  /** When the topic's current archive began. */
  readonly archivedSince?: number | undefined;
  /** How many subscriptions have been removed so far. */
  readonly unsubscribed: number;
}

export type ReplayStatus = 'In progress' | 'Completed' | 'Failed';

/** A replay of archived publications to a subscription, running or ended. */
export interface KeptReplay {
  /** Distinguishes this replay from the subscription's others. */
  readonly stamp: number;
  /** Publications published at this time or later. */
  readonly from: number;
  /** Publications published up to this time; without it the replay turns into normal delivery. */
  readonly until?: number | undefined;
  /** Archived publications up to this sequence have been handled. */
  readonly after: number;
  readonly status: ReplayStatus;
}

export interface KeptSubscription {
  /** Rises with every subscription of the topic: deliveries and lists go in this order. */
  readonly stamp: number;
  readonly createdAt: number;
  readonly protocol: 'sqs' | 'http' | 'https';
  readonly endpoint: string;
  /** Every attribute that was set, in Amazon's spelling. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly isConfirmed: boolean;
  /** Whether Unsubscribe needs credentials: the AuthenticateOnUnsubscribe of its confirmation, true for a queue. */
  readonly isAuthenticated: boolean;
  /** The token that an HTTP endpoint confirms with. */
  readonly token?: string | undefined;
  readonly replay?: KeptReplay | undefined;
}

/** A published message, as archives and pending deliveries keep it. */
export interface Publication {
  readonly messageId: string;
  /** On a FIFO topic. */
  readonly sequence?: number | undefined;
  readonly publishedAt: number;
  readonly message: string;
  /** Texts by protocol, each instead of `message` (MessageStructure json). */
  readonly messageFor?: Readonly<Record<string, string>> | undefined;
  readonly subject?: string | undefined;
  readonly attributes: readonly MessageAttribute[];
  readonly groupId?: string | undefined;
  readonly deduplicationId?: string | undefined;
  readonly traceHeader?: string | undefined;
  /** Scheme and host that the publisher used: links in the envelope start with them. */
  readonly baseUrl: string;
}

/** A post to an HTTP endpoint. Immutable; its progress is in its `post-attempt`. */
export interface KeptPost {
  readonly subscription: string;
  /** The publication to deliver; without one, this is the request to confirm the subscription. */
  readonly publication?: Publication | undefined;
  /** Scheme and host of the links in a request to confirm. */
  readonly baseUrl: string;
}

export interface KeptPostAttempt {
  /** Calls begun so far. */
  readonly attempts: number;
  /** When the next one is due; while a call is in flight, when it counts as lost. */
  readonly dueAt: number;
  /** Why the last call failed; undefined while it is in flight. */
  readonly failure?: string | undefined;
}

export type Change = QueueChange | TopicChange;

/** The change that creates a queue or topic, or replaces its settings. */
export type OwnerPut = Extract<
  Change,
  { readonly kind: 'queue' | 'topic'; readonly value: object }
>;

/** Every kind of entry under a topic's name. */
export type TopicChange =
  | { readonly kind: 'topic'; readonly topic: string; readonly value: KeptTopic }
  /** The topic is gone, with everything under its name. */
  | { readonly kind: 'topic'; readonly topic: string; readonly value: null }
  | { readonly kind: 'topic-counter'; readonly topic: string; readonly value: number }
  /** Keyed by the last part of the subscription's ARN, a UUID. */
  | {
      readonly kind: 'subscription';
      readonly topic: string;
      readonly id: string;
      readonly value: KeptSubscription | null;
    }
  /** Keyed by sequence, like a queue's. */
  | {
      readonly kind: 'topic-window';
      readonly topic: string;
      readonly id: number;
      readonly value: KeptWindowEntry | null;
      readonly digests?: WindowDigests;
    }
  /** Keyed by sequence. */
  | {
      readonly kind: 'archived';
      readonly topic: string;
      readonly id: number;
      readonly value: Publication | null;
    }
  /** Keyed by a number from the topic's counter; its attempt has the same key. */
  | {
      readonly kind: 'post';
      readonly topic: string;
      readonly id: number;
      readonly value: KeptPost | null;
    }
  | {
      readonly kind: 'post-attempt';
      readonly topic: string;
      readonly id: number;
      readonly value: KeptPostAttempt | null;
    }
  /** All window entries of the topic, or its whole archive. */
  | {
      readonly kind: 'topic-cleared';
      readonly topic: string;
      readonly what: 'window' | 'archive';
    };

/** Names a queue or topic: what is loaded, locked and dropped as one. */
export type OwnerId = string;

/** The queue or topic that a change belongs to, as `Engine.touches` and `drop` name it. */
export function ownerOf(change: Change): OwnerId {
  return 'queue' in change ? change.queue : topicOwner(change.topic);
}

/**
 * Names the list of queues and topics with their settings, as `Engine.touches` does for a command that may change it. What
 * belongs to it is known to every engine, also about queues and topics whose contents it has not loaded.
 */
export const catalog: OwnerId = '*';

/** Whether the change belongs to the catalog too. */
export function isSetting({ kind }: Change): boolean {
  return kind === 'queue' || kind === 'name' || kind === 'topic' || kind === 'subscription';
}

/** Cannot clash with a queue: no queue's name has a slash. */
export function topicOwner(topic: string): OwnerId {
  return `${topicPrefix}${topic}`;
}

/** The topic's name in an owner's id; undefined if it is a queue's. */
export function topicIn(owner: OwnerId): string | undefined {
  return owner.startsWith(topicPrefix) ? owner.slice(topicPrefix.length) : undefined;
}

const topicPrefix = 'topic/';

/** How much a queue holds, for a store that loads it (`Engine.reserve`). */
export interface QueueSize {
  readonly messages: number;
  readonly windowEntries: number;
}

/** Every kind of entry under a queue's name. */
export type QueueChange =
  | { readonly kind: 'queue'; readonly queue: string; readonly value: KeptQueue }
  /** The queue is gone, with everything under its name. */
  | { readonly kind: 'queue'; readonly queue: string; readonly value: null }
  /** When a queue was deleted: its name stays taken for a while after that (limits.ts). */
  | { readonly kind: 'name'; readonly queue: string; readonly value: number | null }
  | { readonly kind: 'counter'; readonly queue: string; readonly value: number }
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
      /** Derived from the value; a store that keeps them saves computing them again on loading. */
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
