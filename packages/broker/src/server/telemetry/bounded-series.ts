/**
 * Series by name of queue or topic, within a bound: the first thousand names have counts of their own; all others share
 * `(other)`, which no queue or topic can be called. So neither memory nor what a collector receives grows beyond that.
 *
 * A deleted queue or topic frees its place. When a server is reset, names disappear without an event; they keep their
 * counts until all places are taken.
 */

export const otherName = '(other)';
export const namesMax = 1_000;

export class BoundedSeries<Counts> {
  readonly #byName: Map<string, Counts> = new Map();
  readonly #newCounts: () => Counts;
  /** The name that was asked for last, which most often is the next one as well, and its counts. */
  #latestName: string | undefined;
  #latest: Counts | undefined;
  #other: Counts | undefined;

  constructor(newCounts: () => Counts) {
    this.#newCounts = newCounts;
  }

  /** The counts of this name, which takes a place if one is free, or the shared ones. */
  of(name: string): Counts {
    if (name === this.#latestName) return this.#latest as Counts;
    const counts = this.#find(name);
    this.#latestName = name;
    this.#latest = counts;
    return counts;
  }

  /** The name to show. This takes no place, since the queue or topic may just have been deleted. */
  shownName(name: string): string {
    return this.#byName.has(name) ? name : otherName;
  }

  remove(name: string): void {
    this.#latestName = undefined;
    this.#byName.delete(name);
  }

  /** The names that have a place. */
  names(): string[] {
    return [...this.#byName.keys()];
  }

  get isFull(): boolean {
    return this.#byName.size >= namesMax;
  }

  /** If every place is taken, frees those of names that are not in the given list. */
  makeRoom(names: readonly string[]): void {
    if (!this.isFull) return;
    this.#latestName = undefined;
    const left = new Set(names);
    for (const name of this.#byName.keys()) if (!left.has(name)) this.#byName.delete(name);
  }

  *entries(): Generator<[name: string, counts: Counts]> {
    yield* this.#byName;
    if (this.#other !== undefined) yield [otherName, this.#other];
  }

  #find(name: string): Counts {
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
}
