/**
 * Every number that Amazon documents for SQS and SNS, and the few that are ours. One file, so that a changed quota is
 * one edit, and so that a test names the limit it is about.
 *
 * `strictLimits` is what the service does. `relaxedLimits` drops the two waits that only get in the way of test
 * users (name reuse after DeleteQueue, a second PurgeQueue); nothing about messages differs between the two.
 */

export interface Limits {
  /** How long a deleted queue's name stays taken (CreateQueue, QueueDeletedRecently). */
  readonly nameReuseMs: number;
  /** How long after a purge the next one is refused (PurgeQueueInProgress). */
  readonly purgeIntervalMs: number;
  /** Messages in flight in one queue, standard and FIFO alike. */
  readonly inFlightMax: number;
  /**
   * Ours: how many expired entries (messages, window entries, archived publications) one tick may remove, so that no tick
   * grows without bound. The rest is due at once. 5,000 take some 15 ms, kept on disk.
   */
  readonly expiredPerTickMax: number;
}

export const strictLimits: Limits = {
  nameReuseMs: 60_000,
  purgeIntervalMs: 60_000,
  inFlightMax: 120_000,
  expiredPerTickMax: 5_000,
};

export const relaxedLimits: Limits = { ...strictLimits, nameReuseMs: 0, purgeIntervalMs: 0 };

/** Names, tags, pages. */
export const nameLengthMax = 80;
export const tagsMax = 50;
export const tagKeyLengthMax = 128;
export const tagValueLengthMax = 256;
export const pageSizeMax = 1000;

/** One message. Sizes are bytes of UTF-8; ids are characters. */
export const messageSizeBytesMin = 1024;
export const messageSizeBytesMax = 1_048_576;
export const messageAttributesMax = 10;
export const attributeNameLengthMax = 256;
export const attributeTypeLengthMax = 256;
export const idLengthMax = 128;

/** One batch, one receive. */
export const batchEntriesMax = 10;
export const batchSizeBytesMax = 1_048_576;
export const batchEntryIdLengthMax = 80;
export const receiveMessagesMax = 10;

/** Times, in the unit of the parameter. */
export const delaySecondsMax = 900;
export const visibilitySecondsMax = 43_200;
export const waitSecondsMax = 20;
export const retentionSecondsMin = 60;
export const retentionSecondsMax = 1_209_600;
export const attemptMs = 300_000;

/** The deduplication window; Amazon's is fixed at the default. */
export const deduplicationSecondsDefault = 300;
export const deduplicationSecondsMax = 1_209_600;

/** Dead-letter queues and message move tasks. */
export const receiveCountMax = 1000;
export const redriveSourcesMax = 10;
export const movesPerSecondMax = 500;
export const moveTasksListedMax = 10;
export const moveTasksActiveMax = 100;
export const moveTaskMs = 129_600_000;

/**
 * Ours: how many messages one command may move to a dead-letter queue, or one tick for a move task, so that no
 * single command grows without bound. The rest is due at once and follows in the next command.
 */
export const movesPerCommandMax = 100;

/** Topics. */
export const topicNameLengthMax = 256;
export const topicsMax = 100_000;
export const fifoTopicsMax = 1_000;
export const topicPageSize = 100;
export const topicTagsMax = 50;
export const displayNameLengthMax = 100;
export const dataProtectionLengthMax = 30_720;
export const topicWindowMs = 300_000;
export const archiveDaysMax = 365;

/**
 * Subscriptions. Amazon's quota of 200 filter policies per topic is not enforced, the account's is. Ours: how many of a
 * standard topic may have no filter policy (Amazon: 12,500,000), since each publication is for all of them at once.
 */
export const unfilteredSubscriptionsMax = 1_000;
export const fifoSubscriptionsMax = 100;
export const filterPoliciesMax = 10_000;
export const confirmationMs = 172_800_000;
export const endpointLengthMax = 2_048;

/** One publication. Sizes are bytes of UTF-8. */
export const publicationSizeBytesDefault = 262_144;
export const publicationSizeBytesMax = 1_048_576;
export const largePublicationSubscriptionsMax = 100;
export const subjectLengthMax = 100;

/**
 * Ours: what matching one publish request with all filter policies may cost, in comparisons of short values
 * (filter-policy/filter-work.ts): some 20 ms.
 */
export const filterWorkMax = 1_000_000;
/**
 * Ours: how much one publication may write for all its subscriptions, in bytes: some 40 ms. Each delivery counts
 * `deliveryBytes` more, so it is also 1,365 deliveries at most. Attributes within an envelope count three times, because
 * their digest cannot be shared; a text beyond ASCII counts four times. A batch that is beyond it takes several transactions.
 */
export const fanOutBytesMax = 33_554_432;
export const deliveryBytes = 24_576;
export const envelopeAttributeWeight = 3;
/** Ours: judging a message by a contract takes as long as writing it so many times, where it has many short members. */
export const judgedBytesWeight = 128;

/** Calls to HTTP endpoints: retries, their delays in seconds, and the longest total time. */
export const postRetriesMax = 100;
export const postDelaySecondsMax = 3_600;
export const postTotalSecondsMax = 3_600;

/** Ours: how long a call may be in flight before it counts as lost. */
export const postLeaseMs = 60_000;
/** Ours: how many calls one tick may ask for, how many publications one replay command has, how many replays may run. */
export const postsPerTickMax = 100;
export const replayedPerCommandMax = 100;
export const replaysMax = 100;
