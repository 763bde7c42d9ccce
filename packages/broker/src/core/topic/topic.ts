/**
 * One topic's state and the few moves that change it, as in queue.ts: a rule decides and calls a move, the move changes
 * the state and records the change, and absorbing a change makes the same move.
 *
 * What a topic holds: its subscriptions, the deduplication window of a FIFO topic, an index of its archive (storage keeps
 * the publications themselves), and the calls to HTTP endpoints that have not succeeded yet.
 */

import { type Realm, topicArn } from '../arn.ts';
import type {
  KeptPost,
  KeptPostAttempt,
  KeptSubscription,
  KeptTopic,
  KeptWindowEntry,
  Publication,
  TopicChange,
  WindowDigests,
} from '../changes.ts';
import { topicOwner } from '../changes.ts';
import { DeduplicationWindow } from '../deduplication/window.ts';
import { WindowDigester } from '../deduplication/window-digests.ts';
import { Drifted } from '../drifted.ts';
import { topicWindowMs } from '../limits.ts';
import { MessageIds } from '../message-id.ts';
import type { Transaction } from '../transaction.ts';
import { Archive } from './archive.ts';
import { HttpDeliveries } from './http-deliveries.ts';
import { nextReplayAt } from './replay.ts';
import { Subscriptions } from './subscriptions.ts';
import { settingsOf, type TopicSettings } from './topic-attributes.ts';

export class Topic {
  readonly name: string;
  readonly arn: string;
  readonly account: string;
  readonly isFifo: boolean;
  readonly window: DeduplicationWindow;
  readonly archive: Archive = new Archive();
  readonly posts: HttpDeliveries = new HttpDeliveries();
  readonly subscriptions: Subscriptions;
  readonly #ids: MessageIds;
  #kept: KeptTopic;
  #settings: TopicSettings;
  #counter = 0;
  #counterKept = 0;

  constructor(realm: Realm, name: string, kept: KeptTopic) {
    this.name = name;
    this.arn = topicArn(realm, name);
    this.account = realm.account;
    this.isFifo = name.endsWith('.fifo');
    this.#ids = new MessageIds(kept.secret);
    this.#kept = kept;
    this.#settings = settingsOf(kept.attributes);
    this.window = new DeduplicationWindow(this.#settings.scope, new WindowDigester(kept.secret));
    this.subscriptions = new Subscriptions(this.arn);
  }

  get kept(): KeptTopic {
    return this.#kept;
  }

  get settings(): TopicSettings {
    return this.#settings;
  }

  /** The id of the message that a FIFO topic published with this sequence. */
  idOf(sequence: number): string {
    return this.#ids.of(sequence);
  }

  /** The next number of this topic's counter, which is kept at the end of the transaction (`keepCounter`). */
  nextStamp(tx: Transaction): number {
    tx.touchTopic(this);
    this.#counter += 1;
    return this.#counter;
  }

  keepCounter(tx: Transaction): void {
    if (this.#counter === this.#counterKept) return;
    this.#counterKept = this.#counter;
    tx.changes.push({ kind: 'topic-counter', topic: this.name, value: this.#counter });
  }

  // The moves that rules make: each notes the topic, changes the state and records the change, in this order.

  configure(tx: Transaction, kept: KeptTopic): void {
    tx.touchTopic(this);
    this.#setKept(kept);
    tx.changes.push({ kind: 'topic', topic: this.name, value: kept });
  }

  setSubscription(tx: Transaction, id: string, value: KeptSubscription | null): void {
    tx.touchTopic(this);
    this.subscriptions.set(id, value);
    tx.changes.push({ kind: 'subscription', topic: this.name, id, value });
  }

  addToWindow(
    tx: Transaction,
    sequence: number,
    value: KeptWindowEntry,
    digests: WindowDigests,
  ): void {
    tx.touchTopic(this);
    this.window.add(sequence, value, digests);
    tx.changes.push({ kind: 'topic-window', topic: this.name, id: sequence, value, digests });
  }

  addToArchive(tx: Transaction, sequence: number, publication: Publication): void {
    tx.touchTopic(this);
    this.archive.add(sequence, publication.publishedAt);
    tx.changes.push({ kind: 'archived', topic: this.name, id: sequence, value: publication });
  }

  addPost(tx: Transaction, id: number, post: KeptPost): void {
    tx.touchTopic(this);
    this.posts.add(id, post.subscription, post.publication?.messageId);
    tx.changes.push({ kind: 'post', topic: this.name, id, value: post });
    this.setPostAttempt(tx, id, { attempts: 0, dueAt: tx.now });
  }

  setPostAttempt(tx: Transaction, id: number, attempt: KeptPostAttempt): void {
    tx.touchTopic(this);
    this.posts.setAttempt(id, attempt);
    tx.changes.push({ kind: 'post-attempt', topic: this.name, id, value: attempt });
  }

  removePost(tx: Transaction, id: number): void {
    tx.touchTopic(this);
    this.posts.remove(id);
    tx.changes.push({ kind: 'post-attempt', topic: this.name, id, value: null });
    tx.changes.push({ kind: 'post', topic: this.name, id, value: null });
  }

  clear(tx: Transaction, what: 'window' | 'archive'): void {
    tx.touchTopic(this);
    this.#clear(what);
    tx.changes.push({ kind: 'topic-cleared', topic: this.name, what });
  }

  /** One change that another engine made to this topic. */
  absorb(change: TopicChange): void {
    switch (change.kind) {
      case 'topic':
        if (change.value !== null) this.#setKept(change.value);
        break;
      case 'topic-counter':
        this.#counter = change.value;
        this.#counterKept = change.value;
        break;
      case 'subscription':
        this.subscriptions.set(change.id, change.value);
        break;
      case 'topic-window':
        if (change.value === null) this.#removeFrom(this.window, change.id);
        else this.window.add(change.id, change.value, change.digests);
        break;
      case 'archived':
        if (change.value === null) this.#removeFrom(this.archive, change.id);
        else this.archive.add(change.id, change.value.publishedAt);
        break;
      case 'post':
        if (change.value === null) this.posts.remove(change.id);
        else {
          const { subscription, publication } = change.value;
          this.posts.add(change.id, subscription, publication?.messageId);
        }
        break;
      case 'post-attempt':
        // An attempt ends only with its post, whose own change follows.
        if (change.value !== null) this.posts.setAttempt(change.id, change.value);
        break;
      case 'topic-cleared':
        this.#clear(change.what);
        break;
    }
  }

  /**
   * Lets time pass: removes expired window entries, archived publications and unconfirmed subscriptions, up to a limit.
   * Returns how many it removed.
   */
  advance(tx: Transaction, limit: number = Number.POSITIVE_INFINITY): number {
    let removed = 0;
    for (; this.#windowExpiresAt() <= tx.now && removed < limit; removed += 1) {
      tx.touchTopic(this);
      const id = this.window.removeOldest();
      tx.changes.push({ kind: 'topic-window', topic: this.name, id, value: null });
    }
    for (; this.#archiveExpiresAt() <= tx.now && removed < limit; removed += 1) {
      tx.touchTopic(this);
      const id = this.archive.removeOldest();
      tx.changes.push({ kind: 'archived', topic: this.name, id, value: null });
    }
    const unconfirmed = this.subscriptions.unconfirmedBy(tx.now, limit - removed);
    for (const id of unconfirmed) this.setSubscription(tx, id, null);
    return removed + unconfirmed.length;
  }

  /** Whether something that has expired is still here, because `advance` reached its limit or was not called. */
  hasExpired(now: number): boolean {
    return this.#nextRemovalAt() <= now;
  }

  /** The earliest time at which `advance`, a call or a replay would do something; undefined if nothing is waiting. */
  nextDueAt(): number | undefined {
    const due = Math.min(
      this.#nextRemovalAt(),
      this.posts.nextDueAt() ?? Number.POSITIVE_INFINITY,
      nextReplayAt(this),
    );
    return due === Number.POSITIVE_INFINITY ? undefined : due;
  }

  /** Whether letting time pass removes subscriptions. */
  isForgetting(now: number): boolean {
    return (this.subscriptions.unconfirmedUntil() ?? Number.POSITIVE_INFINITY) <= now;
  }

  #removeFrom(from: DeduplicationWindow | Archive, id: number): void {
    const oldest = from.size === 0 ? undefined : from.removeOldest();
    if (oldest === id) return;
    throw new Drifted(topicOwner(this.name), `${id} is not the oldest entry of its kind`);
  }

  #nextRemovalAt(): number {
    return Math.min(
      this.#windowExpiresAt(),
      this.#archiveExpiresAt(),
      this.subscriptions.unconfirmedUntil() ?? Number.POSITIVE_INFINITY,
    );
  }

  /** When the oldest entry of the window expires. */
  #windowExpiresAt(): number {
    return (this.window.oldestAcceptedAt() ?? Number.POSITIVE_INFINITY) + topicWindowMs;
  }

  /** When the oldest archived publication expires. */
  #archiveExpiresAt(): number {
    const archivedAt = this.archive.oldestAt() ?? Number.POSITIVE_INFINITY;
    return archivedAt + (this.#settings.archiveMs ?? Number.POSITIVE_INFINITY);
  }

  #setKept(kept: KeptTopic): void {
    this.#kept = kept;
    this.#settings = settingsOf(kept.attributes);
    this.window.setScope(this.#settings.scope);
  }

  #clear(what: 'window' | 'archive'): void {
    if (what === 'window') this.window.clear();
    else this.archive.clear();
  }
}
