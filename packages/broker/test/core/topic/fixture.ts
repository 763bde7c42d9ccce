/**
 * The base of the tests of topics: the engine of ../fixture.ts with verbs for topics. What a tick asks for is done here as
 * storage would do it: archived publications are read from the changes, and calls to endpoints go to `answer`, which a
 * test sets. Every verb has defaults, so what a test sets is what it is about.
 */

import assert from 'node:assert/strict';
import type { KeptPost, Publication } from '../../../src/core/changes.ts';
import type { Attributes, Outcome } from '../../../src/core/commands.ts';
import type { EngineOptions } from '../../../src/core/engine.ts';
import type { Refusal } from '../../../src/core/errors.ts';
import type { TopicEvent } from '../../../src/core/events.ts';
import type {
  DuePost,
  PostResult,
  PublishEntry,
  PublishResult,
} from '../../../src/core/topic/commands.ts';
import { postRequest } from '../../../src/core/topic/http-delivery.ts';
import { accepted, TestEngine, type TestQueue } from '../fixture.ts';

export const baseUrl = 'http://queues.example';

/** What was posted to an endpoint. */
export interface Posted {
  readonly due: DuePost;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export class TopicEngine extends TestEngine {
  readonly posted: Posted[] = [];
  /** What endpoints answer. */
  answer: (due: DuePost) => PostResult = () => ({ ok: true });

  createTopic(name: string, attributes: Attributes = {}): TestTopic {
    const fifo = name.endsWith('.fifo') ? { FifoTopic: 'true' } : {};
    const command = { type: 'create-topic', name, attributes: { ...fifo, ...attributes } } as const;
    const { topicArn } = accepted(this.apply(command));
    return new TestTopic(this, topicArn);
  }

  /** Events about topics, of this type. */
  told<T extends TopicEvent['type']>(type: T): Extract<TopicEvent, { type: T }>[] {
    return this.events.filter((event) => event.type === type) as Extract<TopicEvent, { type: T }>[];
  }

  /** Every entry of the kind that was ever put under this key. */
  kept<V>(kind: 'archived' | 'post', topic: string, id: number): V {
    const found = this.changes.find(
      (change) =>
        change.kind === kind && change.topic === topic && change.id === id && change.value !== null,
    );
    assert.ok(found !== undefined && 'value' in found, `${topic} keeps no ${kind} ${id}`);
    return found.value as V;
  }

  protected override follow({ posts, replays }: Extract<Outcome<'tick'>, { ok: true }>): void {
    for (const { topic, subscription, sequences } of replays) {
      const publications = sequences.map((id) => this.kept<Publication>('archived', topic, id));
      accepted(this.apply({ type: 'replay', topic, subscription, publications }));
    }
    for (const due of posts) {
      const { topic, subscription, id, attempt } = due;
      const post = this.kept<KeptPost>('post', topic, id);
      this.posted.push({ due, ...postRequest(due, post, this.now, undefined) });
      const result = this.answer(due);
      const { publication } = post;
      this.apply({
        type: 'report-post',
        topic,
        subscription,
        id,
        attempt,
        result,
        publication,
      });
    }
  }
}

/** What tests know of a topic by its ARN: its name, and the defaults of what they publish. */
export class NamedTopic {
  readonly arn: string;
  readonly name: string;
  #publications = 0;

  constructor(arn: string) {
    this.arn = arn;
    this.name = arn.slice(arn.lastIndexOf(':') + 1);
  }

  get isFifo(): boolean {
    return this.name.endsWith('.fifo');
  }

  /** Message `hello`; on a FIFO topic group `g` and a deduplication id of its own. */
  protected filled(entry: PublishEntry): PublishEntry {
    this.#publications += 1;
    const ids = this.isFifo ? { groupId: 'g', deduplicationId: `p-${this.#publications}` } : {};
    return { message: 'hello', ...ids, ...entry };
  }
}

/** One topic and the engine it lives in. */
export class TestTopic extends NamedTopic {
  readonly home: TopicEngine;

  constructor(home: TopicEngine, arn: string) {
    super(arn);
    this.home = home;
  }

  trySubscribe(
    target: { protocol?: string; endpoint?: string; attributes?: Attributes } = {},
  ): Outcome<'subscribe'> {
    const command = { type: 'subscribe', topicArn: this.arn, baseUrl, protocol: 'sqs' } as const;
    return this.home.apply({ ...command, ...target });
  }

  /** The ARN of a queue's subscription. */
  subscribe(queue: TestQueue, attributes: Attributes = {}): string {
    return accepted(this.trySubscribe({ endpoint: queue.arn, attributes })).subscriptionArn;
  }

  /** A queue with a raw subscription, and its ARN. */
  subscribeQueue(
    name: string,
    attributes: Attributes = {},
  ): { queue: TestQueue; subscriptionArn: string } {
    const queue = this.home.createQueue(name);
    const raw = { RawMessageDelivery: 'true', ...attributes };
    return { queue, subscriptionArn: this.subscribe(queue, raw) };
  }

  tryPublish(entry: PublishEntry = {}): PublishResult | Refusal {
    const entries = [this.filled(entry)];
    const outcome = this.home.apply({
      type: 'publish',
      topicArn: this.arn,
      isBatch: false,
      entries,
      baseUrl,
    });
    return outcome.ok ? (outcome.results[0] as PublishResult) : outcome;
  }

  publish(entry: PublishEntry = {}): PublishResult {
    return accepted(this.tryPublish(entry));
  }

  publishAll(...messages: readonly string[]): void {
    for (const message of messages) this.publish({ message });
  }

  tryPublishBatch(entries: readonly PublishEntry[]): Outcome<'publish'> {
    const filled = entries.map((entry, at) => this.filled({ id: `e${at}`, ...entry }));
    const command = { type: 'publish', topicArn: this.arn, isBatch: true, baseUrl } as const;
    return this.home.apply({ ...command, entries: filled });
  }

  trySet(name: string | undefined, value: string): Outcome<'set-topic-attribute'> {
    return this.home.apply({ type: 'set-topic-attribute', topicArn: this.arn, name, value });
  }

  set(name: string, value: string): void {
    accepted(this.trySet(name, value));
  }

  attributes(): Attributes {
    return accepted(this.home.apply({ type: 'get-topic-attributes', topicArn: this.arn }))
      .attributes;
  }

  attributesOf(subscriptionArn: string): Attributes {
    return accepted(this.home.apply({ type: 'get-subscription-attributes', subscriptionArn }))
      .attributes;
  }
}

export function openTopics(options: EngineOptions = {}): TopicEngine {
  return new TopicEngine(options);
}

/** A topic in an engine of its own; `prices`, with `.fifo` on a FIFO topic. */
export function openTopic(options: { fifo?: boolean; attributes?: Attributes } = {}): TestTopic {
  const { fifo = false, attributes = {} } = options;
  return openTopics().createTopic(fifo ? 'prices.fifo' : 'prices', attributes);
}

/** An ARN of this account and region. */
export function topicArnOf(name: string): string {
  return `arn:aws:sns:us-east-1:000000000000:${name}`;
}
