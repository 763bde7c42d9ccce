/**
 * Queues and topics that this node cannot read, such as those that a later version has written to. Requests for them are
 * refused with the reason, and a while later it is tried again; all others go on.
 */

import type { OwnerId } from '../../core/changes.ts';

const retryMs = 5_000;

export class UnreadableOwners {
  readonly #problems: Map<OwnerId, { readonly error: Error; readonly until: number }> = new Map();

  note(owner: OwnerId, error: Error): void {
    this.#problems.set(owner, { error, until: performance.now() + retryMs });
  }

  /** Why one of these cannot be read. */
  problemOf(owners: readonly OwnerId[]): Error | undefined {
    if (this.#problems.size === 0) return undefined;
    const now = performance.now();
    for (const [owner, { until }] of this.#problems) {
      if (until < now) this.#problems.delete(owner);
    }
    return owners.map((owner) => this.#problems.get(owner)?.error).find(Boolean);
  }
}
