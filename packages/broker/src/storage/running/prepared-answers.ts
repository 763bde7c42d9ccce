/**
 * Answers that are encoded before they may leave. The answer is known as soon as its command is applied. Encoding it takes a
 * third of the time of a batch, so it is done while the disk is busy with the commit.
 */

/** One answer, until it leaves. */
interface Waiting {
  /** The outcome; once it is prepared, the answer. */
  value: unknown;
  readonly prepare: (outcome: never) => unknown;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

/** All answers that wait for one commit. */
export class PreparedAnswers {
  readonly #waiting: Waiting[] = [];
  /** How many of them are prepared. */
  #prepared = 0;
  #isPreparing = false;

  get size(): number {
    return this.#waiting.length;
  }

  add<O, A>(outcome: O, prepare: (outcome: O) => A): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ value: outcome, prepare, resolve, reject });
      if (this.#isPreparing) this.prepare();
    });
  }

  /** Prepares those that are there, and from now on each that is added. */
  prepare(): void {
    this.#isPreparing = true;
    while (this.#prepared < this.#waiting.length) {
      const waiting = this.#waiting[this.#prepared] as Waiting;
      this.#prepared += 1;
      try {
        waiting.value = waiting.prepare(waiting.value as never);
      } catch (error) {
        waiting.reject(error);
      }
    }
  }

  /** Lets them leave. */
  release(): void {
    this.prepare();
    for (const { value, resolve } of this.#waiting) resolve(value as never);
  }

  fail(error: Error): void {
    for (const { reject } of this.#waiting) reject(error);
  }
}

/** For an answer that may leave at once. */
export function preparedNow<O, A>(outcome: O, prepare: (outcome: O) => A): Promise<A> {
  // The constructor turns what `prepare` throws into a rejection.
  return new Promise((resolve) => resolve(prepare(outcome)));
}
