/**
 * What can be asked of topics, and what the engine answers: the SNS half of core/commands.ts, in the same manner.
 * Topics and subscriptions are named by ARN, as clients name them, since how a wrong ARN is refused is itself a rule.
 */

import type { KeptPostAttempt, MessageAttribute, Publication } from '../changes.ts';
import type {
  AttributeInput,
  Attributes,
  Command,
  ExplainedEntry,
  Violation,
} from '../commands.ts';
import type { Refusal } from '../errors.ts';
import type { Suppressed } from '../events.ts';
import type { FilterScope } from './filter-policy/filter-policy.ts';

export interface PublishEntry {
  readonly id?: string | undefined;
  readonly message?: string | undefined;
  readonly subject?: string | undefined;
  /** `json`, or nothing. */
  readonly structure?: string | undefined;
  readonly groupId?: string | undefined;
  readonly deduplicationId?: string | undefined;
  readonly attributes?: readonly AttributeInput[] | undefined;
  /** The request's X-Amzn-Trace-Id. */
  readonly traceHeader?: string | undefined;
  readonly violation?: Violation | undefined;
}

export interface Tag {
  readonly key: string;
  readonly value: string;
}

/** A tag as it is given; both members are required. */
export interface TagInput {
  readonly key?: string | undefined;
  readonly value?: string | undefined;
}

export type TopicCommand =
  | {
      readonly type: 'create-topic';
      readonly name?: string | undefined;
      readonly attributes?: Attributes | undefined;
      readonly tags?: readonly TagInput[] | undefined;
      readonly dataProtectionPolicy?: string | undefined;
    }
  | { readonly type: 'delete-topic'; readonly topicArn?: string | undefined }
  | { readonly type: 'list-topics'; readonly after?: string | undefined }
  | { readonly type: 'get-topic-attributes'; readonly topicArn?: string | undefined }
  | {
      readonly type: 'set-topic-attribute';
      readonly topicArn?: string | undefined;
      readonly name?: string | undefined;
      readonly value?: string | undefined;
    }
  | {
      readonly type: 'tag-topic';
      readonly resourceArn?: string | undefined;
      readonly tags?: readonly TagInput[] | undefined;
    }
  | {
      readonly type: 'untag-topic';
      readonly resourceArn?: string | undefined;
      readonly keys?: readonly string[] | undefined;
    }
  | { readonly type: 'list-topic-tags'; readonly resourceArn?: string | undefined }
  | {
      readonly type: 'add-topic-permission';
      readonly topicArn?: string | undefined;
      readonly label?: string | undefined;
      readonly accounts: readonly string[];
      readonly actions: readonly string[];
    }
  | {
      readonly type: 'remove-topic-permission';
      readonly topicArn?: string | undefined;
      readonly label?: string | undefined;
    }
  | {
      readonly type: 'put-data-protection';
      readonly resourceArn?: string | undefined;
      readonly policy?: string | undefined;
    }
  | { readonly type: 'get-data-protection'; readonly resourceArn?: string | undefined }
  | {
      readonly type: 'subscribe';
      readonly topicArn?: string | undefined;
      readonly protocol?: string | undefined;
      readonly endpoint?: string | undefined;
      /** Why the server will not call the endpoint; absent if it will. */
      readonly endpointProblem?: string | undefined;
      readonly attributes?: Attributes | undefined;
      readonly baseUrl: string;
    }
  | {
      readonly type: 'confirm-subscription';
      readonly topicArn?: string | undefined;
      readonly token?: string | undefined;
      readonly isAuthenticated?: boolean | undefined;
    }
  | { readonly type: 'unsubscribe'; readonly subscriptionArn?: string | undefined }
  | { readonly type: 'get-subscription-attributes'; readonly subscriptionArn?: string | undefined }
  | {
      readonly type: 'set-subscription-attribute';
      readonly subscriptionArn?: string | undefined;
      readonly name?: string | undefined;
      readonly value?: string | undefined;
    }
  | {
      readonly type: 'list-subscriptions';
      /** Undefined lists those of all topics. */
      readonly topicArn?: string | undefined;
      readonly isByTopic: boolean;
      readonly after?: SubscriptionPosition | undefined;
    }
  | {
      readonly type: 'publish';
      readonly topicArn?: string | undefined;
      readonly isBatch: boolean;
      readonly entries: readonly PublishEntry[];
      readonly baseUrl: string;
    }
  /** The result of a call that a tick asked for. */
  | {
      readonly type: 'report-post';
      readonly topic: string;
      readonly subscription: string;
      readonly id: number;
      /** The call's number; a report of an earlier call is too late and changes nothing. */
      readonly attempt: number;
      readonly result: PostResult;
      /** What was posted, for the dead-letter queue. */
      readonly publication?: Publication | undefined;
    }
  /** The archived publications that a tick asked for, in order. */
  | {
      readonly type: 'replay';
      readonly topic: string;
      readonly subscription: string;
      readonly publications: readonly Publication[];
    }
  /** Ours: a topic's subscriptions, with their replays and posts, and the sizes of its window and archive. */
  | {
      readonly type: 'describe-topic';
      readonly topic: string;
      /** How many subscriptions to describe, of the oldest; default 1,000, which is also the most. */
      readonly limit?: number | undefined;
    }
  /** Ours: as `explain` for queues. */
  | {
      readonly type: 'explain-topic';
      readonly topic: string;
      readonly deduplicationId?: string | undefined;
      readonly groupId?: string | undefined;
      readonly limit: number;
    }
  /** Ours: which subscriptions would accept such a message, and whether a given policy would; nothing is published. */
  | {
      readonly type: 'match-filters';
      readonly topic: string;
      readonly message: string;
      readonly attributes: readonly MessageAttribute[];
      readonly policy?: { readonly text: string; readonly scope: FilterScope } | undefined;
    }
  /** Ours: empties the topic's deduplication window. */
  | { readonly type: 'forget-topic-window'; readonly topic: string };

const topicCommandTypes: ReadonlySet<string> = new Set<TopicCommand['type']>([
  'create-topic',
  'delete-topic',
  'list-topics',
  'get-topic-attributes',
  'set-topic-attribute',
  'tag-topic',
  'untag-topic',
  'list-topic-tags',
  'add-topic-permission',
  'remove-topic-permission',
  'put-data-protection',
  'get-data-protection',
  'subscribe',
  'confirm-subscription',
  'unsubscribe',
  'get-subscription-attributes',
  'set-subscription-attribute',
  'list-subscriptions',
  'publish',
  'report-post',
  'replay',
  'describe-topic',
  'explain-topic',
  'match-filters',
  'forget-topic-window',
]);

/** Whether a command is about topics. */
export function isTopicCommand(command: Command): command is TopicCommand {
  return topicCommandTypes.has(command.type);
}

export type TopicCommandOf<T extends TopicCommand['type']> = Extract<TopicCommand, { type: T }>;

/** Where a page of subscriptions ended. */
export interface SubscriptionPosition {
  readonly topic: string;
  readonly stamp: number;
}

export type PostResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly isFinal: boolean };

export interface PublishResult {
  readonly ok: true;
  readonly messageId: string;
  /** Undefined on a standard topic. */
  readonly sequence: number | undefined;
  readonly isDuplicate: boolean;
  /** The details of a duplicate. */
  readonly suppressed?: Suppressed;
  /** How the message breaks its contract, which only reports it; added outside of core. */
  readonly violation?: Violation;
}

/** A subscription as lists show it. */
export interface SubscriptionView {
  readonly subscriptionArn: string;
  readonly isConfirmed: boolean;
  readonly topicArn: string;
  readonly protocol: string;
  readonly endpoint: string;
  readonly position: SubscriptionPosition;
}

/** A call that is due; what to post is kept under the key (post, topic, id). */
export interface DuePost {
  readonly topic: string;
  readonly subscription: string;
  readonly id: number;
  readonly attempt: number;
  readonly url: string;
  readonly subscriptionArn: string;
  readonly topicArn: string;
  /** For a request to confirm. */
  readonly token: string | undefined;
  readonly isRaw: boolean;
  readonly signatureVersion: '1' | '2';
  readonly contentType: string;
}

/** Archived publications that a replay needs next, by sequence. */
export interface DueReplay {
  readonly topic: string;
  readonly subscription: string;
  readonly sequences: readonly number[];
}

export interface DescribedSubscription extends SubscriptionView {
  readonly attributes: Attributes;
  readonly replay: { readonly status: string; readonly left: number } | undefined;
  /** How many posts have not succeeded yet, and the oldest of them. */
  readonly postCount: number;
  readonly posts: readonly (KeptPostAttempt & { readonly id: number })[];
}

export interface TopicDescription {
  readonly ok: true;
  readonly topicArn: string;
  readonly isFifo: boolean;
  readonly windowEntries: number;
  readonly archived: number;
  readonly subscriptionCount: number;
  readonly subscriptions: readonly DescribedSubscription[];
}

interface Done {
  readonly ok: true;
}

export interface TopicOutcomes {
  'create-topic': { readonly ok: true; readonly topicArn: string };
  'delete-topic': Done;
  'list-topics': {
    readonly ok: true;
    readonly topics: readonly { readonly name: string; readonly arn: string }[];
    readonly next: string | undefined;
  };
  'get-topic-attributes': { readonly ok: true; readonly attributes: Attributes };
  'set-topic-attribute': Done;
  'tag-topic': Done;
  'untag-topic': Done;
  'list-topic-tags': { readonly ok: true; readonly tags: readonly Tag[] };
  'add-topic-permission': Done;
  'remove-topic-permission': Done;
  'put-data-protection': Done;
  'get-data-protection': { readonly ok: true; readonly policy: string };
  subscribe: {
    readonly ok: true;
    readonly subscriptionArn: string;
    readonly isConfirmed: boolean;
  };
  'confirm-subscription': { readonly ok: true; readonly subscriptionArn: string };
  unsubscribe: Done;
  'get-subscription-attributes': { readonly ok: true; readonly attributes: Attributes };
  'set-subscription-attribute': Done;
  'list-subscriptions': {
    readonly ok: true;
    readonly subscriptions: readonly SubscriptionView[];
    readonly next: SubscriptionPosition | undefined;
  };
  /** Results for the first entries; those that are too much for one transaction take another command. */
  publish: { readonly ok: true; readonly results: readonly PublishResult[] };
  'report-post': Done;
  replay: Done;
  'describe-topic': TopicDescription | Refusal;
  'explain-topic': { readonly ok: true; readonly entries: readonly ExplainedEntry[] };
  'match-filters': {
    readonly ok: true;
    readonly subscriptions: readonly {
      readonly subscriptionArn: string;
      readonly isMatch: boolean;
    }[];
    /** Whether the given policy matches, or what is wrong with it. */
    readonly policy: { readonly isMatch: boolean } | { readonly wrong: string } | undefined;
  };
  'forget-topic-window': { readonly ok: true; readonly entries: number };
}
