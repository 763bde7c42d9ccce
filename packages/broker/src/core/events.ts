/**
 * What happened, for people and telemetry: one typed stream. Events decide nothing and are not kept. Every server reads
 * them for its metrics (server/telemetry), so every command makes them.
 */

import type {
  DeduplicationSource,
  MessageContent,
  MoveTaskStatus,
  Publication,
  ReplayStatus,
} from './changes.ts';
import type { Difference } from './deduplication/difference.ts';

interface Happened {
  readonly at: number;
  readonly queue: string;
}

interface MessageEvent extends Happened {
  readonly messageId: string;
  readonly sequence: number;
}

/** A send to a queue that was suppressed. */
export interface DuplicateEvent extends Happened, Suppressed {
  readonly type: 'duplicate';
  /** The content of the suppressed send, which will not be received. */
  readonly content: MessageContent;
}

/** A publication that a topic suppressed; `scope` is `queue` for the whole topic. */
export interface DuplicatePublicationEvent extends TopicHappened, Suppressed {
  readonly type: 'duplicate-publication';
  /** The message for every protocol that has no text of its own. */
  readonly message: string;
}

export interface Suppressed {
  readonly deduplicationId: string;
  readonly groupId: string;
  /** Where this send's id came from. */
  readonly source: DeduplicationSource;
  /** What made it a duplicate: its id, or (profile yandex) its body although the ids differ. */
  readonly matchedBy: 'id' | 'body';
  readonly scope: 'queue' | 'messageGroup';
  readonly ageMs: number;
  /** When the window closes for this id; a duplicate does not move it. */
  readonly expiresAt: number;
  readonly original: {
    readonly messageId: string;
    readonly sequence: number;
    readonly acceptedAt: number;
    readonly source: DeduplicationSource;
  };
  readonly differed: Difference;
}

/** A content-hash duplicate that differs in what the hash does not cover: most likely a different event, now lost. */
export interface CollisionEvent extends Happened {
  readonly type: 'collision';
  readonly deduplicationId: string;
  readonly groupId: string;
  readonly originalMessageId: string;
  readonly differed: readonly ('attributes' | 'group')[];
}

/** A message that breaks its queue's contract: refused (`reject`), or sent anyway (`observe`). */
export interface ContractViolationEvent extends Happened {
  readonly type: 'contract-violation';
  readonly mode: 'observe' | 'reject';
  /** The code of the rule, as docs/contracts/producer-requirements.md lists them. */
  readonly rule: string;
  readonly reason: string;
  readonly groupId: string | undefined;
  readonly body: string;
}

/** A publication that breaks its topic's contract: refused (`reject`), or published anyway (`observe`). */
export interface PublicationViolationEvent extends TopicHappened {
  readonly type: 'publication-violation';
  readonly mode: 'observe' | 'reject';
  readonly rule: string;
  readonly reason: string;
  readonly groupId: string | undefined;
  readonly message: string;
}

interface TopicHappened {
  readonly at: number;
  readonly topic: string;
}

interface SubscriptionEvent extends TopicHappened {
  /** The last part of the subscription's ARN. */
  readonly subscription: string;
}

interface PublicationEvent extends SubscriptionEvent {
  /** The id that the topic gave the publication. */
  readonly messageId: string;
}

export interface DeliveryFailedEvent extends PublicationEvent {
  readonly type: 'delivery-failed';
  readonly endpoint: string;
  /** Why delivery was given up. */
  readonly reason: string;
  /** The dead-letter queue that has it now; undefined if it is lost. */
  readonly deadLetterQueue: string | undefined;
  /** Its message id there. */
  readonly deadLetterMessageId: string | undefined;
}

export type TopicEvent =
  | (TopicHappened & { readonly type: 'topic-created' | 'topic-deleted' | 'topic-changed' })
  | (TopicHappened & { readonly type: 'topic-window-forgotten'; readonly entries: number })
  | (SubscriptionEvent & {
      readonly type: 'subscribed' | 'subscription-confirmed' | 'unsubscribed';
      readonly endpoint: string;
    })
  | (TopicHappened & {
      readonly type: 'published';
      readonly messageId: string;
      readonly sequence: number | undefined;
      readonly groupId: string | undefined;
      readonly deduplicationId: string | undefined;
      readonly publication: Publication;
    })
  | DuplicatePublicationEvent
  | PublicationViolationEvent
  /** The subscription's filter policy does not let it through. */
  | (PublicationEvent & { readonly type: 'filtered-out' })
  /** A queue took it; `isDuplicate` if the queue's own window suppressed it. */
  | (PublicationEvent & {
      readonly type: 'fanned-out';
      readonly queue: string;
      readonly queueMessageId: string;
      readonly isDuplicate: boolean;
    })
  /** An HTTP endpoint accepted it. */
  | (PublicationEvent & { readonly type: 'posted'; readonly attempts: number })
  /** A call to an HTTP endpoint failed and will be retried. */
  | (PublicationEvent & {
      readonly type: 'post-failed';
      readonly attempts: number;
      readonly reason: string;
      readonly retryAt: number;
    })
  | DeliveryFailedEvent
  | (SubscriptionEvent & { readonly type: 'replay'; readonly status: ReplayStatus });

export type Event = QueueEvent | TopicEvent;

export type QueueEvent =
  | (Happened & { readonly type: 'queue-created' | 'queue-deleted' | 'queue-changed' })
  | (Happened & { readonly type: 'queue-purged'; readonly messages: number })
  | (Happened & { readonly type: 'window-forgotten'; readonly entries: number })
  | (MessageEvent & {
      readonly type: 'sent';
      readonly groupId?: string | undefined;
      readonly deduplicationId?: string | undefined;
      readonly source?: DeduplicationSource | undefined;
      readonly content: MessageContent;
    })
  | DuplicateEvent
  | CollisionEvent
  | ContractViolationEvent
  | (MessageEvent & { readonly type: 'delivered'; readonly receiveCount: number })
  /** A repeated receive attempt got the same messages and handles again. */
  | (Happened & {
      readonly type: 'attempt-replayed';
      readonly attemptId: string;
      readonly messages: number;
    })
  | (MessageEvent & { readonly type: 'visibility-changed'; readonly visibleAt: number })
  | (MessageEvent & { readonly type: 'deleted' | 'expired' })
  | (MessageEvent & {
      readonly type: 'dead-lettered';
      readonly receiveCount: number;
      readonly target: string;
    })
  /** A move task took a message to its destination, where it has a new id. */
  | (MessageEvent & {
      readonly type: 'moved';
      readonly destination: string;
      readonly newMessageId: string;
    })
  | (Happened & {
      readonly type: 'move-task';
      readonly taskId: string;
      readonly status: MoveTaskStatus;
      readonly moved: number;
    });
