/**
 * The server's responses, as far as the console reads them. They are those of `/_oncemq/`, described in
 * docs/guide/server.md; times are epoch milliseconds of the server's clock.
 */

export interface Activity {
  readonly sentPerSecond: number;
  readonly suppressedPerSecond: number;
  readonly deliveredPerSecond: number;
  readonly deletedPerSecond: number;
  readonly sent: readonly number[];
  readonly suppressed: readonly number[];
}

export interface QueueCounts {
  readonly name: string;
  readonly fifo: boolean;
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  readonly groups: number;
  readonly blockedGroups: number;
  readonly dedupEntries: number;
  readonly oldestSentAt: number | null;
  readonly activity: Activity | null;
}

export type ClockKind = 'real' | 'virtual' | 'manual';

/** Part of every response of the console's own endpoints. */
export interface Timed {
  readonly now: number;
  readonly clock?: ClockKind;
}

export interface TopicCounts {
  readonly name: string;
  readonly fifo: boolean;
  readonly subscriptions: number;
  readonly dedupEntries: number;
  readonly archived: number;
  readonly failedDeliveries: number;
}

export interface Overview extends Timed {
  /** When the server began to count rates and sums. */
  readonly watchedSince: number;
  readonly version: string;
  readonly storage: string;
  /** How many share the store; null if nobody can. */
  readonly servers: number | null;
  readonly region: string;
  readonly account: string;
  readonly unavailable: string | null;
  readonly queues: readonly QueueCounts[];
  readonly next: string | null;
  readonly topics: readonly TopicCounts[];
  readonly hasMoreTopics: boolean;
}

export interface StoreNode {
  readonly id: string;
  readonly name: string | null;
  /** By the database's clock. */
  readonly startedAt: number;
  readonly seenAt: number;
  readonly isRunning: boolean;
  readonly version: string;
  readonly format: number;
}

export interface Store extends Timed {
  readonly storage: string;
  readonly unavailable: string | null;
  readonly sizeBytes: number | null;
  readonly lostCommits: { readonly count: number; readonly latest: string | null };
  /** The one that answers. */
  readonly node: string | null;
  readonly nodes: readonly StoreNode[] | null;
  readonly journal: {
    readonly rows: number;
    readonly bytes: number;
    readonly pendingRows: number;
    readonly lagMs: number;
  } | null;
}

export interface Group {
  readonly groupId: string;
  readonly messages: number;
  readonly inFlight: number;
  readonly state: 'ready' | 'blocked';
  readonly oldestSentAt: number;
  readonly blockedBy: {
    readonly messageId: string;
    readonly state: 'in-flight' | 'delayed';
    readonly receiveCount: number;
    readonly until: number;
  } | null;
}

export interface GroupPage extends Timed {
  readonly groups: readonly Group[];
  readonly next: number | null;
}

export interface Attribute {
  readonly name: string;
  readonly type: string;
  readonly value: string;
}

export interface Content {
  readonly body: string;
  readonly bodyLength: number;
  readonly attributes: readonly Attribute[];
}

export interface Message extends Content {
  readonly messageId: string;
  readonly state: 'visible' | 'delayed' | 'in-flight';
  readonly visibleAt: number | null;
  readonly groupId: string | null;
  readonly deduplicationId: string | null;
  readonly sequence: number;
  readonly sentAt: number;
  readonly receiveCount: number;
  readonly firstReceivedAt: number | null;
  readonly deadLetterSource: string | null;
}

export interface MessagePage {
  readonly messages: readonly Message[];
  readonly next: number | null;
}

export interface WindowRow {
  readonly kind: 'accepted' | 'suppressed' | 'violation';
  readonly at: number;
  readonly groupId: string | null;
  /** For accepted and suppressed sends: the original's. */
  readonly sequence?: number;
  readonly messageId?: string;
  readonly id?: string;
  readonly source?: 'explicit' | 'content';
  readonly expiresAt?: number;
  readonly suppressed?: number;
  readonly number?: number;
  readonly originalAt?: number;
  readonly differed?: readonly string[];
  readonly collision?: boolean;
  readonly mode?: 'observe' | 'reject';
  readonly rule?: string;
  readonly reason?: string;
}

export interface Window extends Timed {
  readonly windowSeconds: number;
  readonly accepted: readonly number[];
  /** Sends before these times were too many to count, or are no longer known; null if all are counted. */
  readonly acceptedCountedFrom: number | null;
  readonly suppressedCountedFrom: number | null;
  readonly suppressed: readonly number[];
  readonly collisions: readonly number[];
  readonly violations: readonly number[];
  readonly rows: readonly WindowRow[];
  readonly searched: {
    readonly entries: number;
    readonly isAll: boolean;
    /** A deduplication id is found even beyond the entries that were searched. */
    readonly hasOlderIds: boolean;
  } | null;
}

export interface SuppressedSend {
  readonly number: number;
  readonly at: number;
  readonly id: string;
  readonly source: 'explicit' | 'content';
  readonly matchedBy: 'id' | 'body';
  readonly groupId: string;
  readonly differed: readonly string[];
  readonly collision: boolean;
  readonly content: Content | null;
}

export interface Send extends Timed {
  readonly id: string;
  readonly source: 'explicit' | 'content';
  readonly expiresAt: number;
  readonly isOpen: boolean;
  readonly original: {
    readonly messageId: string;
    readonly sequence: number;
    readonly sentAt: number;
    readonly groupId: string | null;
    readonly bodyMd5: string | null;
    readonly attributesMd5: string | null;
    readonly isInQueue: boolean;
    readonly content: Content | null;
  };
  readonly suppressedCount: number;
  readonly suppressed: readonly SuppressedSend[];
}

export interface Subscription {
  readonly arn: string;
  readonly protocol: string;
  readonly endpoint: string;
  readonly confirmed: boolean;
  readonly attributes: Readonly<Record<string, string>>;
  /** Since the server's start. */
  readonly delivered?: number;
  readonly filteredOut?: number;
  readonly failed?: number;
  readonly replay: { readonly status: string; readonly left: number } | null;
  readonly waitingCount: number;
  /** The oldest of the waiting deliveries. */
  readonly waiting: readonly {
    readonly attempts: number;
    readonly dueAt: number;
    readonly failure: string | null;
  }[];
}

export interface Topic {
  readonly name: string;
  readonly arn: string;
  readonly fifo: boolean;
  readonly dedupEntries: number;
  readonly archived: number;
  readonly subscriptions: readonly Subscription[];
  readonly failedDeliveries: {
    readonly count: number;
    readonly latest: readonly {
      readonly at: number;
      readonly endpoint: string;
      readonly reason: string;
      readonly deadLetterQueue: string | null;
    }[];
  };
}

export interface Delivery {
  readonly type: 'filtered-out' | 'fanned-out' | 'posted' | 'post-failed' | 'delivery-failed';
  readonly at: number;
  readonly subscription: string;
  readonly messageId: string;
  readonly isDuplicate?: boolean;
  readonly attempts?: number;
  readonly reason?: string;
}

export interface Deliveries extends Timed {
  readonly deliveries: readonly Delivery[];
}

export interface MatchResult {
  readonly subscriptions: readonly { readonly arn: string; readonly matches: boolean }[];
  readonly policy: { readonly matches: boolean } | null;
}

export interface MoveTask {
  readonly TaskHandle?: string;
  readonly Status: string;
  readonly DestinationArn?: string;
  readonly ApproximateNumberOfMessagesMoved?: number;
  readonly ApproximateNumberOfMessagesToMove?: number;
  readonly FailureReason?: string;
  readonly StartedTimestamp?: number;
}
