/**
 * The kept entries of all topics, in memory: the topics' part of memory-entries.ts, in the same manner. It keeps what it is
 * given and decides nothing.
 */

import {
  type KeptPost,
  type KeptPostAttempt,
  type KeptSubscription,
  type KeptTopic,
  type KeptWindowEntry,
  type Publication,
  type TopicChange,
  topicIn,
} from '../../core/changes.ts';
import { BySequence } from './by-sequence.ts';
import { setOrDelete } from './set-or-delete.ts';

/** Everything under one topic's name. */
class Store {
  kept: KeptTopic;
  counter: number | undefined;
  readonly subscriptions: Map<string, KeptSubscription> = new Map();
  readonly window: BySequence<KeptWindowEntry> = new BySequence();
  readonly archive: BySequence<Publication> = new BySequence();
  readonly posts: BySequence<KeptPost> = new BySequence();
  readonly attempts: BySequence<KeptPostAttempt> = new BySequence();

  constructor(kept: KeptTopic) {
    this.kept = kept;
  }
}

export class TopicRecords {
  readonly #topics: Map<string, Store> = new Map();

  windowEntries(topic: string, sequences: readonly number[]): (KeptWindowEntry | undefined)[] {
    const window = this.#topics.get(topic)?.window;
    return sequences.map((sequence) => window?.get(sequence));
  }

  archived(topic: string, sequence: number): Publication | undefined {
    return this.#topics.get(topic)?.archive.get(sequence);
  }

  post(topic: string, id: number): KeptPost | undefined {
    return this.#topics.get(topic)?.posts.get(id);
  }

  clear(): void {
    this.#topics.clear();
  }

  apply(change: TopicChange): void {
    const entries = this.#topics.get(change.topic);
    if (change.kind === 'topic') {
      if (change.value === null) this.#topics.delete(change.topic);
      else if (entries === undefined) this.#topics.set(change.topic, new Store(change.value));
      else entries.kept = change.value;
      return;
    }
    if (entries === undefined) {
      throw new Error(`a ${change.kind} came for topic ${change.topic}, which is not kept`);
    }
    switch (change.kind) {
      case 'topic-counter':
        entries.counter = change.value;
        break;
      case 'subscription':
        setOrDelete(entries.subscriptions, change.id, change.value);
        break;
      case 'topic-window':
        setOrDelete(entries.window, change.id, change.value);
        break;
      case 'archived':
        setOrDelete(entries.archive, change.id, change.value);
        break;
      case 'post':
        setOrDelete(entries.posts, change.id, change.value);
        break;
      case 'post-attempt':
        setOrDelete(entries.attempts, change.id, change.value);
        break;
      case 'topic-cleared':
        entries[change.what].clear();
        break;
    }
  }

  /** All entries, or those of one owner: of each topic its settings, counter, subscriptions, then the rest in order. */
  *changes(owner?: string): Generator<TopicChange> {
    if (owner === undefined) {
      for (const [topic, entries] of this.#topics) yield* entriesOf(topic, entries);
      return;
    }
    const topic = topicIn(owner);
    const entries = topic === undefined ? undefined : this.#topics.get(topic);
    if (topic !== undefined && entries !== undefined) yield* entriesOf(topic, entries);
  }
}

function* entriesOf(topic: string, entries: Store): Generator<TopicChange> {
  yield { kind: 'topic', topic, value: entries.kept };
  if (entries.counter !== undefined) yield { kind: 'topic-counter', topic, value: entries.counter };
  for (const [id, value] of entries.subscriptions) {
    yield { kind: 'subscription', topic, id, value };
  }
  for (const [id, value] of entries.window) {
    yield { kind: 'topic-window', topic, id, value };
  }
  for (const [id, value] of entries.archive) {
    yield { kind: 'archived', topic, id, value };
  }
  for (const [id, value] of entries.posts) yield { kind: 'post', topic, id, value };
  for (const [id, value] of entries.attempts) {
    yield { kind: 'post-attempt', topic, id, value };
  }
}
