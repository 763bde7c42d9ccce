/**
 * Values by sequence, as in a Map, and in order: an array for each page of neighbors, as sequence-pages.ts keeps them. What is
 * not in the file yet is held like this, and memory mode's deliveries.
 */

import { filled, pageSize, type SequencePage, SequencePages, slotOf } from './sequence-pages.ts';

interface Page<V> extends SequencePage {
  readonly values: (V | undefined)[];
}

export class BySequence<V> {
  readonly #pages: SequencePages<Page<V>> = new SequencePages((number) => ({
    number,
    size: 0,
    values: filled<V | undefined>(pageSize, undefined),
  }));

  get(sequence: number): V | undefined {
    return this.#pages.find(sequence)?.values[slotOf(sequence)];
  }

  set(sequence: number, value: V): void {
    const page = this.#pages.findOrAdd(sequence);
    const slot = slotOf(sequence);
    if (page.values[slot] === undefined) page.size += 1;
    page.values[slot] = value;
  }

  delete(sequence: number): void {
    const page = this.#pages.find(sequence);
    const slot = slotOf(sequence);
    if (page === undefined || page.values[slot] === undefined) return;
    page.values[slot] = undefined;
    this.#pages.release(page, 1);
  }

  clear(): void {
    this.#pages.clear();
  }

  /** In order of the sequences. */
  [Symbol.iterator](): Generator<[number, V]> {
    return this.#pages.values(({ values }, slot) => values[slot]);
  }
}
