/**
 * The set of topics, and the single entry point to them: every command about topics comes in here, finds its topic or
 * subscription, and goes on to the rules in the files beside this one. What a topic contains is left to topic.ts.
 */

import type { Realm } from '../arn.ts';
import type { KeptTopic, TopicChange } from '../changes.ts';
import { catalog, topicOwner } from '../changes.ts';
import { Drifted } from '../drifted.ts';
import { type Refusal, refuse } from '../errors.ts';
import {
  dataProtectionLengthMax,
  fifoTopicsMax,
  filterPoliciesMax,
  replaysMax,
  topicPageSize,
  topicsMax,
} from '../limits.ts';
import type { Transaction } from '../transaction.ts';
import type { TopicCommand, TopicCommandOf, TopicOutcomes } from './commands.ts';
import { type FanOutContext, queuesReached } from './fan-out.ts';
import { reportPost } from './http-delivery.ts';
import { describeTopic, explainTopic, forgetTopicWindow, matchFilters, viewOf } from './inspect.ts';
import { publish } from './publish.ts';
import { replay } from './replay.ts';
import { setTopicAttribute, shownAttributes } from './set-topic-attribute.ts';
import {
  confirmSubscription,
  setSubscriptionAttribute,
  shownSubscriptionAttributes,
  subscribe,
  unsubscribe,
} from './subscribe.ts';
import { Topic } from './topic.ts';
import { isTopicName, readSubscriptionArn, readTopicArn } from './topic-arn.ts';
import { hasSameAttributes, readTopicAttributes, settingsOf } from './topic-attributes.ts';
import { addTopicPermission, removeTopicPermission } from './topic-permissions.ts';
import { readTags, tagTopic, untagTopic } from './topic-tags.ts';

type Outcome = TopicOutcomes[TopicCommand['type']] | Refusal;

/** Commands about one topic, by the parameter that names it. */
type ByTopicArn = TopicCommandOf<
  | 'get-topic-attributes'
  | 'set-topic-attribute'
  | 'add-topic-permission'
  | 'remove-topic-permission'
  | 'subscribe'
  | 'publish'
>;
type ByResourceArn = Extract<TopicCommand, { readonly resourceArn?: string | undefined }>;
type BySubscriptionArn = Extract<TopicCommand, { readonly subscriptionArn?: string | undefined }>;
type ByName = Extract<TopicCommand, { readonly topic: string }>;

/** A replay's progress is kept with its subscription. */
const changesSettings: ReadonlySet<TopicCommand['type']> = new Set<TopicCommand['type']>([
  'delete-topic',
  'set-topic-attribute',
  'add-topic-permission',
  'remove-topic-permission',
  'subscribe',
  'confirm-subscription',
  'unsubscribe',
  'set-subscription-attribute',
  'tag-topic',
  'untag-topic',
  'put-data-protection',
  'replay',
]);

export class Topics {
  readonly #realm: Realm;
  readonly #context: FanOutContext;
  readonly #topics: Map<string, Topic> = new Map();
  #sorted: readonly string[] | undefined;
  #fifoCount = 0;

  constructor(realm: Realm, context: FanOutContext) {
    this.#realm = realm;
    this.#context = context;
  }

  get(name: string): Topic | undefined {
    return this.#topics.get(name);
  }

  run(command: TopicCommand, tx: Transaction): Outcome {
    switch (command.type) {
      case 'create-topic':
        return this.#create(command, tx);
      case 'list-topics':
        return this.#list(command);
      case 'list-subscriptions':
        return this.#listSubscriptions(command);
      case 'confirm-subscription':
        return this.#confirm(command, tx);
      case 'delete-topic': {
        const read = readTopicArn(this.#realm, command.topicArn);
        if (!read.ok) return read;
        const topic = this.#topics.get(read.name);
        return topic === undefined ? { ok: true } : this.#delete(topic, tx);
      }
      case 'report-post':
      case 'replay':
      case 'describe-topic':
      case 'explain-topic':
      case 'match-filters':
      case 'forget-topic-window':
        return this.#runByName(command, tx);
      case 'unsubscribe':
      case 'get-subscription-attributes':
      case 'set-subscription-attribute':
        return this.#runOnSubscription(command, tx);
      case 'tag-topic':
      case 'untag-topic':
      case 'list-topic-tags':
      case 'put-data-protection':
      case 'get-data-protection':
        return this.#runOnResource(command, tx);
      default:
        return this.#runOnTopic(command, tx);
    }
  }

  /** The owners whose contents a command may read or change, and the catalog if it may change that (`Engine.touches`). */
  touches(command: TopicCommand, now: number): readonly string[] {
    const name = this.#nameIn(command);
    if (name === undefined) return [];
    const topic = this.#topics.get(name);
    const owner = topicOwner(name);
    if (topic === undefined) return command.type === 'create-topic' ? [owner, catalog] : [owner];
    // Of one that is there, only the settings are compared.
    if (command.type === 'create-topic') return [];
    const isDelivering = ['publish', 'report-post', 'replay'].includes(command.type);
    const queues = isDelivering ? queuesReached(topic, this.#realm) : [];
    const isSetting = changesSettings.has(command.type) || topic.isForgetting(now);
    return [owner, ...new Set(queues), ...(isSetting ? [catalog] : [])];
  }

  // The moves that absorbing a change makes too.

  put(name: string, kept: KeptTopic): void {
    const topic = new Topic(this.#realm, name, kept);
    this.#topics.set(name, topic);
    if (topic.isFifo) this.#fifoCount += 1;
    this.#sorted = undefined;
  }

  remove(name: string): void {
    if (this.#topics.get(name)?.isFifo === true) this.#fifoCount -= 1;
    this.#topics.delete(name);
    this.#sorted = undefined;
  }

  absorb(change: TopicChange): void {
    const topic = this.#topics.get(change.topic);
    if (change.kind === 'topic' && change.value === null) this.remove(change.topic);
    else if (topic !== undefined) topic.absorb(change);
    else if (change.kind === 'topic') this.put(change.topic, change.value as KeptTopic);
    else
      throw new Drifted(topicOwner(change.topic), `a ${change.kind} came, but there is no topic`);
  }

  /** Forgets what a topic contains, but not its subscriptions. */
  unload(name: string): void {
    const topic = this.#topics.get(name);
    if (topic === undefined) return;
    this.remove(name);
    this.put(name, topic.kept);
    const { subscriptions } = this.#topics.get(name) as Topic;
    for (const { id, kept } of topic.subscriptions.inOrder()) subscriptions.set(id, kept);
  }

  #runByName(command: ByName, tx: Transaction): Outcome {
    const topic = this.#topics.get(command.topic);
    if (topic === undefined) return refuse('topic-missing');
    topic.advance(tx);
    switch (command.type) {
      case 'report-post':
        return reportPost(topic, command, this.#context, tx);
      case 'replay':
        return replay(topic, command, this.#context, tx);
      case 'describe-topic':
        return describeTopic(topic, command);
      case 'explain-topic':
        return explainTopic(topic, command);
      case 'match-filters':
        return matchFilters(topic, command);
      case 'forget-topic-window':
        return forgetTopicWindow(topic, tx);
    }
  }

  #runOnTopic(command: ByTopicArn, tx: Transaction): Outcome {
    const found = this.#find(command.topicArn, 'TopicArn');
    if (!(found instanceof Topic)) return found;
    found.advance(tx);
    switch (command.type) {
      case 'get-topic-attributes':
        return { ok: true, attributes: shownAttributes(found, tx) };
      case 'set-topic-attribute':
        return setTopicAttribute(found, command, tx);
      case 'add-topic-permission':
        return addTopicPermission(found, command, tx);
      case 'remove-topic-permission':
        return removeTopicPermission(found, command, tx);
      case 'subscribe':
        return subscribe(found, command, this.#totals, tx);
      case 'publish':
        return publish(found, command, this.#context, tx);
    }
  }

  #runOnResource(command: ByResourceArn, tx: Transaction): Outcome {
    const read = readTopicArn(this.#realm, command.resourceArn, 'ResourceArn');
    if (!read.ok) return read;
    const topic = this.#topics.get(read.name);
    if (topic === undefined) {
      const isAboutTags = command.type.endsWith('topic') || command.type === 'list-topic-tags';
      return refuse(isAboutTags ? 'tagged-resource-missing' : 'topic-missing');
    }
    switch (command.type) {
      case 'tag-topic':
        return tagTopic(topic, command.tags, tx);
      case 'untag-topic':
        return untagTopic(topic, command.keys, tx);
      case 'list-topic-tags': {
        const tags = Object.entries(topic.kept.tags).map(([key, value]) => ({ key, value }));
        return { ok: true, tags };
      }
      case 'put-data-protection': {
        if (command.policy === undefined) {
          return refuse('topic-parameter-missing', { name: 'DataProtectionPolicy' });
        }
        const excess = checkDataProtection(command.policy);
        if (excess !== undefined) return excess;
        const dataProtectionPolicy = command.policy === '' ? undefined : command.policy;
        topic.configure(tx, { ...topic.kept, dataProtectionPolicy });
        return { ok: true };
      }
      case 'get-data-protection':
        return { ok: true, policy: topic.kept.dataProtectionPolicy ?? '' };
    }
  }

  #runOnSubscription(command: BySubscriptionArn, tx: Transaction): Outcome {
    const read = readSubscriptionArn(this.#realm, command.subscriptionArn);
    if (!read.ok) return read;
    if (read.id === undefined) return refuse('subscription-id-missing');
    const topic = this.#topics.get(read.name);
    const subscription = topic?.subscriptions.get(read.id);
    if (topic === undefined || subscription === undefined) {
      return command.type === 'unsubscribe' ? { ok: true } : refuse('subscription-missing');
    }
    switch (command.type) {
      case 'unsubscribe':
        unsubscribe(topic, read.id, tx);
        return { ok: true };
      case 'get-subscription-attributes':
        return { ok: true, attributes: shownSubscriptionAttributes(topic, subscription) };
      case 'set-subscription-attribute':
        return setSubscriptionAttribute(topic, subscription, command, this.#totals, tx);
    }
  }

  #find(arn: string | undefined, parameter: string): Topic | Refusal {
    const read = readTopicArn(this.#realm, arn, parameter);
    return read.ok ? (this.#topics.get(read.name) ?? refuse('topic-missing')) : read;
  }

  /** The topic that a command is about, if it is about one. */
  #nameIn(command: TopicCommand): string | undefined {
    if ('topic' in command) return command.topic;
    if (command.type === 'create-topic') return command.name;
    if (command.type === 'list-topics' || command.type === 'list-subscriptions') return undefined;
    if ('subscriptionArn' in command) {
      const read = readSubscriptionArn(this.#realm, command.subscriptionArn);
      return read.ok ? read.name : undefined;
    }
    const { topicArn, resourceArn } = command as { topicArn?: string; resourceArn?: string };
    const read = readTopicArn(this.#realm, topicArn ?? resourceArn);
    return read.ok ? read.name : undefined;
  }

  #create(command: TopicCommandOf<'create-topic'>, tx: Transaction): Outcome {
    const { name = '', attributes: given = {}, dataProtectionPolicy } = command;
    const isFifo = given['FifoTopic']?.toLowerCase() === 'true';
    if (!isTopicName(name, isFifo)) return refuse('topic-name-invalid');
    const tags = readTags(command.tags ?? []);
    if (!tags.ok) return tags;
    const excess = checkDataProtection(dataProtectionPolicy);
    if (excess !== undefined) return excess;
    const read = readTopicAttributes(isFifo, given);
    if (!read.ok) return read;
    const existing = this.#topics.get(name);
    if (existing !== undefined) {
      const { kept, arn } = existing;
      if (!hasSameAttributes(isFifo, kept.attributes, read.stored)) return refuse('topic-exists');
      const isSubset = Object.entries(tags.tags).every(
        ([key, value]) => Object.hasOwn(kept.tags, key) && kept.tags[key] === value,
      );
      return isSubset ? { ok: true, topicArn: arn } : refuse('topic-exists-with-tags');
    }
    const limit = isFifo ? fifoTopicsMax : topicsMax;
    const count = isFifo ? this.#fifoCount : this.#topics.size - this.#fifoCount;
    if (count >= limit) return refuse('topics-too-many', { limit });
    const isArchived = settingsOf(read.stored).archiveMs !== undefined;
    const value: KeptTopic = {
      createdAt: tx.now,
      secret: tx.ids.uuid(),
      attributes: read.stored,
      tags: tags.tags,
      dataProtectionPolicy,
      archivedSince: isArchived ? tx.now : undefined,
      unsubscribed: 0,
    };
    tx.changes.push({ kind: 'topic', topic: name, value });
    this.put(name, value);
    tx.events.push({ type: 'topic-created', at: tx.now, topic: name });
    return { ok: true, topicArn: (this.#topics.get(name) as Topic).arn };
  }

  /** A token of another topic is as unknown as any other: who may confirm for one topic may not for all (5.12). */
  #confirm(command: TopicCommandOf<'confirm-subscription'>, tx: Transaction): Outcome {
    const { topicArn, token } = command;
    if (topicArn === undefined) return refuse('topic-parameter-missing', { name: 'TopicArn' });
    if (token === undefined) return refuse('topic-parameter-missing', { name: 'Token' });
    const read = readTopicArn(this.#realm, topicArn);
    if (!read.ok) return refuse('confirmation-topic-invalid');
    return confirmSubscription(this.#topics.get(read.name), command, tx);
  }

  #delete(topic: Topic, tx: Transaction): Outcome {
    if (topic.settings.archiveMs !== undefined) return refuse('topic-archive-active');
    tx.touchTopic(topic);
    this.remove(topic.name);
    tx.changes.push({ kind: 'topic', topic: topic.name, value: null });
    tx.events.push({ type: 'topic-deleted', at: tx.now, topic: topic.name });
    return { ok: true };
  }

  #list({ after = '' }: TopicCommandOf<'list-topics'>): Outcome {
    const names = this.#names().filter((name) => name > after);
    const page = names.slice(0, topicPageSize);
    const topics = page.map((name) => ({ name, arn: (this.#topics.get(name) as Topic).arn }));
    return { ok: true, topics, next: names.length > topicPageSize ? page.at(-1) : undefined };
  }

  #listSubscriptions(command: TopicCommandOf<'list-subscriptions'>): Outcome {
    const { after } = command;
    const topics: Topic[] = [];
    if (command.isByTopic) {
      const found = this.#find(command.topicArn, 'TopicArn');
      if (!(found instanceof Topic)) return found;
      topics.push(found);
    } else {
      const names = this.#names().filter((name) => name >= (after?.topic ?? ''));
      topics.push(...names.map((name) => this.#topics.get(name) as Topic));
    }
    const views = [];
    for (const topic of topics) {
      for (const subscription of topic.subscriptions.inOrder()) {
        const isSeen = after?.topic === topic.name && subscription.kept.stamp <= after.stamp;
        if (!isSeen) views.push(viewOf(topic, subscription));
        if (views.length > topicPageSize) break;
      }
      if (views.length > topicPageSize) break;
    }
    const subscriptions = views.slice(0, topicPageSize);
    const next = views.length > topicPageSize ? subscriptions.at(-1)?.position : undefined;
    return { ok: true, subscriptions, next };
  }

  /** Sorted, for pages. */
  #names(): readonly string[] {
    this.#sorted ??= [...this.#topics.keys()].sort();
    return this.#sorted;
  }

  readonly #totals = {
    refusalOf: (what: 'filter-policy' | 'replay'): Refusal | undefined => {
      let count = 0;
      for (const { subscriptions } of this.#topics.values()) {
        count += what === 'replay' ? subscriptions.replaying : subscriptions.filtering;
      }
      if (what === 'replay') {
        return count >= replaysMax ? refuse('replays-too-many', { limit: replaysMax }) : undefined;
      }
      return count >= filterPoliciesMax
        ? refuse('filter-policies-too-many', { limit: filterPoliciesMax })
        : undefined;
    },
  };
}

function checkDataProtection(policy = ''): Refusal | undefined {
  if (policy.length <= dataProtectionLengthMax) return undefined;
  const reason = `It can have up to ${dataProtectionLengthMax} characters`;
  return refuse('topic-parameter-invalid', { name: 'DataProtectionPolicy', reason });
}
