/**
 * A topic's calls of HTTP endpoints that have not succeeded yet. A post is waiting until its time, then under way until
 * its report comes or its lease ends, in which case it waits again. What is posted is kept and not held.
 *
 * Bounds: so many posts in all, and so many under way; whoever is beyond the second waits until a report comes.
 */

import { Agenda } from '../agenda.ts';
import type { KeptPostAttempt } from '../changes.ts';

const postsMax = 100_000;
const underWayMax = 100;

interface Post {
  readonly subscription: string;
  /** Of its publication; undefined for a request to confirm. */
  readonly messageId: string | undefined;
  readonly attempt: KeptPostAttempt;
}

const notBegun: KeptPostAttempt = { attempts: 0, dueAt: 0 };

export class Posts {
  readonly #posts: Map<number, Post> = new Map();
  readonly #waiting: Agenda = new Agenda();
  readonly #underWay: Agenda = new Agenda();
  #underWayCount = 0;

  get isFull(): boolean {
    return this.#posts.size >= postsMax;
  }

  add(id: number, subscription: string, messageId: string | undefined): void {
    this.#posts.set(id, { subscription, messageId, attempt: notBegun });
  }

  get(id: number): Post | undefined {
    return this.#posts.get(id);
  }

  setAttempt(id: number, attempt: KeptPostAttempt): void {
    const post = this.#posts.get(id);
    if (post === undefined) return;
    this.#unfile(id, post);
    this.#posts.set(id, { ...post, attempt });
    if (isUnderWay(attempt)) {
      this.#underWayCount += 1;
      this.#underWay.set(String(id), attempt.dueAt);
    } else {
      this.#waiting.set(String(id), attempt.dueAt);
    }
  }

  remove(id: number): void {
    const post = this.#posts.get(id);
    if (post === undefined) return;
    this.#unfile(id, post);
    this.#posts.delete(id);
  }

  of(subscription: string): [id: number, post: Post][] {
    return [...this.#posts].filter(([, post]) => post.subscription === subscription);
  }

  nextDueAt(): number | undefined {
    const lost = this.#underWay.first();
    const next = this.#underWayCount < underWayMax ? this.#waiting.first() : undefined;
    return lost === undefined || next === undefined ? (lost ?? next) : Math.min(lost, next);
  }

  /** Those to be called now, at most so many: lost ones first. */
  due(now: number, limit: number): number[] {
    const lost = numbers(this.#underWay.dueBy(now));
    const room = Math.max(0, underWayMax - this.#underWayCount);
    return [...lost, ...numbers(this.#waiting.dueBy(now)).slice(0, room)].slice(0, limit);
  }

  #unfile(id: number, { attempt }: Post): void {
    if (isUnderWay(attempt)) this.#underWayCount -= 1;
    this.#underWay.set(String(id), undefined);
    this.#waiting.set(String(id), undefined);
  }
}

function isUnderWay({ attempts, failure }: KeptPostAttempt): boolean {
  return attempts > 0 && failure === undefined;
}

function numbers(names: readonly string[]): number[] {
  return names.map(Number).sort((one, other) => one - other);
}
