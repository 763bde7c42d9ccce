/**
 * An index of a topic's archive: the sequences and times of its publications, oldest first (13.1). Storage keeps the
 * publications themselves; a replay is told which to read.
 */

export class Archive {
  #sequences: number[] = [];
  #times: number[] = [];
  /** Entries before it were removed; they are cut off once they are half of all. */
  #head = 0;

  get size(): number {
    return this.#sequences.length - this.#head;
  }

  add(sequence: number, publishedAt: number): void {
    this.#sequences.push(sequence);
    this.#times.push(publishedAt);
  }

  oldestAt(): number | undefined {
    return this.#times[this.#head];
  }

  /** Removes the oldest and returns its sequence. The archive must not be empty. */
  removeOldest(): number {
    const sequence = this.#sequences[this.#head] as number;
    this.#head += 1;
    if (this.#head * 2 > this.#sequences.length) {
      this.#sequences = this.#sequences.slice(this.#head);
      this.#times = this.#times.slice(this.#head);
      this.#head = 0;
    }
    return sequence;
  }

  /** The first sequences after `after` whose times are from `from` up to `until`. */
  between(range: {
    readonly after: number;
    readonly from: number;
    readonly until: number | undefined;
    readonly limit: number;
  }): number[] {
    const { after, from, until = Number.POSITIVE_INFINITY, limit } = range;
    const start = this.#first((at) => {
      return (this.#sequences[at] as number) > after && (this.#times[at] as number) >= from;
    });
    const end = this.#first((at) => (this.#times[at] as number) > until);
    return this.#sequences.slice(start, Math.max(start, Math.min(end, start + limit)));
  }

  clear(): void {
    this.#sequences = [];
    this.#times = [];
    this.#head = 0;
  }

  /** The first index for which the test holds; it holds for all after it, since sequences and times only rise. */
  #first(test: (at: number) => boolean): number {
    let low = this.#head;
    let high = this.#sequences.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (test(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
