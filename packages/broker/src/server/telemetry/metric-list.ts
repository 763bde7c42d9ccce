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
  queue: "the queue's name, or `(other)`; with `topic`, whichever of the two it is about",
  topic: "the topic's name, or `(other)`",
  source: '`explicit`: the sender gave the id; `content`: it is the hash of the body',
  reason:
    'the code of the rule, as in [producer requirements](../contracts/producer-requirements.md)',
  service: '`sqs`, `sns`, or `unknown`',
  action: "the action's name, or `unknown` for what is none",
  code: "`OK`, or the error's shape, as in [errors](../reference/errors.md)",
  outcome: 'what became of it, as said above',
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
    doc: 'suppressed sends that differed from their original in body, attributes or group: by content most likely lost events, by explicit id perhaps only a retry that was changed',
  },
  'sqs_fifo.producer.violations': {
    kind: 'counter',
    unit: '{send}',
    attributes: ['queue', 'reason'],
    doc: 'sends that broke the contract of their queue (`--contract`), refused or only reported',
  },
  'sqs_fifo.body_hash.length_bytes': {
    kind: 'histogram',
    unit: 'By',
    attributes: ['source'],
    doc: 'length of the bodies sent to FIFO queues, suppressed ones too',
    bounds: bodyBytes as Bounds,
  },
  'sqs_fifo.dedupe_window_hits': {
    kind: 'counter',
    unit: '{send}',
    attributes: ['queue', 'topic', 'source'],
    doc: 'sends to a queue and publications of a topic that were suppressed as duplicates',
  },

  'oncemq.messages.sent': {
    kind: 'counter',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages that a queue took, from senders and from topics; duplicates are not among them',
  },
  'oncemq.messages.delivered': {
    kind: 'counter',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages handed to receivers, each time that they were',
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
    doc: 'messages that nobody deleted within the retention period',
  },
  'oncemq.messages.dead_lettered': {
    kind: 'counter',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages received too often, which went to the dead-letter queue; by the queue that they left',
  },
  'oncemq.messages.moved': {
    kind: 'counter',
    unit: '{message}',
    attributes: ['queue'],
    doc: 'messages that a redrive took elsewhere; by the queue that they left',
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
    doc: "age of the oldest message by the server's clock, 0 without one; of `(other)` the oldest of all",
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
    doc: 'groups among them that give none, since their first message is in flight or delayed',
  },
  'oncemq.queue.window_entries': {
    kind: 'gauge',
    unit: '{id}',
    attributes: ['queue'],
    doc: 'deduplication ids that the window holds; FIFO queues only',
  },
  'oncemq.queues': {
    kind: 'gauge',
    unit: '{queue}',
    attributes: [],
    doc: 'queues that there are',
  },

  'oncemq.topic.publications': {
    kind: 'counter',
    unit: '{publication}',
    attributes: ['topic', 'outcome'],
    doc: 'publications that a topic took (`published`) or suppressed (`duplicate`)',
  },
  'oncemq.topic.deliveries': {
    kind: 'counter',
    unit: '{delivery}',
    attributes: ['topic', 'outcome'],
    doc: 'what became of publications, for each subscription: `queued`, `posted` to an HTTP endpoint, `filtered` out, `failed` for good',
  },

  'oncemq.requests': {
    kind: 'counter',
    unit: '{request}',
    attributes: ['service', 'action', 'code'],
    doc: 'requests that were answered; an entry of a batch that failed alone does not show here',
  },
  'oncemq.request.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['service', 'action'],
    doc: 'real time from a request that has wholly arrived to its answer; a ReceiveMessage may wait for messages',
    bounds: requestSeconds as Bounds,
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
    doc: '1; 0 while changes are refused because they cannot be kept',
  },
  'oncemq.store.size': {
    kind: 'gauge',
    unit: 'By',
    attributes: [],
    doc: 'what the store takes on the disk; not with `--memory`',
  },
  'oncemq.commit.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: [],
    doc: 'real time that a commit to the disk took; not with `--memory`',
    bounds: commitSeconds as Bounds,
  },
  'oncemq.commit.records': {
    kind: 'histogram',
    unit: '{record}',
    attributes: [],
    doc: 'records that a commit wrote; not with `--memory`',
    bounds: commitRecords as Bounds,
  },
  'oncemq.commit.size': {
    kind: 'histogram',
    unit: 'By',
    attributes: [],
    doc: 'bytes of the values that a commit wrote; not with `--memory`',
    bounds: commitBytes as Bounds,
  },

  'process.cpu.time': {
    kind: 'counter',
    unit: 's',
    attributes: ['mode'],
    doc: 'processor time of the process, all its threads',
  },
  'process.memory.usage': {
    kind: 'gauge',
    unit: 'By',
    attributes: [],
    doc: 'resident memory of the process, with what is mapped from the store',
  },
  'nodejs.eventloop.time': {
    kind: 'counter',
    unit: 's',
    attributes: ['state'],
    doc: 'time that the event loop was at work or waited; at work nearly always, it is the limit',
  },
} as const;

export type MetricName = keyof typeof metricList;

/** The names of the histograms among them. */
export type HistogramName = {
  [Name in MetricName]: (typeof metricList)[Name] extends { kind: 'histogram' } ? Name : never;
}[MetricName];
