/**
 * A topic of the conformance tests, with a verb for each action. Every verb has defaults, so what a test sets is what it is
 * about. A verb expects to succeed; its `try…` twin returns the outcome as it is, for `assertRefused` to check.
 */

import type { Attributes, Outcome } from '../../src/core/commands.ts';
import type { Refusal } from '../../src/core/errors.ts';
import type { PublishEntry, PublishResult } from '../../src/core/topic/commands.ts';
import { accepted } from '../core/fixture.ts';
import { baseUrl, NamedTopic } from '../core/topic/fixture.ts';
import type { TestBackend, TestQueue } from './fixture.ts';

/** One topic and the backend it lives in. */
export class TestTopic extends NamedTopic {
  readonly home: TestBackend;

  constructor(home: TestBackend, arn: string) {
    super(arn);
    this.home = home;
  }

  async trySubscribe(
    target: { protocol?: string; endpoint?: string; attributes?: Attributes } = {},
  ): Promise<Outcome<'subscribe'>> {
    const command = { type: 'subscribe', topicArn: this.arn, baseUrl, protocol: 'sqs' } as const;
    return this.home.run({ ...command, ...target });
  }

  /** The ARN of a queue's subscription. */
  async subscribe(queue: TestQueue, attributes: Attributes = {}): Promise<string> {
    return accepted(await this.trySubscribe({ endpoint: queue.arn, attributes })).subscriptionArn;
  }

  /** A queue with a raw subscription, and its ARN. */
  async subscribeQueue(
    name: string,
    attributes: Attributes = {},
  ): Promise<{ queue: TestQueue; subscriptionArn: string }> {
    const queue = await this.home.createQueue(name);
    const raw = { RawMessageDelivery: 'true', ...attributes };
    return { queue, subscriptionArn: await this.subscribe(queue, raw) };
  }

  async tryPublish(entry: PublishEntry = {}): Promise<PublishResult | Refusal> {
    const entries = [this.filled(entry)];
    const outcome = await this.home.run({
      type: 'publish',
      topicArn: this.arn,
      isBatch: false,
      entries,
      baseUrl,
    });
    return outcome.ok ? (outcome.results[0] as PublishResult) : outcome;
  }

  async publish(entry: PublishEntry = {}): Promise<PublishResult> {
    return accepted(await this.tryPublish(entry));
  }

  async publishAll(...messages: readonly string[]): Promise<void> {
    for (const message of messages) await this.publish({ message });
  }

  async tryPublishBatch(entries: readonly PublishEntry[]): Promise<Outcome<'publish'>> {
    const filled = entries.map((entry, at) => this.filled({ id: `e${at}`, ...entry }));
    const command = { type: 'publish', topicArn: this.arn, isBatch: true, baseUrl } as const;
    return this.home.run({ ...command, entries: filled });
  }

  async trySet(name: string | undefined, value: string): Promise<Outcome<'set-topic-attribute'>> {
    return this.home.run({ type: 'set-topic-attribute', topicArn: this.arn, name, value });
  }

  async set(name: string, value: string): Promise<void> {
    accepted(await this.trySet(name, value));
  }

  async attributes(): Promise<Attributes> {
    return accepted(await this.home.run({ type: 'get-topic-attributes', topicArn: this.arn }))
      .attributes;
  }

  async trySetOn(
    subscriptionArn: string,
    name: string,
    value: string,
  ): Promise<Outcome<'set-subscription-attribute'>> {
    return this.home.run({
      type: 'set-subscription-attribute',
      subscriptionArn,
      name,
      value,
    });
  }

  async attributesOf(subscriptionArn: string): Promise<Attributes> {
    return accepted(await this.home.run({ type: 'get-subscription-attributes', subscriptionArn }))
      .attributes;
  }
}
