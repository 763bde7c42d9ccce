/**
 * The data of a queue or topic that is not in the file yet, by sequence, in two generations: the commit in progress and the
 * one that gathers. A generation is dropped as a whole when its commit is done, so nobody has to remember what was in it.
 */

import { BySequence } from '../../../core/structures/by-sequence.ts';

export class Uncommitted {
  #gathering: BySequence<unknown> = new BySequence();
  #written: BySequence<unknown> | undefined;

  get(id: number): unknown {
    return this.#gathering.get(id) ?? this.#written?.get(id);
  }

  set(id: number, value: unknown): void {
    this.#gathering.set(id, value);
  }

  delete(id: number): void {
    this.#gathering.delete(id);
    this.#written?.delete(id);
  }

  clear(): void {
    this.#gathering.clear();
    this.#written = undefined;
  }

  /** The commit that has gathered begins. */
  age(): void {
    this.#written = this.#gathering;
    this.#gathering = new BySequence();
  }

  /** The commit is done. */
  forget(): void {
    this.#written = undefined;
  }
}
