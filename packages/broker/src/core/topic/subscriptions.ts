/**
 * The subscriptions of one topic: by id, by what they deliver to, by token, and in the order in which they were made, which
 * is the order of deliveries and lists. Totals that commands or the clock need are counted as subscriptions come and go, so
 * that a topic with many subscriptions costs no more for each new one.
 */

import type { KeptSubscription } from '../changes.ts';
import { confirmationMs } from '../limits.ts';
import { Deadlines } from '../structures/deadlines.ts';
import { Subscription } from './subscription.ts';

export class Subscriptions {
  readonly #topicArn: string;
  readonly #byId: Map<string, Subscription> = new Map();
  readonly #byTarget: Map<string, Subscription> = new Map();
  readonly #byToken: Map<string, Subscription> = new Map();
  /** When each unconfirmed subscription is forgotten. */
  readonly #unconfirmed: Deadlines = new Deadlines();
  /** Undefined after any change other than one added at the end. */
  #ordered: Subscription[] | undefined = [];
  #replaying = 0;
  #filtering = 0;

  constructor(topicArn: string) {
    this.#topicArn = topicArn;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** How many have a replay in progress. */
  get replaying(): number {
    return this.#replaying;
  }

  /** How many have a filter policy. */
  get filtering(): number {
    return this.#filtering;
  }

  /** In the order of their stamps. */
  inOrder(): readonly Subscription[] {
    this.#ordered ??= [...this.#byId.values()].sort(
      (one, other) => one.kept.stamp - other.kept.stamp,
    );
    return this.#ordered;
  }

  get(id: string): Subscription | undefined {
    return this.#byId.get(id);
  }

  find(protocol: string, endpoint: string): Subscription | undefined {
    return this.#byTarget.get(targetOf({ protocol, endpoint }));
  }

  /** The one whose endpoint was posted this token. */
  ofToken(token: string): Subscription | undefined {
    return this.#byToken.get(token);
  }

  unconfirmedUntil(): number | undefined {
    return this.#unconfirmed.first();
  }

  /** Those to forget by now, at most `limit`. */
  unconfirmedBy(now: number, limit: number): string[] {
    return this.#unconfirmed.dueBy(now, limit);
  }

  set(id: string, kept: KeptSubscription | null): void {
    const before = this.#byId.get(id);
    if (before !== undefined) this.#forget(before);
    if (kept === null) {
      this.#ordered = undefined;
      return;
    }
    const subscription = new Subscription(this.#topicArn, id, kept);
    this.#byId.set(id, subscription);
    this.#byTarget.set(targetOf(kept), subscription);
    if (kept.token !== undefined) this.#byToken.set(kept.token, subscription);
    this.#count(subscription, 1);
    if (!kept.isConfirmed) this.#unconfirmed.set(id, kept.createdAt + confirmationMs, kept.stamp);
    const last = this.#ordered?.at(-1)?.kept.stamp ?? 0;
    if (before === undefined && last < kept.stamp) this.#ordered?.push(subscription);
    else this.#ordered = undefined;
  }

  #forget(subscription: Subscription): void {
    const { id, kept } = subscription;
    this.#byId.delete(id);
    this.#byTarget.delete(targetOf(kept));
    if (kept.token !== undefined) this.#byToken.delete(kept.token);
    this.#count(subscription, -1);
    this.#unconfirmed.set(id, undefined);
  }

  #count({ isReplaying, filter }: Subscription, by: 1 | -1): void {
    if (isReplaying) this.#replaying += by;
    if (filter !== undefined) this.#filtering += by;
  }
}

function targetOf({ protocol, endpoint }: { protocol: string; endpoint: string }): string {
  return `${protocol} ${endpoint}`;
}
