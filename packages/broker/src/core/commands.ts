/**
 * What can be asked of the engine, and what it answers. Commands carry what the client sent, unchecked except for its
 * type: absent parameters are undefined, numbers may be out of range. Times are in seconds here, as clients give
 * them, so that a refusal can quote them; inside the engine they are milliseconds.
 *
 * A batch is its single action over a list: one command, with one result per entry, in the order of the entries.
 * With `isBatch: false` the list has exactly one entry, and its refusal is the command's.
 */

import type { DeduplicationSource, MoveTaskStatus } from './changes.ts';
import type { Refusal } from './errors.ts';
import type { Suppressed } from './events.ts';
import type { PreparedMessage } from './queue/message-check.ts';
import type { DuePost, DueReplay, TopicCommand, TopicOutcomes } from './topic/commands.ts';

/** A message attribute as it came in. */
export interface AttributeInput {
  readonly name: string;
  readonly type?: string | undefined;
  readonly stringValue?: string | undefined;
  readonly binaryValue?: Uint8Array | undefined;
  /** Whether StringListValues or BinaryListValues were given, which SQS does not support. */
  readonly hasListValues?: boolean | undefined;
}

export interface SendEntry {
  readonly id?: string | undefined;
  readonly body?: string | undefined;
  readonly delaySeconds?: number | undefined;
  readonly groupId?: string | undefined;
  readonly deduplicationId?: string | undefined;
  readonly attributes?: readonly AttributeInput[] | undefined;
  readonly systemAttributes?: readonly AttributeInput[] | undefined;
  /** The caller's identity, returned as SenderId. */
  readonly senderId?: string | undefined;
  readonly violation?: Violation | undefined;
  /** What is known of it already; only topics have it. */
  readonly prepared?: PreparedMessage | undefined;
}

/** How a message breaks the contract of its queue or topic; determined outside, since core reads no bodies. */
export interface Violation {
  readonly mode: 'observe' | 'reject';
  readonly rule: string;
  readonly reason: string;
}

export interface DeleteEntry {
  readonly id?: string | undefined;
  readonly receiptHandle?: string | undefined;
}

export interface VisibilityEntry {
  readonly id?: string | undefined;
  readonly receiptHandle?: string | undefined;
  readonly visibilitySeconds?: number | undefined;
}

export type Attributes = Readonly<Record<string, string>>;

export type Command = QueueCommand | TopicCommand;

export type QueueCommand =
  | {
      readonly type: 'create-queue';
      readonly queue?: string | undefined;
      readonly attributes?: Attributes | undefined;
      readonly tags?: Readonly<Record<string, string>> | undefined;
    }
  | { readonly type: 'delete-queue'; readonly queue: string }
  | { readonly type: 'find-queue'; readonly queue?: string | undefined }
  | {
      readonly type: 'list-queues';
      readonly prefix?: string | undefined;
      readonly limit?: number | undefined;
      /** The page starts after this name. */
      readonly after?: string | undefined;
    }
  | { readonly type: 'get-attributes'; readonly queue: string; readonly names: readonly string[] }
  | { readonly type: 'set-attributes'; readonly queue: string; readonly attributes: Attributes }
  | {
      readonly type: 'tag-queue';
      readonly queue: string;
      readonly tags: Readonly<Record<string, string>>;
    }
  | { readonly type: 'untag-queue'; readonly queue: string; readonly keys: readonly string[] }
  | { readonly type: 'list-tags'; readonly queue: string }
  | {
      readonly type: 'add-permission';
      readonly queue: string;
      readonly label?: string | undefined;
      readonly accounts: readonly string[];
      readonly actions: readonly string[];
    }
  | {
      readonly type: 'remove-permission';
      readonly queue: string;
      readonly label?: string | undefined;
    }
  | { readonly type: 'purge-queue'; readonly queue: string }
  | {
      readonly type: 'send';
      readonly queue: string;
      readonly isBatch: boolean;
      readonly entries: readonly SendEntry[];
    }
  | {
      readonly type: 'receive';
      readonly queue: string;
      readonly count?: number | undefined;
      readonly visibilitySeconds?: number | undefined;
      readonly waitSeconds?: number | undefined;
      readonly attemptId?: string | undefined;
    }
  | {
      readonly type: 'delete-messages';
      readonly queue: string;
      readonly isBatch: boolean;
      readonly entries: readonly DeleteEntry[];
    }
  | {
      readonly type: 'change-visibility';
      readonly queue: string;
      readonly isBatch: boolean;
      readonly entries: readonly VisibilityEntry[];
    }
  | {
      readonly type: 'list-dead-letter-sources';
      readonly queue: string;
      readonly limit?: number | undefined;
      readonly after?: string | undefined;
    }
  | {
      readonly type: 'start-move-task';
      readonly sourceArn?: string | undefined;
      readonly destinationArn?: string | undefined;
      readonly perSecond?: number | undefined;
    }
  /** Both parts of the task handle; undefined when it could not be decoded. */
  | {
      readonly type: 'cancel-move-task';
      readonly taskId?: string | undefined;
      readonly sourceArn?: string | undefined;
    }
  | {
      readonly type: 'list-move-tasks';
      readonly sourceArn?: string | undefined;
      readonly limit?: number | undefined;
    }
  /** Ours: counts, groups and window of a queue; nothing is received. */
  | { readonly type: 'describe-queue'; readonly queue: string }
  /** Ours: messages in order, without receiving them. */
  | {
      readonly type: 'peek-messages';
      readonly queue: string;
      readonly groupId?: string | undefined;
      /** The page starts after this sequence, whether or not its message still exists. */
      readonly after?: number | undefined;
      readonly limit: number;
    }
  /** Ours: the message groups of a FIFO queue, and what blocks them. */
  | {
      readonly type: 'list-groups';
      readonly queue: string;
      /** Only groups that can deliver nothing at the moment. */
      readonly isBlocked: boolean;
      /** `next` of the previous page. */
      readonly after?: number | undefined;
      readonly limit: number;
    }
  /** Ours: how many sends were accepted in each of `parts` equal intervals of the deduplication window. */
  | { readonly type: 'count-sends'; readonly queue: string; readonly parts: number }
  /** Ours: the window entry that a send with this id would match; without an id, the newest entries. */
  | {
      readonly type: 'explain';
      readonly queue: string;
      readonly deduplicationId?: string | undefined;
      readonly groupId?: string | undefined;
      readonly limit: number;
    }
  /** Ours: empties the deduplication window. */
  | { readonly type: 'forget-window'; readonly queue: string }
  /** Time has reached `nextDueAt()`: do what fell due, of these queues and topics if they are given (`ownerOf`). */
  | { readonly type: 'tick'; readonly owners?: ReadonlySet<string> | undefined };

export type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>;

export interface SendResult {
  readonly ok: true;
  readonly messageId: string;
  /** Undefined on a standard queue. */
  readonly sequence: number | undefined;
  readonly bodyMd5: string;
  /** Empty when there are none. */
  readonly attributesMd5: string;
  readonly systemAttributesMd5: string;
  readonly isDuplicate: boolean;
  /** The details of a duplicate. */
  readonly suppressed?: Suppressed;
  /** How the message breaks its contract, which only reports it; added outside of core. */
  readonly violation?: Violation;
}

/** A delivered or peeked message. Its content is kept under the key (message, queue, sequence). */
export interface MessageView {
  readonly messageId: string;
  readonly sequence: number;
  readonly sentAt: number;
  readonly receiveCount: number;
  /** Undefined before the first receive. */
  readonly firstReceivedAt: number | undefined;
  /** The group, on a FIFO queue. */
  readonly groupId: string | undefined;
  /** The id that a move gave it; if undefined, the content's id applies. */
  readonly deduplicationId: string | undefined;
  readonly deadLetterSource: string | undefined;
}

export interface ReceivedMessage extends MessageView {
  readonly receiptHandle: string;
}

export interface PeekedMessage extends MessageView {
  readonly state: 'visible' | 'delayed' | 'in-flight';
  /** When the message is next visible, if it is not now. */
  readonly visibleAt: number | undefined;
}

/** A message group with its oldest message, which decides whether the group can deliver. */
export interface GroupView {
  readonly groupId: string;
  readonly messages: number;
  readonly inFlight: number;
  readonly head: PeekedMessage;
}

export interface QueueDescription {
  readonly ok: true;
  readonly isFifo: boolean;
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  readonly groups: number;
  /** Groups whose oldest message is in flight or delayed, so that they deliver nothing. */
  readonly blockedGroups: number;
  readonly windowEntries: number;
  /** When the oldest message was sent. */
  readonly oldestSentAt: number | undefined;
}

/** A window entry; its texts (ids, digests) are kept under the key (window, queue, sequence). */
export interface ExplainedEntry {
  readonly sequence: number;
  readonly messageId: string;
  readonly source: DeduplicationSource;
  readonly acceptedAt: number;
  readonly expiresAt: number;
}

export interface MoveTaskView {
  readonly taskId: string;
  readonly status: MoveTaskStatus;
  readonly startedAt: number;
  readonly destinationArn: string | undefined;
  readonly perSecond: number | undefined;
  readonly moved: number;
  readonly toMove: number;
  readonly failureReason: string | undefined;
}

interface Done {
  readonly ok: true;
}

interface Names {
  readonly ok: true;
  readonly queues: readonly string[];
  /** The `after` of the next page; undefined on the last one. */
  readonly next: string | undefined;
}

interface Outcomes extends TopicOutcomes {
  'create-queue': { readonly ok: true; readonly queue: string };
  'delete-queue': Done;
  'find-queue': { readonly ok: true; readonly queue: string };
  'list-queues': Names;
  'get-attributes': { readonly ok: true; readonly attributes: Attributes };
  'set-attributes': Done;
  'tag-queue': Done;
  'untag-queue': Done;
  'list-tags': { readonly ok: true; readonly tags: Readonly<Record<string, string>> };
  'add-permission': Done;
  'remove-permission': Done;
  'purge-queue': Done;
  send: { readonly ok: true; readonly results: readonly (SendResult | Refusal)[] };
  receive: {
    readonly ok: true;
    readonly messages: readonly ReceivedMessage[];
    /** How long the caller is ready to wait: as requested, else the queue's setting. */
    readonly waitMs: number;
    /** Without messages: the earliest time at which asking again can help if no other command comes; undefined for never. */
    readonly noneUntil: number | undefined;
  };
  'delete-messages': { readonly ok: true; readonly results: readonly (Done | Refusal)[] };
  'change-visibility': { readonly ok: true; readonly results: readonly (Done | Refusal)[] };
  'list-dead-letter-sources': Names;
  'start-move-task': { readonly ok: true; readonly taskId: string; readonly sourceArn: string };
  'cancel-move-task': { readonly ok: true; readonly moved: number };
  'list-move-tasks': { readonly ok: true; readonly tasks: readonly MoveTaskView[] };
  'describe-queue': QueueDescription;
  'peek-messages': { readonly ok: true; readonly messages: readonly PeekedMessage[] };
  'list-groups': {
    readonly ok: true;
    readonly groups: readonly GroupView[];
    /** The `after` of the next page; undefined on the last one. */
    readonly next: number | undefined;
  };
  'count-sends': {
    readonly ok: true;
    readonly windowMs: number;
    /** Oldest part first; the last one ends now. */
    readonly accepted: readonly number[];
    /** Sends accepted before this time were too many to count; undefined if all were counted. */
    readonly countedFrom: number | undefined;
  };
  explain: { readonly ok: true; readonly entries: readonly ExplainedEntry[] };
  'forget-window': { readonly ok: true; readonly entries: number };
  tick: {
    readonly ok: true;
    /** Calls to HTTP endpoints to make now, each answered by a `report-post`. */
    readonly posts: readonly DuePost[];
    /** Archived publications to read now, each answered by a `replay`. */
    readonly replays: readonly DueReplay[];
    /** Whether it left something that has expired, because it had removed as much as one tick may. */
    readonly isUnfinished: boolean;
  };
}

export type Outcome<T extends Command['type'] = Command['type']> = Outcomes[T] | Refusal;
