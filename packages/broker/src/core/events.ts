/**
 * What happened, for people and telemetry: one typed stream with four readers to come (metrics, provenance ledger,
 * the explain call, the console). Events decide nothing and are not kept. Without a
 * reader only `duplicate` and `collision` are made: that a send was suppressed is never left unsaid.
 */

import type { DeduplicationSource, MoveTaskStatus } from './changes.ts';

interface Happened {
  readonly at: number;
  readonly queue: string;
}

interface MessageEvent extends Happened {
  readonly messageId: string;
  readonly sequence: number;
}

/** How two sends with one deduplication id differed in what the id does not show. */
export interface Difference {
  readonly body: boolean;
  readonly attributes: boolean;
  readonly group: boolean;
}

export interface DuplicateEvent extends Happened {
  readonly type: 'duplicate';
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

/** A content-hash duplicate that differs in what the hash does not see: most likely another event, and lost. */
export interface CollisionEvent extends Happened {
  readonly type: 'collision';
  readonly deduplicationId: string;
  readonly groupId: string;
  readonly originalMessageId: string;
  readonly differed: readonly ('attributes' | 'group')[];
}

/** A message that breaks the contract to which its queue is bound; refused, or sent nevertheless. */
export interface ContractViolationEvent extends Happened {
  readonly type: 'contract-violation';
  readonly mode: 'observe' | 'reject';
  /** The code of the rule, as docs/contracts/producer-requirements.md lists them. */
  readonly rule: string;
  readonly reason: string;
  readonly groupId: string | undefined;
}

export type Event =
  | (Happened & { readonly type: 'queue-created' | 'queue-deleted' | 'queue-changed' })
  | (Happened & { readonly type: 'queue-purged'; readonly messages: number })
  | (Happened & { readonly type: 'window-forgotten'; readonly entries: number })
  | (MessageEvent & {
      readonly type: 'sent';
      readonly groupId?: string | undefined;
      readonly deduplicationId?: string | undefined;
      readonly source?: DeduplicationSource | undefined;
    })
  | DuplicateEvent
  | CollisionEvent
  | ContractViolationEvent
  | (MessageEvent & { readonly type: 'delivered'; readonly receiveCount: number })
  /** The same receive attempt asked again and got the same messages and handles. */
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
