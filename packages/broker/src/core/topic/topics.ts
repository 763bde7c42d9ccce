/**
 * Which topics there are, and the one door to them: every command about topics comes in here, finds its topic or
 * subscription, and goes on to the rules in the files beside this one. What is inside a topic is the topic's.
 */

import type { Realm } from '../arn.ts';
import type { KeptTopic, TopicChange } from '../changes.ts';
import { topicPlace } from '../changes.ts';
import type { Command } from '../commands.ts';
import { type Refusal, refuse } from '../errors.ts';
import {
  fifoTopicsMax,
  filterPoliciesMax,
  replaysMax,
  topicNameLengthMax,
  topicPageSize,
  topicsMax,
} from '../limits.ts';
import type { Turn } from '../turn.ts';
import type { TopicCommand, TopicCommandOf, TopicOutcomes } from './commands.ts';
import { queuesReached, type Surroundings } from './fan-out.ts';
import { describeTopic, explainTopic, forgetTopicWindow, viewOf } from './inspect.ts';
import { reportPost } from './post.ts';
import { publish } from './publish.ts';
import { endReplays, replay } from './replay.ts';
import {
  confirmSubscription,
  setSubscriptionAttribute,
  shownSubscriptionAttributes,
  subscribe,
  unsubscribe,
} from './subscribe.ts';
import type { Subscription } from './subscription.ts';
import { Topic } from './topic.ts';
import { readSubscriptionArn, readTopicArn } from './topic-arn.ts';
import {
  hasSameAttributes,
  readTopicAttribute,
  readTopicAttributes,
  settingsOf,
  shownTopicAttributes,
} from './topic-attributes.ts';
import { addTopicPermission, removeTopicPermission } from './topic-permissions.ts';
import { readTags, tagTopic, untagTopic } from './topic-tags.ts';

type Outcome = TopicOutcomes[TopicCommand['type']] | Refusal;

/** Commands that name a topic by its ARN, under the parameter that the client knows. */
type ByTopicArn = Extract<TopicCommand, { readonly topicArn?: string | undefined }>;
type ByResourceArn = Extract<TopicCommand, { readonly resourceArn?: string | undefined }>;
type BySubscriptionArn = Extract<TopicCommand, { readonly subscriptionArn?: string | undefined }>;
type ByName = Extract<TopicCommand, { readonly topic: string }>;

export class Topics {
  readonly #realm: Realm;
  readonly #surroundings: Surroundings;
  readonly #topics: Map<string, Topic> = new Map();

  constructor(realm: Realm, surroundings: Surroundings) {
    this.#realm = realm;
    this.#surroundings = surroundings;
  }

  get(name: string): Topic | undefined {
    return this.#topics.get(name);
  }

  run(command: TopicCommand, turn: Turn): Outcome {
    switch (command.type) {
      case 'create-topic':
        return this.#create(command, turn);
      case 'list-topics':
        return this.#list(command);
      case 'list-subscriptions':
        return this.#listSubscriptions(command);
      case 'confirm-subscription': {
        const read = readTopicArn(this.#realm, command.topicArn);
        return read.ok ? confirmSubscription(this.#topics.get(read.name), command, turn) : read;
      }
      case 'delete-topic': {
        const read = readTopicArn(this.#realm, command.topicArn);
        if (!read.ok) return read;
        const topic = this.#topics.get(read.name);
        return topic === undefined ? { ok: true } : this.#delete(topic, turn);
      }
    }
    if ('topic' in command) return this.#runByName(command, turn);
    if ('subscriptionArn' in command) return this.#runOnSubscription(command, turn);
    if ('resourceArn' in command) return this.#runOnResource(command, turn);
    return this.#runOnTopic(command as ByTopicArn, turn);
  }

  /** The places whose contents a command may read or change; none for those that only look at settings. */
  touches(command: TopicCommand): readonly string[] {
    const name = this.#nameIn(command);
    const topic = name === undefined ? undefined : this.#topics.get(name);
    if (topic === undefined) return name === undefined ? [] : [topicPlace(name)];
    const isDelivering = ['publish', 'report-post', 'replay'].includes(command.type);
    const queues = isDelivering ? queuesReached(topic, this.#realm) : [];
    return [topicPlace(topic.name), ...new Set(queues)];
  }

  // The moves that absorbed changes make too.

  put(name: string, kept: KeptTopic): void {
    this.#topics.set(name, new Topic(this.#realm, name, kept));
  }

  remove(name: string): void {
    this.#topics.delete(name);
  }

  absorb(change: TopicChange): void {
    const topic = this.#topics.get(change.topic);
    if (change.kind === 'topic' && change.value === null) this.remove(change.topic);
    else if (topic !== undefined) topic.absorb(change);
    else if (change.kind === 'topic' && change.value !== null) this.put(change.topic, change.value);
  }

  #runByName(command: ByName, turn: Turn): Outcome {
    const topic = this.#topics.get(command.topic);
    if (topic === undefined) return refuse('topic-missing');
    topic.advance(turn);
    switch (command.type) {
      case 'report-post':
        return reportPost(topic, command, this.#surroundings, turn);
      case 'replay':
        return replay(topic, command, this.#surroundings, turn);
      case 'describe-topic':
        return describeTopic(topic);
      case 'explain-topic':
        return explainTopic(topic, command);
      case 'forget-topic-window':
        return forgetTopicWindow(topic, turn);
    }
  }

  #runOnTopic(command: ByTopicArn, turn: Turn): Outcome {
    const found = this.#find(command.topicArn, 'TopicArn');
    if (!(found instanceof Topic)) return found;
    found.advance(turn);
    switch (command.type) {
      case 'get-topic-attributes':
        return { ok: true, attributes: this.#attributes(found) };
      case 'set-topic-attribute':
        return this.#setAttribute(found, command, turn);
      case 'add-topic-permission':
        return addTopicPermission(found, command, turn);
      case 'remove-topic-permission':
        return removeTopicPermission(found, command, turn);
      case 'subscribe':
        return subscribe(found, command, this.#neighbours, turn);
      case 'publish':
        return publish(found, command, this.#surroundings, turn);
      default:
        throw new Error(`${command.type} is not about one topic`);
    }
  }

  #runOnResource(command: ByResourceArn, turn: Turn): Outcome {
    const read = readTopicArn(this.#realm, command.resourceArn, 'ResourceArn');
    if (!read.ok) return read;
    const topic = this.#topics.get(read.name);
    if (topic === undefined) {
      const isAboutTags = command.type.endsWith('topic') || command.type === 'list-topic-tags';
      return refuse(isAboutTags ? 'tagged-resource-missing' : 'topic-missing');
    }
    switch (command.type) {
      case 'tag-topic':
        return tagTopic(topic, command.tags, turn);
      case 'untag-topic':
        return untagTopic(topic, command.keys, turn);
      case 'list-topic-tags': {
        const tags = Object.entries(topic.kept.tags).map(([key, value]) => ({ key, value }));
        return { ok: true, tags };
      }
      case 'put-data-protection': {
        const dataProtectionPolicy = command.policy === '' ? undefined : command.policy;
        topic.configure(turn, { ...topic.kept, dataProtectionPolicy });
        return { ok: true };
      }
      case 'get-data-protection':
        return { ok: true, policy: topic.kept.dataProtectionPolicy ?? '' };
    }
  }

  #runOnSubscription(command: BySubscriptionArn, turn: Turn): Outcome {
    const read = readSubscriptionArn(this.#realm, command.subscriptionArn);
    if (!read.ok) return read;
    if (read.id === undefined) return refuse('subscription-id-missing');
    const topic = this.#topics.get(read.name);
    const subscription = topic?.subscription(read.id);
    if (topic === undefined || subscription === undefined) {
      return command.type === 'unsubscribe' ? { ok: true } : refuse('subscription-missing');
    }
    switch (command.type) {
      case 'unsubscribe':
        unsubscribe(topic, read.id, turn);
        return { ok: true };
      case 'get-subscription-attributes':
        return { ok: true, attributes: shownSubscriptionAttributes(topic, subscription) };
      case 'set-subscription-attribute':
        return setSubscriptionAttribute(topic, subscription, command, this.#neighbours, turn);
    }
  }

  #find(arn: string | undefined, parameter: string): Topic | Refusal {
    const read = readTopicArn(this.#realm, arn, parameter);
    return read.ok ? (this.#topics.get(read.name) ?? refuse('topic-missing')) : read;
  }

  #nameIn(command: TopicCommand): string | undefined {
    if ('topic' in command) return command.topic;
    if (command.type === 'create-topic') return command.name;
    if (command.type === 'list-subscriptions') return undefined;
    if ('subscriptionArn' in command) {
      const read = readSubscriptionArn(this.#realm, command.subscriptionArn);
      return read.ok ? read.name : undefined;
    }
    const arn = 'resourceArn' in command ? command.resourceArn : (command as ByTopicArn).topicArn;
    const read = readTopicArn(this.#realm, arn);
    return read.ok ? read.name : undefined;
  }

  #create(command: TopicCommandOf<'create-topic'>, turn: Turn): Outcome {
    const { name = '', attributes: given = {}, dataProtectionPolicy } = command;
    const isFifo = given['FifoTopic']?.toLowerCase() === 'true';
    if (!isTopicName(name, isFifo)) return refuse('topic-name-invalid');
    const tags = readTags(command.tags ?? []);
    if (!tags.ok) return tags;
    const read = readTopicAttributes(isFifo, given);
    if (!read.ok) return read;
    const existing = this.#topics.get(name);
    if (existing !== undefined) {
      const { kept, arn } = existing;
      if (!hasSameAttributes(isFifo, kept.attributes, read.stored)) return refuse('topic-exists');
      const isSubset = Object.entries(tags.tags).every(([key, value]) => kept.tags[key] === value);
      return isSubset ? { ok: true, topicArn: arn } : refuse('topic-exists-with-tags');
    }
    const limit = isFifo ? fifoTopicsMax : topicsMax;
    if (this.#count(isFifo) >= limit) return refuse('topics-too-many', { limit });
    const isArchived = settingsOf(read.stored).archiveMs !== undefined;
    const value: KeptTopic = {
      createdAt: turn.now,
      attributes: read.stored,
      tags: tags.tags,
      dataProtectionPolicy,
      archivedSince: isArchived ? turn.now : undefined,
      unsubscribed: 0,
    };
    this.put(name, value);
    turn.changes.push({ kind: 'topic', topic: name, value });
    if (turn.isObserved) turn.events.push({ type: 'topic-created', at: turn.now, topic: name });
    return { ok: true, topicArn: (this.#topics.get(name) as Topic).arn };
  }

  #delete(topic: Topic, turn: Turn): Outcome {
    if (topic.settings.archiveMs !== undefined) return refuse('topic-archive-active');
    turn.touchTopic(topic);
    this.remove(topic.name);
    turn.changes.push({ kind: 'topic', topic: topic.name, value: null });
    if (turn.isObserved)
      turn.events.push({ type: 'topic-deleted', at: turn.now, topic: topic.name });
    return { ok: true };
  }

  #list({ after = '' }: TopicCommandOf<'list-topics'>): Outcome {
    const names = [...this.#topics.keys()].filter((name) => name > after).sort();
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
      const names = [...this.#topics.keys()].filter((name) => name >= (after?.topic ?? '')).sort();
      topics.push(...names.map((name) => this.#topics.get(name) as Topic));
    }
    const views = [];
    for (const topic of topics) {
      for (const subscription of topic.subscriptions) {
        const isSeen = after?.topic === topic.name && subscription.kept.stamp <= after.stamp;
        if (!isSeen) views.push(viewOf(topic, subscription));
        if (views.length > topicPageSize) break;
      }
      if (views.length > topicPageSize) break;
    }
    const subscriptions = views.slice(0, topicPageSize);
    const next = views.length > topicPageSize ? subscriptions.at(-1)?.place : undefined;
    return { ok: true, subscriptions, next };
  }

  #attributes(topic: Topic): Record<string, string> {
    const confirmed = topic.subscriptions.filter(({ kept }) => kept.isConfirmed).length;
    const pending = topic.subscriptions.length - confirmed;
    const { arn, account, isFifo, kept } = topic;
    return shownTopicAttributes({ arn, account, isFifo, kept, confirmed, pending });
  }

  #setAttribute(topic: Topic, command: TopicCommandOf<'set-topic-attribute'>, turn: Turn): Outcome {
    const { name, value = '' } = command;
    if (name === undefined) return refuse('topic-parameter-missing', { name: 'AttributeName' });
    const read = readTopicAttribute(topic.isFifo, name, value);
    if (read === undefined) return refuse('topic-attribute-unknown');
    if (!read.ok) return read;
    const { [name]: before, ...others } = topic.kept.attributes;
    if (name === 'FifoThroughputScope' && before === 'MessageGroup' && read.text === 'Topic') {
      const reason = 'It cannot be set back from MessageGroup to Topic';
      return refuse('topic-attribute-invalid', { attribute: name, reason });
    }
    const attributes = read.text === '' ? others : { ...others, [name]: read.text };
    const isArchived = settingsOf(attributes).archiveMs !== undefined;
    const archivedSince = isArchived ? (topic.kept.archivedSince ?? turn.now) : undefined;
    topic.configure(turn, { ...topic.kept, attributes, archivedSince });
    if (!isArchived && topic.archive.size > 0) topic.clear(turn, 'archive');
    if (!isArchived) endReplays(topic, turn);
    if (turn.isObserved)
      turn.events.push({ type: 'topic-changed', at: turn.now, topic: topic.name });
    return { ok: true };
  }

  #count(isFifo: boolean): number {
    let count = 0;
    for (const topic of this.#topics.values()) if (topic.isFifo === isFifo) count += 1;
    return count;
  }

  readonly #neighbours = {
    refusalOf: (what: 'filter-policy' | 'replay'): Refusal | undefined => {
      const isCounted = (subscription: Subscription): boolean =>
        what === 'replay' ? subscription.isReplaying : subscription.filter !== undefined;
      let count = 0;
      for (const topic of this.#topics.values()) {
        for (const subscription of topic.subscriptions) if (isCounted(subscription)) count += 1;
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

const nameForm = /^[A-Za-z0-9_-]+$/;
const fifoSuffix = '.fifo';

/** A name in .fifo and FifoTopic=true go together (3.1). */
function isTopicName(name: string, isFifo: boolean): boolean {
  const stem = isFifo && name.endsWith(fifoSuffix) ? name.slice(0, -fifoSuffix.length) : name;
  return (
    name.endsWith(fifoSuffix) === isFifo && nameForm.test(stem) && name.length <= topicNameLengthMax
  );
}

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
  'forget-topic-window',
]);

export function isTopicCommand(command: Command): command is TopicCommand {
  return topicCommandTypes.has(command.type);
}
