/**
 * Series by name, of queues or topics, within a bound: the first thousand names have counts of their own, all others
 * share those under `(other)`, which no queue or topic can be called. So neither memory nor what a collector gets grows
 * with the number of names.
 *
 * A name that is gone gives its place up. Names can also go unnoticed, when a server is reset; they keep their counts
 * until places are wanted.
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

  /** Of this name, which has a place from now on if there is one; or those that it shares. */
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

  /** Under which name it shows; looking does not give it a place, since it may just have gone. */
  shownName(name: string): string {
    return this.#byName.has(name) ? name : otherName;
  }

  remove(name: string): void {
    this.#byName.delete(name);
  }

  /** Those that have places. */
  names(): string[] {
    return [...this.#byName.keys()];
  }

  get isFull(): boolean {
    return this.#byName.size >= namesMax;
  }

  /** Once every place is taken: gives up those whose names are none of these any more. */
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
