/**
 * What a file outbox holds in memory: where each unsent message is, in order by group, and which segments of the log are
 * no longer needed. No bodies.
 */

import type { LogPosition } from '../log/record-log.ts';

export interface Unsent {
  readonly id: number;
  readonly groupId: string;
  readonly position: LogPosition;
  /** When it was appended, epoch milliseconds. */
  readonly at: number;
}

export interface Parked {
  readonly unsent: Unsent;
  readonly reason: string;
  readonly parkedAt: number;
}

export class UnsentMessages {
  readonly #byId: Map<number, Unsent> = new Map();
  /** By group, each in order of appending. */
  readonly #groups: Map<string, Map<number, Unsent>> = new Map();
  readonly #segments: Map<number, { newestAt: number; unsent: number }> = new Map();
  readonly #parked: Map<number, Parked> = new Map();
  #idMax = 0;

  /** How many are to be sent; those set aside are not among them. */
  get size(): number {
    return this.#byId.size - this.#parked.size;
  }

  /** In order of parking. */
  get parked(): ReadonlyMap<number, Parked> {
    return this.#parked;
  }

  get oldestAt(): number | undefined {
    for (const [id, { at }] of this.#byId) if (!this.#parked.has(id)) return at;
    return undefined;
  }

  newId(): number {
    this.#idMax += 1;
    return this.#idMax;
  }

  add(unsent: Unsent): void {
    const { id, groupId, position, at } = unsent;
    this.#idMax = Math.max(this.#idMax, id);
    this.#byId.set(id, unsent);
    const group = this.#groups.get(groupId) ?? new Map<number, Unsent>();
    this.#groups.set(groupId, group.set(id, unsent));
    const segment = this.#segments.get(position.segment) ?? { newestAt: at, unsent: 0 };
    segment.newestAt = Math.max(segment.newestAt, at);
    segment.unsent += 1;
    this.#segments.set(position.segment, segment);
  }

  remove(id: number): void {
    this.#idMax = Math.max(this.#idMax, id);
    const unsent = this.#byId.get(id);
    if (unsent === undefined) return;
    this.#byId.delete(id);
    this.#parked.delete(id);
    this.#leaveGroup(unsent);
    const segment = this.#segments.get(unsent.position.segment);
    if (segment !== undefined) segment.unsent -= 1;
  }

  /** Sets a message aside; it still needs its segment. */
  park(id: number, reason: string, parkedAt: number): void {
    const unsent = this.#byId.get(id);
    if (unsent === undefined) return;
    this.#parked.set(id, { unsent, reason, parkedAt });
    this.#leaveGroup(unsent);
  }

  /** It is again where it was in its group. */
  retry(id: number): void {
    const parked = this.#parked.get(id);
    if (parked === undefined) return;
    this.#parked.delete(id);
    const { groupId } = parked.unsent;
    const group = [...(this.#groups.get(groupId) ?? []), [id, parked.unsent] as const];
    this.#groups.set(groupId, new Map(group.sort(([a], [b]) => a - b)));
  }

  #leaveGroup({ id, groupId }: Unsent): void {
    const group = this.#groups.get(groupId);
    group?.delete(id);
    if (group?.size === 0) this.#groups.delete(groupId);
  }

  /** The oldest message of each group, in order of appending. */
  heads(limit: number, leaveOut: ReadonlySet<string>): Unsent[] {
    const heads: Unsent[] = [];
    for (const [groupId, group] of this.#groups) {
      if (heads.length === limit) break;
      const [head] = group.values();
      if (head !== undefined && !leaveOut.has(groupId)) heads.push(head);
    }
    return heads.sort((a, b) => a.id - b.id);
  }

  /**
   * The first segment with a message that is unsent or was appended since the time. A mark always follows its message in
   * the log, so nothing from this segment on needs an earlier one.
   */
  firstSegmentNeeded(since: number): number {
    const needed = [...this.#segments].filter(
      ([, { newestAt, unsent }]) => unsent > 0 || newestAt >= since,
    );
    return Math.min(...needed.map(([segment]) => segment));
  }

  forgetSegmentsBefore(first: number): void {
    for (const segment of this.#segments.keys())
      if (segment < first) this.#segments.delete(segment);
  }
}
