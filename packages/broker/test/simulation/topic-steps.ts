/**
 * Random lives of topics, as plain data that fast-check can shrink: publications, subscriptions, attributes, reports and the
 * clock, over two topics and a handful of queues. `TopicWorld` runs them on one engine, does what ticks ask for as storage
 * would, and lets a witness compare.
 */

import fc from 'fast-check';
import type { Change, KeptPost, Publication } from '../../src/core/changes.ts';
import type { Command, Outcome } from '../../src/core/commands.ts';
import { type Applied, Engine } from '../../src/core/engine.ts';
import { isoTime } from '../../src/core/iso-time.ts';
import { strictLimits } from '../../src/core/limits.ts';
import { MemoryStore } from '../../src/storage/memory/memory-store.ts';
import { CountedIds } from '../support/counted-ids.ts';

export const startedAt = 1_800_000_000_000;

export const topicNames = ['prices.fifo', 'events'] as const;
export const fanQueues = ['a.fifo', 'b.fifo', 'plain', 'dead.fifo', 'dead'] as const;

/** A command, or one that names a subscription by its number, or a move of the clock. */
export type TopicStep =
  | Command
  | { readonly type: 'clock'; readonly addMs: number }
  | { readonly type: 'unsubscribe-nth'; readonly nth: number }
  | {
      readonly type: 'set-on-nth';
      readonly nth: number;
      readonly name: string;
      readonly value: string;
    }
  | { readonly type: 'confirm-nth'; readonly nth: number };

const baseUrl = 'http://mq.example';
const topicArn = (name: string): string => `arn:aws:sns:us-east-1:000000000000:${name}`;
const queueArn = (name: string): string => `arn:aws:sqs:us-east-1:000000000000:${name}`;

export const topicPrologue: readonly Command[] = [
  ...fanQueues.map(
    (queue): Command => ({
      type: 'create-queue',
      queue,
      attributes: queue.endsWith('.fifo') ? { FifoQueue: 'true' } : {},
    }),
  ),
  {
    type: 'create-topic',
    name: 'prices.fifo',
    attributes: {
      FifoTopic: 'true',
      ContentBasedDeduplication: 'true',
      ArchivePolicy: '{"MessageRetentionPeriod":"1"}',
    },
  },
  { type: 'create-topic', name: 'events' },
];

const topic = fc.constantFrom(...topicNames);
const nth = fc.nat({ max: 5 });

const publish: fc.Arbitrary<TopicStep> = fc
  .record({
    name: topic,
    isBatch: fc.boolean(),
    entries: fc.array(
      fc.record({
        message: fc.constantFrom('one', 'two', '{"kind":"price"}', ''),
        groupId: fc.constantFrom('g', 'h'),
        deduplicationId: fc.option(fc.constantFrom('d1', 'd2'), { nil: undefined }),
        kind: fc.constantFrom('price', 'stock'),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  })
  .map(({ name, isBatch, entries }) => ({
    type: 'publish',
    topicArn: topicArn(name),
    isBatch,
    baseUrl,
    entries: (isBatch ? entries : entries.slice(0, 1)).map((entry, at) => ({
      id: `e${at}`,
      message: entry.message,
      groupId: entry.groupId,
      deduplicationId: name.endsWith('.fifo') ? entry.deduplicationId : undefined,
      attributes: [{ name: 'kind', type: 'String', stringValue: entry.kind }],
    })),
  }));

const attributes = fc.constantFrom<Readonly<Record<string, string>>>(
  {},
  { RawMessageDelivery: 'true' },
  { FilterPolicy: '{"kind":["price"]}' },
  { FilterPolicy: '{"kind":["price"]}', FilterPolicyScope: 'MessageBody' },
  { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn('dead.fifo') }) },
  { ReplayPolicy: replayFrom(0) },
  { ReplayPolicy: replayFrom(0, 60_000) },
);

const subscribe: fc.Arbitrary<TopicStep> = fc
  .record({
    name: topic,
    target: fc.constantFrom('a.fifo', 'b.fifo', 'plain', 'gone.fifo', 'http://one.example/'),
    attributes,
  })
  .map(({ name, target, attributes }) => ({
    type: 'subscribe',
    topicArn: topicArn(name),
    protocol: target.startsWith('http') ? 'http' : 'sqs',
    endpoint: target.startsWith('http') ? target : queueArn(target),
    attributes,
    baseUrl,
  }));

const setting: fc.Arbitrary<TopicStep> = fc.constantFrom<TopicStep>(
  set('FifoThroughputScope', 'MessageGroup'),
  set('ArchivePolicy', '{}'),
  set('ArchivePolicy', '{"MessageRetentionPeriod":"2"}'),
  { type: 'delete-topic', topicArn: topicArn('events') },
  { type: 'create-topic', name: 'events' },
  { type: 'delete-queue', queue: 'b.fifo' },
  { type: 'forget-topic-window', topic: 'prices.fifo' },
  { type: 'get-topic-attributes', topicArn: topicArn('prices.fifo') },
  { type: 'describe-topic', topic: 'events' },
  { type: 'explain-topic', topic: 'prices.fifo', limit: 5 },
  { type: 'list-subscriptions', isByTopic: false },
);

const clock: fc.Arbitrary<TopicStep> = fc
  .constantFrom(0, 1, 1000, 20_000, 60_000, 299_999, 300_000, 86_400_000, 172_800_000)
  .map((addMs) => ({ type: 'clock', addMs }));

const look: fc.Arbitrary<TopicStep> = fc
  .constantFrom('a.fifo', 'plain', 'dead.fifo')
  .map((queue) => ({ type: 'receive', queue, count: 3 }));

export const topicSteps: fc.Arbitrary<readonly TopicStep[]> = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: publish },
    { weight: 5, arbitrary: subscribe },
    { weight: 2, arbitrary: setting },
    { weight: 4, arbitrary: clock },
    { weight: 2, arbitrary: look },
    { weight: 1, arbitrary: nth.map((n): TopicStep => ({ type: 'unsubscribe-nth', nth: n })) },
    { weight: 2, arbitrary: nth.map((n): TopicStep => ({ type: 'confirm-nth', nth: n })) },
    {
      weight: 2,
      arbitrary: fc.tuple(nth, attributes).map(([n, given]): TopicStep => {
        const [name = 'FilterPolicy', value = ''] = Object.entries(given)[0] ?? [];
        return { type: 'set-on-nth', nth: n, name, value };
      }),
    },
  ),
  { maxLength: 60 },
);

function set(name: string, value: string): Command {
  return { type: 'set-topic-attribute', topicArn: topicArn('prices.fifo'), name, value };
}

function replayFrom(fromMs: number, untilMs?: number): string {
  const end = untilMs === undefined ? {} : { EndingPoint: isoTime(startedAt + untilMs) };
  const start = { PointType: 'Timestamp', StartingPoint: isoTime(startedAt + fromMs) };
  return JSON.stringify({ ...start, ...end });
}

export interface TopicMoment {
  readonly now: number;
  readonly ids: CountedIds;
  readonly engine: Engine;
  readonly store: MemoryStore;
}

export interface TopicWitness {
  before(command: Command, moment: TopicMoment): void;
  after(command: Command, applied: Applied<Command['type']>, moment: TopicMoment): void;
}

const ticksMax = 500;

/** Its ticks often leave a part of what has expired. */
export function topicEngine(): Engine {
  return new Engine({ limits: { ...strictLimits, expiredPerTickMax: 2 } });
}

export class TopicWorld {
  readonly engine: Engine = topicEngine();
  readonly store: MemoryStore = new MemoryStore();
  applied = 0;
  #now = startedAt;
  readonly #ids = new CountedIds();
  readonly #witness: TopicWitness;

  constructor(witness: TopicWitness) {
    this.#witness = witness;
  }

  run(steps: readonly TopicStep[]): void {
    for (const command of topicPrologue) this.#apply(command);
    for (const step of steps) this.#step(step);
  }

  #step(step: TopicStep): void {
    switch (step.type) {
      case 'clock':
        this.#now += step.addMs;
        this.#doWhatIsDue();
        return;
      case 'unsubscribe-nth':
        this.#apply({ type: 'unsubscribe', subscriptionArn: this.#nth(step.nth).arn });
        return;
      case 'set-on-nth': {
        const { name, value } = step;
        const { arn } = this.#nth(step.nth);
        this.#apply({ type: 'set-subscription-attribute', subscriptionArn: arn, name, value });
        return;
      }
      case 'confirm-nth': {
        const { topic, token } = this.#nth(step.nth);
        this.#apply({ type: 'confirm-subscription', topicArn: topicArn(topic), token });
        return;
      }
      default:
        this.#apply(step);
    }
  }

  #doWhatIsDue(): void {
    for (let ticks = 0; (this.engine.nextDueAt() ?? Number.POSITIVE_INFINITY) <= this.#now; ) {
      ticks += 1;
      if (ticks > ticksMax) throw new Error('the engine never comes to rest');
      const tick = this.#apply({ type: 'tick' });
      if (!tick.ok) throw new Error('a tick was refused');
      for (const { topic, subscription, sequences } of tick.replays) {
        const publications = sequences.map(
          (sequence) => this.store.archived(topic, sequence) as Publication,
        );
        this.#apply({ type: 'replay', topic, subscription, publications });
      }
      for (const { topic, subscription, id, attempt } of tick.posts) {
        // Some calls succeed, some fail for now, some are lost.
        if (id % 3 === 0) continue;
        const { publication } = this.store.post(topic, id) as KeptPost;
        const result =
          id % 3 === 1
            ? ({ ok: true } as const)
            : ({ ok: false, reason: 'busy', isFinal: attempt > 2 } as const);
        const what = { type: 'report-post', topic, subscription, id } as const;
        this.#apply({ ...what, attempt, result, publication });
      }
    }
  }

  #apply<C extends Command>(command: C): Outcome<C['type']> {
    this.applied += 1;
    const { engine, store } = this;
    const moment = { now: this.#now, ids: this.#ids.fork(), engine, store };
    this.#witness.before(command, moment);
    const applied = engine.apply(command, { now: this.#now, ids: this.#ids });
    store.apply(applied.changes);
    this.#witness.after(command, applied as Applied<Command['type']>, moment);
    return applied.outcome as Outcome<C['type']>;
  }

  /** A subscription by number, from what is kept; if there is none, one that never existed. */
  #nth(nth: number): { arn: string; topic: string; token: string } {
    const all = [...this.store.changes()].filter(isSubscription);
    const found = all[nth % Math.max(1, all.length)];
    if (found === undefined) return { arn: `${topicArn('events')}:x`, topic: 'events', token: '' };
    const { topic, id, value } = found;
    return { arn: `${topicArn(topic)}:${id}`, topic, token: value?.token ?? '' };
  }
}

function isSubscription(change: Change): change is Extract<Change, { kind: 'subscription' }> {
  return change.kind === 'subscription';
}
