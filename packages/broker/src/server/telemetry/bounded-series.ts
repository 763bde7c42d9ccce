/**
 * Series by name of queue or topic, within a bound: the first thousand names have counts of their own; all others share
 * `(other)`, which no queue or topic can be called. So neither memory nor what a collector receives grows beyond that.
 *
 * A deleted queue or topic frees its slot. When a server is reset, names disappear without an event; they keep their
 * counts until all slots are taken.
 */

export const otherName = '(other)';
export const namesMax = 1_000;

export class BoundedSeries<Counts> {
  readonly #byName: Map<string, Counts> = new Map();
  readonly #newCounts: () => Counts;
  #other: Counts | undefined;

  constructor(newCounts: () => Counts) {
    this.#newCounts = newCounts;
  }

  /** The counts of this name, which takes a slot if one is free, or the shared ones. */
  of(name: string): Counts {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    if (this.isFull) {
      this.#other ??= this.#newCounts();
      return this.#other;
    }
    const counts = this.#newCounts();
    this.#byName.set(name, counts);
    return counts;
  }

  /** The name to show. This takes no slot, since the queue or topic may just have been deleted. */
  shownName(name: string): string {
    return this.#byName.has(name) ? name : otherName;
  }

  remove(name: string): void {
    this.#byName.delete(name);
  }

  /** The names that have a slot. */
  names(): string[] {
    return [...this.#byName.keys()];
  }

  get isFull(): boolean {
    return this.#byName.size >= namesMax;
  }

  /** If every slot is taken, frees those of names that are not in the given list. */
  makeRoom(names: readonly string[]): void {
    if (!this.isFull) return;
    const left = new Set(names);
    for (const name of this.#byName.keys()) if (!left.has(name)) this.#byName.delete(name);
  }

  *entries(): Generator<[name: string, counts: Counts]> {
    yield* this.#byName;
    if (this.#other !== undefined) yield [otherName, this.#other];
  }
}
