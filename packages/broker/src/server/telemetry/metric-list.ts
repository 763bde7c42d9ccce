/**
 * Every metric of the server, one row each: its name, kind, unit, the attributes that distinguish its series, and its
 * meaning. docs/telemetry/dedup-metrics.md is generated from this table, and nothing is measured that has no row here.
 *
 * Attributes are bounded: each has a fixed set of values, or is the name of a queue or topic, of which only a limited
 * number have series of their own (bounded-series.ts). Ids of messages, groups and sends are never attributes.
 */

export interface Metric {
  /** A counter only grows, and restarts from 0 with the server; a gauge is the current value. */
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** UCUM, as OpenTelemetry requires; a word in braces is an annotation for people. */
  readonly unit: 's' | 'By' | '1' | `{${string}}`;
  readonly attributes: readonly AttributeName[];
  readonly doc: string;
  /** Upper bounds of the buckets of a histogram. */
  readonly bounds?: Bounds;
}

/** The values of each attribute, in words. */
export const attributeTexts = {
  queue:
    "the queue's name, or `(other)`; where there is also `topic`, only the one that applies is set",
  topic: "the topic's name, or `(other)`",
  source: '`explicit`: the sender gave the id; `content`: it is the hash of the body',
  reason:
    'the code of the rule, as in [producer requirements](../contracts/producer-requirements.md)',
  service: '`sqs`, `sns`, or `unknown`',
  action: "the action's name, or `unknown`",
  code: "`OK`, or the error's shape, as in [errors](../reference/errors.md)",
  outcome: 'one of the values listed above',
  cause: 'one of the values listed above',
  mode: '`user` or `system`',
  state: '`active` or `idle`',
} as const;

export type AttributeName = keyof typeof attributeTexts;

type Bounds = readonly number[];

/** Long polls wait up to 20 s. */
const requestSeconds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20.5,
];
/** A message has at most 1 MiB. */
const bodyBytes = [64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576];
const commitSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const commitRecords = [1, 4, 16, 64, 256, 1024, 4096];
const commitBytes = [1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

export const metricList = {
  'sqs_fifo.dedupe.collisions_detected': {
    kind: 'counter',
    unit: '{send}',
    attributes: ['queue', 'topic', 'source'],
    doc: 'suppressed sends that differed from their original in body, attributes or group; those by content are most likely lost events, those by explicit id may be changed retries',
  },
  'sqs_fifo.producer.violations': {
    kind: 'counter',
    unit: '{send}',
    attributes: ['queue', 'topic', 'reason'],
    doc: 'sends and publications that broke the contract of their queue or topic (`--contract`), refused or only reported',
  },
  'sqs_fifo.body_hash.length_bytes': {
    kind: 'histogram',
    unit: 'By',
    attributes: ['queue', 'source'],
    doc: 'length of the bodies sent to FIFO queues, including suppressed ones',
    bounds: bodyBytes as Bounds,
  },
  'sqs_fifo.dedupe_window_hits': {
    kind: 'counter',
    unit: '{send}',
    attributes: ['queue', 'topic', 'source'],
    doc: 'sends to a queue and publications to a topic that were suppressed as duplicates',
  },

  'oncemq.messages.sent': {
    kind: 'counter',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages that a queue accepted, from senders and from topics, without duplicates',
  },
  'oncemq.messages.delivered': {
    kind: 'counter',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages delivered to receivers; a message counts each time it is delivered',
  },
  'oncemq.messages.deleted': {
    kind: 'counter',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages that receivers deleted',
  },
  'oncemq.messages.expired': {
    kind: 'counter',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages that were not deleted within the retention period',
  },
  'oncemq.messages.dead_lettered': {
    kind: 'counter',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages that went to a dead-letter queue after too many receives, by the queue that they left',
  },
  'oncemq.messages.moved': {
    kind: 'counter',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages that a redrive moved, by the queue that they left',
  },
  'oncemq.messages.purged': {
    kind: 'counter',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages that PurgeQueue removed',
  },

  'oncemq.queue.visible': {
    kind: 'gauge',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages that are neither in flight nor delayed',
  },
  'oncemq.queue.in_flight': {
    kind: 'gauge',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages that were received and are hidden until their timeout',
  },
  'oncemq.queue.delayed': {
    kind: 'gauge',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages that cannot be received yet',
  },
  'oncemq.queue.oldest_age': {
    kind: 'gauge',
    unit: 's',
    attributes: ['queue'],
    doc: "age of the oldest message by the server's clock, 0 if the queue is empty; for `(other)` the oldest of all",
  },
  'oncemq.queue.groups': {
    kind: 'gauge',
    unit: '{group}',
    attributes: ['queue'],
    doc: 'message groups that have messages; FIFO queues only',
  },
  'oncemq.queue.groups_blocked': {
    kind: 'gauge',
    unit: '{group}',
    attributes: ['queue'],
    doc: 'message groups that are blocked, because their first message is in flight or delayed',
  },
  'oncemq.queue.window_entries': {
    kind: 'gauge',
    unit: '{id}',
    attributes: ['queue'],
    doc: 'deduplication ids in the window; FIFO queues only',
  },
  'oncemq.queues': {
    kind: 'gauge',
    unit: '{queue}',
    attributes: [],
    doc: 'number of queues',
  },

  'oncemq.topic.publications': {
    kind: 'counter',
    unit: '{publication}',
    attributes: ['topic', 'outcome'],
    doc: 'publications that a topic accepted (`published`) or suppressed (`duplicate`)',
  },
  'oncemq.topic.deliveries': {
    kind: 'counter',
    unit: '{delivery}',
    attributes: ['topic', 'outcome'],
    doc: 'what happened to publications, counted for each subscription: `queued`, `posted` to an HTTP endpoint, `filtered` out, `failed` for good',
  },

  'oncemq.requests': {
    kind: 'counter',
    unit: '{request}',
    attributes: ['service', 'action', 'code'],
    doc: 'requests that were answered; failed entries of a batch do not show here',
  },
  'oncemq.request.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['service', 'action'],
    doc: 'real time from the complete arrival of a request to its answer; a ReceiveMessage may wait for messages',
    bounds: requestSeconds as Bounds,
  },
  'oncemq.connections.closed': {
    kind: 'counter',
    unit: '{connection}',
    attributes: ['cause'],
    doc: 'connections closed for what their clients did: left an answer unread (`unread`), sent too many requests before their answers (`pipelined`), did not read the events they asked for (`event-reader`)',
  },
  'oncemq.long_polls': {
    kind: 'gauge',
    unit: '{request}',
    attributes: [],
    doc: 'ReceiveMessage requests that wait for messages',
  },

  'oncemq.store.available': {
    kind: 'gauge',
    unit: '1',
    attributes: [],
    doc: '1, or 0 while changes are refused because they cannot be stored',
  },
  'oncemq.store.lost_commits': {
    kind: 'counter',
    unit: '{loss}',
    attributes: [],
    doc: 'queues and topics that lack what the database had committed for them, as after a failover to a standby that was behind; the log and `/_oncemq/health` name them',
  },
  'oncemq.store.size': {
    kind: 'gauge',
    unit: 'By',
    attributes: [],
    doc: 'size of the store on disk; only with a data directory',
  },
  'oncemq.commit.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: [],
    doc: 'real time that a commit took, to disk or in the database; not with `--memory`',
    bounds: commitSeconds as Bounds,
  },
  'oncemq.commit.records': {
    kind: 'histogram',
    unit: '{record}',
    attributes: [],
    doc: 'records that a commit wrote, or with PostgreSQL rows of the journal; not with `--memory`',
    bounds: commitRecords as Bounds,
  },
  'oncemq.commit.size': {
    kind: 'histogram',
    unit: 'By',
    attributes: [],
    doc: 'bytes of the values that a commit wrote; not with `--memory`',
    bounds: commitBytes as Bounds,
  },

  'oncemq.lock.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: [],
    doc: 'real time before a commit until the database had locked what it touches and told what other servers had changed there; only with PostgreSQL',
    bounds: commitSeconds as Bounds,
  },
  'oncemq.lock.skipped': {
    kind: 'counter',
    unit: '{lock}',
    attributes: [],
    doc: 'queues and topics that were left to a later commit, because another server had locked them; only with PostgreSQL',
  },
  'oncemq.cluster.nodes': {
    kind: 'gauge',
    unit: '{server}',
    attributes: [],
    doc: 'servers that share the database and were seen within the last ten seconds; only with PostgreSQL',
  },
  'oncemq.cluster.absorbed_changes': {
    kind: 'counter',
    unit: '{change}',
    attributes: [],
    doc: 'changes that this server took in because other servers had made them; only with PostgreSQL',
  },
  'oncemq.cluster.loaded_owners': {
    kind: 'gauge',
    unit: '{owner}',
    attributes: [],
    doc: 'queues and topics that this server holds in memory, because it used them in the last minutes; only with PostgreSQL',
  },
  'oncemq.journal.rows': {
    kind: 'gauge',
    unit: '{row}',
    attributes: [],
    doc: "rows of the journal, as the database's statistics estimate them; the same at every server; only with PostgreSQL",
  },
  'oncemq.journal.size': {
    kind: 'gauge',
    unit: 'By',
    attributes: [],
    doc: 'size of the journal on disk, with room that is used again; the same at every server; only with PostgreSQL',
  },
  'oncemq.journal.pending_rows': {
    kind: 'gauge',
    unit: '{row}',
    attributes: [],
    doc: 'rows of the journal that are not records yet; the same at every server; only with PostgreSQL',
  },
  'oncemq.journal.lag': {
    kind: 'gauge',
    unit: 's',
    attributes: [],
    doc: 'age of the oldest row of the journal that is not a record yet, 0 if all are; the same at every server; only with PostgreSQL',
  },

  'process.cpu.time': {
    kind: 'counter',
    unit: 's',
    attributes: ['mode'],
    doc: 'processor time of the process, over all threads',
  },
  'process.memory.usage': {
    kind: 'gauge',
    unit: 'By',
    attributes: [],
    doc: 'resident memory of the process, including mapped pages of the store',
  },
  'nodejs.eventloop.time': {
    kind: 'counter',
    unit: 's',
    attributes: ['state'],
    doc: 'time that the event loop was active or idle; if it is almost always active, it limits throughput',
  },
} as const;

export type MetricName = keyof typeof metricList;

/** The names of the histograms among them. */
export type HistogramName = {
  [Name in MetricName]: (typeof metricList)[Name] extends { kind: 'histogram' } ? Name : never;
}[MetricName];
