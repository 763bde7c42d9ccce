/**
 * What a crash run works on: its queues, and the bodies of its messages. One queue for each way to deduplicate, and one
 * without; a few groups each, so that groups are both busy and many. And a topic with two queues that nothing else is sent to.
 */

export interface CrashQueue {
  readonly name: string;
  /** One for each lane of the producer; on a standard queue the lanes have no groups. */
  readonly groups: readonly (string | undefined)[];
  /** Where deduplication ids come from. */
  readonly ids: 'given' | 'content' | 'none';
  readonly windowMs: number;
  readonly attributes: Readonly<Record<string, string>>;
}

const fourGroups = ['a', 'b', 'c', 'd'];
const visibility = { VisibilityTimeout: '2' };
const fifo = { FifoQueue: 'true', ...visibility };

export const queues: readonly CrashQueue[] = [
  {
    name: 'given.fifo',
    groups: fourGroups,
    ids: 'given',
    windowMs: 300_000,
    attributes: fifo,
  },
  {
    name: 'content.fifo',
    groups: fourGroups,
    ids: 'content',
    windowMs: 300_000,
    attributes: { ...fifo, ContentBasedDeduplication: 'true' },
  },
  {
    // The same ids in every group, and a window that ends within a run: entries must expire while others are added.
    name: 'scoped.fifo',
    groups: fourGroups,
    ids: 'given',
    windowMs: 20_000,
    attributes: {
      ...fifo,
      DeduplicationScope: 'messageGroup',
      DeduplicationIntervalSeconds: '20',
    },
  },
  {
    name: 'plain',
    groups: [undefined, undefined],
    ids: 'none',
    windowMs: 0,
    attributes: visibility,
  },
];

/** What is published to the topic arrives in them. */
export const subscribers: readonly CrashQueue[] = ['left.fifo', 'right.fifo'].map((name) => ({
  name,
  groups: [],
  ids: 'given',
  windowMs: 300_000,
  attributes: fifo,
}));

export const topic = {
  name: 'news.fifo',
  arn: 'arn:aws:sns:us-east-1:000000000000:news.fifo',
  groups: ['a', 'b'],
} as const;

/** All queues that are received from. */
export const allQueues: readonly CrashQueue[] = [...queues, ...subscribers];

export function arnOf(queue: string): string {
  return `arn:aws:sqs:us-east-1:000000000000:${queue}`;
}

export function urlOf(queue: string): string {
  return `http://localhost/000000000000/${queue}`;
}

/** A body names its message; one in twenty is longer than a page of the store, so that it is stored apart. */
export function bodyOf(name: string): string {
  return name.endsWith('7') && name.length % 2 === 0 ? `${name} ${'.'.repeat(9_000)}` : name;
}

/** The message that a body names; the body itself if it differs from what was sent. */
export function nameOf(body: string): string {
  const [name = ''] = body.split(' ', 1);
  return bodyOf(name) === body ? name : body;
}
