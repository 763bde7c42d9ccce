/**
 * Every number that Amazon documents for SQS, and the few that are ours. One place, so that a changed quota is
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
}

export const strictLimits: Limits = {
  nameReuseMs: 60_000,
  purgeIntervalMs: 60_000,
  inFlightMax: 120_000,
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

/** Policies written by AddPermission. */
export const policyStatementsMax = 20;
export const policyActionsMax = 7;
export const policyPrincipalsMax = 50;

/**
 * Ours: how many messages one command may move to a dead-letter queue, or one tick for a move task, so that no
 * single command grows without bound. The rest is due at once and follows in the next command.
 */
export const movesPerCommandMax = 100;
