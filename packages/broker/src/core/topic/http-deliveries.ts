/**
 * A topic's calls to HTTP endpoints that have not succeeded yet. A post waits until it is due and is then in flight until
 * its report comes, after which it may wait for a retry, or until its lease ends, after which it is called again. Storage
 * keeps what is posted; it is not held here.
 *
 * Bounds: on posts in all, on those in flight, and on those in flight for one subscription: an endpoint that does not
 * answer must not hold up the others (rule 12.2). Endpoints with fewer calls in flight go first; beyond a bound, posts wait
 * until a report comes.
 */

import type { KeptPostAttempt } from '../changes.ts';
import { Deadlines } from '../structures/deadlines.ts';

const postsMax = 100_000;
const underWayMax = 200;
const underWayOfOneMax = 50;

interface Post {
  readonly subscription: string;
  /** Of its publication; undefined for a request to confirm. */
  readonly messageId: string | undefined;
  readonly attempt: KeptPostAttempt;
}

const notBegun: KeptPostAttempt = { attempts: 0, dueAt: 0 };

/** The posts of one subscription, while it has any. */
interface Endpoint {
  /** In the order in which they were added, which is that of their ids, after a start too. */
  readonly ids: Set<number>;
  readonly waiting: Deadlines;
  underWay: number;
}

export class HttpDeliveries {
  readonly #posts: Map<number, Post> = new Map();
  readonly #endpoints: Map<string, Endpoint> = new Map();
  readonly #underWay: Deadlines = new Deadlines();
  #underWayCount = 0;

  get isFull(): boolean {
    return this.#posts.size >= postsMax;
  }

  add(id: number, subscription: string, messageId: string | undefined): void {
    this.#posts.set(id, { subscription, messageId, attempt: notBegun });
    const endpoint = this.#endpoints.get(subscription);
    if (endpoint !== undefined) endpoint.ids.add(id);
    else {
      this.#endpoints.set(subscription, {
        ids: new Set([id]),
        waiting: new Deadlines(),
        underWay: 0,
      });
    }
  }

  get(id: number): Post | undefined {
    return this.#posts.get(id);
  }

  setAttempt(id: number, attempt: KeptPostAttempt): void {
    const post = this.#posts.get(id);
    if (post === undefined) return;
    const endpoint = this.#unfile(id, post);
    this.#posts.set(id, { ...post, attempt });
    if (isUnderWay(attempt)) {
      endpoint.underWay += 1;
      this.#underWayCount += 1;
      this.#underWay.set(String(id), attempt.dueAt);
    } else {
      endpoint.waiting.set(String(id), attempt.dueAt, id);
    }
  }

  remove(id: number): void {
    const post = this.#posts.get(id);
    if (post === undefined) return;
    const endpoint = this.#unfile(id, post);
    this.#posts.delete(id);
    endpoint.ids.delete(id);
    if (endpoint.ids.size === 0) this.#endpoints.delete(post.subscription);
  }

  countOf(subscription: string): number {
    return this.#endpoints.get(subscription)?.ids.size ?? 0;
  }

  /** The oldest ones of a subscription. */
  of(subscription: string, limit: number): [id: number, post: Post][] {
    const found: [id: number, post: Post][] = [];
    for (const id of this.#endpoints.get(subscription)?.ids ?? []) {
      if (found.length >= limit) break;
      found.push([id, this.#posts.get(id) as Post]);
    }
    return found;
  }

  nextDueAt(): number | undefined {
    let due = this.#underWay.first() ?? Number.POSITIVE_INFINITY;
    for (const { waiting } of this.#endpointsWithRoom()) {
      due = Math.min(due, waiting.first() ?? Number.POSITIVE_INFINITY);
    }
    return due === Number.POSITIVE_INFINITY ? undefined : due;
  }

  /** The posts to call now, at most `limit`: lost ones first, then those of each endpoint that have been due longest. */
  due(now: number, limit: number): number[] {
    const lost = numbers(this.#underWay.dueBy(now));
    const room = underWayMax - this.#underWayCount;
    const next = this.#endpointsWithRoom().flatMap(({ waiting, underWay }) =>
      // Bounded: a backlog of thousands must not be searched with every report.
      numbers(waiting.dueBy(now, Math.min(room, underWayOfOneMax - underWay))).map((id, index) => ({
        id,
        rank: underWay + index,
      })),
    );
    next.sort((one, other) => one.rank - other.rank || one.id - other.id);
    return [...lost, ...next.slice(0, room).map(({ id }) => id)].slice(0, limit);
  }

  #endpointsWithRoom(): Endpoint[] {
    if (this.#underWayCount >= underWayMax) return [];
    return [...this.#endpoints.values()].filter(({ underWay }) => underWay < underWayOfOneMax);
  }

  #unfile(id: number, { subscription, attempt }: Post): Endpoint {
    const endpoint = this.#endpoints.get(subscription) as Endpoint;
    if (isUnderWay(attempt)) {
      endpoint.underWay -= 1;
      this.#underWayCount -= 1;
    }
    this.#underWay.set(String(id), undefined);
    endpoint.waiting.set(String(id), undefined);
    return endpoint;
  }
}

function isUnderWay({ attempts, failure }: KeptPostAttempt): boolean {
  return attempts > 0 && failure === undefined;
}

function numbers(names: readonly string[]): number[] {
  return names.map(Number).sort((one, other) => one - other);
}
